/** NUL and half a surrogate pair are text to JavaScript and an error to Postgres. */
const unstorable = /\\u(?:0000|d[89ab])/i

/** JSON text of what an acquirer said, in a form that Postgres can always store. */
export function storable(value: unknown): string {
  const text = JSON.stringify(value)
  if (!unstorable.test(text)) return text
  return JSON.stringify(cleaned(value))
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\u0000', '\ufffd')
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(JSON.parse(JSON.stringify(value)) as object)
  return Object.fromEntries(entries.map(([name, inner]) => [cleaned(name), cleaned(inner)]))
}
