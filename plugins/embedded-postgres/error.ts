/** The embedded database is unusable here. The message says why, and the correction. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
}

/** The code of an error of the system or of PostgreSQL (`EACCES`, `57P03`, …), null for anything else. */
export function systemCode(thrown: unknown): string | null {
  if (!(thrown instanceof Error) || !('code' in thrown)) return null
  return typeof thrown.code === 'string' ? thrown.code : null
}

/** A thrown value as one line. */
export function reasonOf(thrown: unknown): string {
  return (thrown instanceof Error ? thrown.message : String(thrown)).replaceAll(/\s+/g, ' ').trim()
}
