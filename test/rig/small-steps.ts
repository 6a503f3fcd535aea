/** Small windows, pages and commits of settlement files, so that a few lines take many transactions. */
import { limits } from '@tollgate/schemas'

const sizes = [
  'settlementCopyLines',
  'settlementWindowLines',
  'settlementNamedPayments',
  'settlementAlikePayments',
  'settlementCommitRecords',
  'settlementDropRows',
] as const

/** Sets all sizes of this process. @returns a function that sets them back. */
export function takeSmallSteps(size: number): () => void {
  const usual = Object.fromEntries(sizes.map((name) => [name, limits[name]]))
  Object.assign(limits, Object.fromEntries(sizes.map((name) => [name, size])))
  return () => void Object.assign(limits, usual)
}
