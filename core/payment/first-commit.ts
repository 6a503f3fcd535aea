/** What a first commit wrote, as far as it is needed to write it again. */
import type { Sql } from '../db/sql.ts'
import { type AcceptRow, acceptOf } from './store-first.ts'
import { type FollowUpRow, reserve } from './store-follow-up.ts'

export type Begun =
  | { readonly is: 'first'; readonly row: AcceptRow }
  | { readonly is: 'follow-up'; readonly row: FollowUpRow }

/**
 * Writes the rows that a failover lost. What the acquirer did counts, whatever was reserved since: a
 * follow-up's amount is taken beyond the limit where it must be.
 */
export const writeAgain = (begun: Begun): Sql<{ id: string }> =>
  begun.is === 'first' ? acceptOf(begun.row).one(begun.row) : reserve(begun.row, { isForced: true })
