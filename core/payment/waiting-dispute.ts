/**
 * A chargeback that is not recorded yet says that the acquirer took the money, and has given it to the payer already.
 * A reversal or a refund would give it a second time. So an open payment waits for an operator, and a refund for the
 * record.
 */
import type { Refs } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { addAttention } from '../attention/store.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { isChargedBack } from './dispute-fact.ts'
import type { Effect } from './operation-kinds.ts'
import { type End, left, type Reason, sourceOf } from './requested-reversal.ts'
import { waitingChargeback } from './store-waiting-dispute.ts'
import type { Payment } from './types.ts'

const why = 'a chargeback of it was told, so it is not reversed'

/**
 * Whether a chargeback took this money, or was told. The one that waits is read first: a chargeback that is recorded
 * between the two reads is found by the second one.
 */
export async function mayBeChargedBack(engine: Engine, payment: Payment): Promise<boolean> {
  if ((await engine.lanes.single(waitingChargeback(payment.id))).length > 0) return true
  return isChargedBack(engine, payment)
}

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

/** Effects that give the payer money back, or let go of it. */
const givesBack: ReadonlySet<Effect> = new Set(['refund', 'release', 'void'])

/** Whether an operation would give money back beside a chargeback that waits for its record. */
export async function isBesideChargeback(
  { lanes }: Engine,
  effect: Effect,
  referencedId: string | null,
): Promise<boolean> {
  if (!givesBack.has(effect) || referencedId === null) return false
  return (await lanes.single(waitingChargeback(referencedId))).length > 0
}

/** @throws GatewayError 700.300.600 while a chargeback of the payment waits for its record. */
export async function refuseBesideChargeback(
  engine: Engine,
  { id }: Payment,
  effect: Effect,
): Promise<void> {
  if (!(await isBesideChargeback(engine, effect, id))) return
  const message = 'waits: a chargeback of this payment was reported, and is not recorded yet'
  throw new GatewayError('700.300.600', { parameterErrors: [{ name: 'paymentType', message }] })
}
