/**
 * A statement: its template and its values. Templates are pure data and can be pasted into psql as
 * they are; the engine puts its own schema name in the place of `tollgate.` once, when it prepares
 * the text.
 */
export type Sql<Row = unknown> = {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
  /** Only a type: what a row of the result looks like. */
  readonly row?: Row
}

function isSql(value: unknown): value is Sql {
  return typeof value === 'object' && value !== null && 'strings' in value && 'values' in value
}

const merged = new WeakMap<readonly string[], Map<string, readonly string[]>>()

/**
 * `sql<Row>\`select … where id = ${id}\``. A value that is itself a statement is inlined, so that
 * statements which share a part write it once.
 */
export function sql<Row = unknown>(strings: TemplateStringsArray, ...values: unknown[]): Sql<Row> {
  if (!values.some(isSql)) return { strings, values }
  const texts: string[] = []
  const flat: unknown[] = []
  let text = strings[0] ?? ''
  const parameter = (value: unknown, after: string) => {
    texts.push(text)
    flat.push(value)
    text = after
  }
  for (const [index, value] of values.entries()) {
    const after = strings[index + 1] ?? ''
    if (isSql(value)) {
      text += value.strings[0] ?? ''
      for (const [at, inner] of value.values.entries())
        parameter(inner, value.strings[at + 1] ?? '')
      text += after
    } else parameter(value, after)
  }
  texts.push(text)
  return { strings: canonical(strings, texts), values: flat }
}

/** The same text always comes back as the same array, so that its preparation is found by identity. */
function canonical(strings: TemplateStringsArray, texts: string[]): readonly string[] {
  const key = texts.join('\u0000')
  const known = merged.get(strings) ?? new Map<string, readonly string[]>()
  merged.set(strings, known)
  const found = known.get(key)
  if (found !== undefined) return found
  known.set(key, texts)
  return texts
}
