/** The special rules for payments of checkouts. */
import type { Outcome } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { type Idempotency, unstored } from './idempotency.ts'
import { holderOfSlot, mayPayCheckout, type SlotColumns } from './store-in-checkout.ts'
import type { Payment } from './types.ts'

/** The try of a shopper to pay a checkout. */
export type InCheckout = {
  readonly checkoutId: string
  /** As they were read: the payment is written only while they still hold. */
  readonly version: number
  readonly previousId: string | null
  /** New for every press of the pay button. */
  readonly nonce: string
  /** The second payment of a press, after a soft decline of the first one. */
  readonly isSecond: boolean
  /**
   * Ends the try that has the slot, right before the commit: a refused entry ends nothing. An acquirer may take long
   * over it, so the result is the business time afterwards.
   */
  readonly makeRoom?: () => Promise<Date>
  /** Failed tries after which the checkout is closed. */
  readonly tries: number
  /** Business time of the checkout. */
  readonly now: Date
  /** When the page that the shopper goes on to is called unless the merchant has read the result; null: never. */
  readonly callbackAt: Date | null
}

/** The checkout changed since it was read, or another payment has its slot. Nothing was written. */
export class SlotTaken extends Error {
  override readonly name = 'SlotTaken'
}

/**
 * The acquirer's key of a try derives from its checkout and nonce. After a failover that lost the
 * rows, the acquirer recognises a repeat of the same press.
 */
export const idempotencyOfTry = ({ checkoutId, nonce, isSecond }: InCheckout): Idempotency =>
  unstored(checkoutId, isSecond ? `${nonce} again` : nonce)

export function slotColumns(inCheckout: InCheckout | undefined): SlotColumns | object {
  if (inCheckout === undefined) return {}
  const { version, previousId, nonce, tries, now, callbackAt } = inCheckout
  return {
    slot_version: version,
    slot_previous: previousId,
    slot_nonce: nonce,
    slot_tries: tries,
    slot_at: now,
    callback_id: callbackAt === null ? null : newId(),
    callback_at: callbackAt,
  } satisfies SlotColumns
}

/**
 * Whether money moved for a payment whose checkout belongs to another one by now: a failover lost
 * both its rows and its slot, and the shopper paid again.
 */
export async function hasLostItsSlot(
  { lanes }: Pick<Engine, 'lanes'>,
  { id, checkoutId }: Pick<Payment, 'id' | 'checkoutId'>,
  outcome: Outcome,
): Promise<boolean> {
  if (checkoutId === null || (outcome.is !== 'approved' && outcome.is !== 'accepted')) return false
  const [row] = await lanes.single(holderOfSlot(checkoutId))
  return row !== undefined && row.payment_id !== null && row.payment_id !== id
}

/** Whether the checkout has another payment than when it was read. */
export async function hasOtherHolder(
  { lanes }: Pick<Engine, 'lanes'>,
  { checkoutId, previousId }: InCheckout,
): Promise<boolean> {
  const [row] = await lanes.single(holderOfSlot(checkoutId))
  return row !== undefined && row.payment_id !== previousId
}

/** Whether the checkout of the payment, where it has one, still waits for its money. */
export async function mayPay(
  { lanes }: Pick<Engine, 'lanes'>,
  { id, checkoutId }: Pick<Payment, 'id' | 'checkoutId'>,
): Promise<boolean> {
  if (checkoutId === null) return true
  const [row] = await lanes.single(mayPayCheckout(checkoutId, id))
  return row?.may === true
}
