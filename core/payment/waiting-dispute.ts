/**
 * A chargeback of an open payment says that the acquirer took its money, and has given it to the payer
 * already. A reversal would give it a second time, so the payment waits for an operator.
 */
import type { Refs } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { addAttention } from '../attention/store.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { type End, left, type Reason, sourceOf } from './requested-reversal.ts'
import { waitingChargeback } from './store-waiting-dispute.ts'
import type { Payment } from './types.ts'

const why = 'a chargeback of it was told, so it is not reversed'

/** @returns the end without a reversal; undefined where no chargeback waits. */
export async function heldByChargeback(
  { lanes }: Engine,
  { id, attemptKey }: Payment,
  refs: Refs,
  reason: Reason,
): Promise<End | undefined> {
  const [told] = await lanes.single(waitingChargeback(id))
  if (told === undefined) return undefined
  const detail = { why, do: 'find out at the acquirer where the money is, and settle the payment' }
  await lanes.single(
    addAttention(newId(), 'undecided', id, attemptKey, limits.unknownAlarmMs, detail, 'chargeback'),
  )
  if (reason === 'new-try') return left(refs, why)
  return { outcome: { is: 'unknown', refs, why }, source: sourceOf(reason) }
}
