/** How the sandbox reads and writes. */
export { read as received } from '../src/wire.ts'

export const contentType = 'application/json'

export const shown = (fields: Readonly<Record<string, string | undefined>>): string =>
  JSON.stringify(fields)
