import type { AuthenticationRecord, Facts } from './types.ts'

/** The values of an authentication that answers show; undefined before its end, and without one. */
export function shownFacts(record: AuthenticationRecord | undefined): Facts | undefined {
  if (record === undefined) return undefined
  const {
    by: _,
    accountId: _account,
    isDecoupled: _poll,
    memo: _memo,
    isOver: _over,
    ...facts
  } = record
  return Object.keys(facts).length === 0 ? undefined : facts
}
