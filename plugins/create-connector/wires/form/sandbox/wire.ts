/** How the sandbox reads and writes. */

/** Requests have no end mark: only answers have one. */
export const received = (body: Buffer): Readonly<Record<string, string>> =>
  Object.fromEntries(new URLSearchParams(body.toString('utf8')))

export const contentType = 'application/x-www-form-urlencoded'

export function shown({ end: _, ...fields }: Readonly<Record<string, string | undefined>>): string {
  const body = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.set(name, value)
  body.set('end', 'ok')
  return body.toString()
}
