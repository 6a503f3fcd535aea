/** The code of a system error (`EACCES`, `ENOENT`, …), null for anything else. */
export function systemCode(thrown: unknown): string | null {
  if (!(thrown instanceof Error) || !('code' in thrown)) return null
  return typeof thrown.code === 'string' ? thrown.code : null
}

/** A thrown value as one line. */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) {
    return reasonOf(thrown.errors[0])
  }
  return (thrown instanceof Error ? thrown.message : String(thrown)).replaceAll(/\s+/g, ' ').trim()
}
