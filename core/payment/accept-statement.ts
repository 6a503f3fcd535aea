/** Chooses the statement of a first commit by its row. */
import type { Columns, GroupStatement } from '../db/group-statement.ts'
import { type AcceptRow, accept, acceptRegistering, acceptScheduled } from './store-first.ts'
import {
  acceptInCheckout,
  acceptInCheckoutRegistering,
  recoverInCheckout,
  recoverInCheckoutRegistering,
} from './store-in-checkout.ts'
import { recoverScheduled } from './store-recover-scheduled.ts'

type Statement = GroupStatement<Columns, { id: string }>

export function acceptOf(row: AcceptRow): Statement {
  const isRegistering = 'registration_request' in row
  const statement =
    'slot_version' in row
      ? isRegistering
        ? acceptInCheckoutRegistering
        : acceptInCheckout
      : isRegistering
        ? acceptRegistering
        : 'occurrence_id' in row
          ? acceptScheduled
          : accept
  return statement as unknown as Statement
}

/** For a row that a failover lost: its payment may have moved money, with or without a slot. */
export function writeAgainOf(row: AcceptRow): Statement {
  if ('occurrence_id' in row) return recoverScheduled as unknown as Statement
  if (!('slot_version' in row)) return acceptOf(row)
  const statement = 'registration_request' in row ? recoverInCheckoutRegistering : recoverInCheckout
  return statement as unknown as Statement
}
