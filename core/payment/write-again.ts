/** Writes the rows of a first commit again. `write-first.ts` and `reserve-follow-up.ts` write them the first time. */
import { sqlState, violated } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { replayConstraint } from '../wallet/store.ts'
import { writeAgainOf } from './accept-statement.ts'
import { noReplay } from './first-rows.ts'
import type { AcceptRow } from './store-first.ts'
import { type FollowUpRow, reserve } from './store-follow-up.ts'

export type Begun =
  | { readonly is: 'first'; readonly row: AcceptRow }
  | { readonly is: 'follow-up'; readonly row: FollowUpRow }

/**
 * Writes rows again after a failover lost them. The acquirer's operation counts regardless of later
 * reservations, so a follow-up's amount may exceed the limit. A token that was sent again by then stays that of its
 * second payment.
 *
 * @returns false when rows of another payment are in the way.
 */
export async function writeAgain(engine: Pick<Engine, 'lanes'>, begun: Begun): Promise<boolean> {
  try {
    return (await engine.lanes.single(rowsOf(begun))).length > 0
  } catch (error) {
    if (sqlState(error) !== '23505') throw error
    if (begun.is !== 'first' || violated(error) !== replayConstraint) return false
    return writeAgain(engine, { is: 'first', row: { ...begun.row, ...noReplay } })
  }
}

const rowsOf = (begun: Begun): Sql<{ id: string }> =>
  begun.is === 'first'
    ? writeAgainOf(begun.row).one(begun.row)
    : reserve(begun.row, { isForced: true })
