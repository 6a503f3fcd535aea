/** Writes the rows of a first commit again. `write-first.ts` and `reserve-follow-up.ts` write them the first time. */
import type { Sql } from '../db/sql.ts'
import { writeAgainOf } from './accept-statement.ts'
import type { AcceptRow } from './store-first.ts'
import { type FollowUpRow, reserve } from './store-follow-up.ts'

export type Begun =
  | { readonly is: 'first'; readonly row: AcceptRow }
  | { readonly is: 'follow-up'; readonly row: FollowUpRow }

/**
 * Writes rows again after a failover lost them. The acquirer's operation counts regardless of later
 * reservations, so a follow-up's amount may exceed the limit.
 */
export const writeAgain = (begun: Begun): Sql<{ id: string }> =>
  begun.is === 'first'
    ? writeAgainOf(begun.row).one(begun.row)
    : reserve(begun.row, { isForced: true })
