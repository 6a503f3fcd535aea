import type { Reason } from '@tollgate/schemas'

/** `resultAdvice`: whether a decline with this reason may pass later. */
export { isChargeback, isResultCode, type Reason, resultAdvice } from '@tollgate/schemas'

/**
 * Makes a function from a table of the acquirer's codes, for declines:
 *
 * ```ts
 * const reasonFor = reasonTable({ '05': '800.100.152', '51': '800.100.155' })
 * declined(reasonFor(code), { code })
 * ```
 *
 * @param otherwise the reason of every other code: "declined without a stated reason" by default. Decide first
 * whether the acquirer declined at all. An unlisted code alone says nothing.
 */
export function reasonTable(
  table: Readonly<Record<string, Reason>>,
  otherwise: Reason = '800.100.100',
): (code: string) => Reason {
  const known = new Map(Object.entries(table))
  return (code) => known.get(code) ?? otherwise
}
