/**
 * Cancellations under the payment's own name, as the Customer Area makes them. Money that one gave back can come back
 * to the merchant later, and that failure names nothing but the cancellation. So a record keeps both by Adyen's
 * reference, in whatever order they come.
 */
import { type Claim, type Json, type Money, type Records, unknown } from '@tollgate/plugin-kit'
import { eventId, ofOtherAccount } from './claims.ts'
import type { Item } from './signature.ts'
import { amendUndo, type Undo } from './undo.ts'

type Event = Pick<Item, 'eventCode' | 'pspReference' | 'success'>

type Success = {
  readonly eventCode: string
  readonly key: string
  /** In minor units, or an amount that our currencies do not have. */
  readonly amount:
    | { readonly minor: string; readonly currency: string }
    | { readonly value: number }
  /** False where another payment of the name stood, unless the failure came first. */
  readonly isTold: boolean
  /** Another account made the payment, and alone knows whether another one of its name stands. */
  readonly isOther?: true
}

type Known = {
  readonly success?: Success
  /** The first one. Without a success, it may be that of a refund by hand, which the engine never heard of. */
  readonly failure?: Event
}

const nameOf = (psp: string): string => `cancelled-elsewhere:${psp}`

/** The webhook that told that the money of a cancellation, or of a try of ours, came back. */
export async function failureOf(records: Records, psp: string): Promise<Event | undefined> {
  const { failure } = ((await records.get(nameOf(psp))) ?? {}) as Known
  return failure
}

async function amend(
  records: Records,
  psp: string,
  change: (known: Known) => Known,
): Promise<Known> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const value = await records.get(nameOf(psp))
    const known = (value ?? {}) as Known
    const next = change(known)
    if (next === known || (await records.swap(nameOf(psp), value, next as unknown as Json)))
      return next
  }
  throw new Error('the record of a cancellation changes all the time')
}

const mostTries = 8

/**
 * Keeps a success, and claims what is known of it.
 *
 * @param isTold Whether the engine hears that the payment was taken back, because no payment of its name stands;
 * undefined for a payment of another account.
 */
export async function successElsewhere(
  records: Records,
  { eventCode, pspReference: psp }: Item,
  { key, amount }: { readonly key: string; readonly amount: Money },
  isTold: boolean | undefined,
): Promise<readonly Claim[]> {
  const known = await amend(records, psp, (before) => {
    // The engine lists an event that says something else than before.
    if (before.success !== undefined) return before
    const isHeard = isTold === true || before.failure !== undefined
    const success = { eventCode, key, amount: storedFrom(amount), isTold: isHeard }
    return { ...before, success: isTold === undefined ? { ...success, isOther: true } : success }
  })
  // The failure may have come since the record of the reversal was changed.
  if (known.failure !== undefined) await amendUndo(records, key, (undo) => afterReturn(undo, psp))
  return claimsOf(known, psp)
}

/**
 * The claims of a failure that names a cancellation; undefined for one that names none yet. Such a one is kept whatever
 * name it has, because its cancellation may still be told.
 */
export async function failureElsewhere(
  records: Records,
  { eventCode, pspReference, originalReference, success }: Item,
): Promise<readonly Claim[] | undefined> {
  if (eventCode !== 'REFUND_FAILED' && eventCode !== 'REFUNDED_REVERSED') return undefined
  const failure: Event = { eventCode, pspReference, success }
  for (const psp of [pspReference, originalReference]) {
    if (psp === '') continue
    const known = await amend(records, psp, (before) =>
      before.failure === undefined ? { ...before, failure } : before,
    )
    if (known.success === undefined) continue
    await amendUndo(records, known.success.key, (undo) => afterReturn(undo, psp))
    return claimsOf(known, psp)
  }
  return undefined
}

/**
 * A failure comes with the success before it, so that the engine never hears them the other way round. A success that
 * is not told is an event all the same, so that its repeat says nothing else. An account that did not make the payment
 * tells neither: its success would end a payment whose reversal is under way, although another one of its name may stand,
 * and its failure, perhaps late, would count a payment as standing that a later reversal took back. The account that made
 * the payment hears of both.
 */
function claimsOf({ success, failure }: Known, psp: string): readonly Claim[] {
  if (success === undefined) return []
  const { eventCode, key, isOther } = success
  const claim = { key, amount: moneyIn(success) }
  const id = eventId({ eventCode, pspReference: psp, success: true })
  const done: Claim = {
    ...claim,
    eventId: isOther ? ofOtherAccount(id) : id,
    outcome: outcomeOf(success, psp),
  }
  if (failure === undefined || isOther) return [done]
  const why = 'the money that Adyen gave back came back'
  return [done, { ...claim, eventId: eventId(failure), outcome: { is: 'notReversed', why } }]
}

function outcomeOf({ isTold, isOther }: Success, psp: string): Claim['outcome'] {
  if (isOther) return unknown('Adyen took a payment back, and another one of its name may stand')
  if (isTold) return { is: 'reversed', refs: { reversal: psp } }
  return unknown('Adyen took one payment of this name back, and another one stands')
}

/** The payments that the cancellation took back stand again. */
function afterReturn(undo: Undo, by: string): Undo {
  const { unnamed: _, unnamedBy, ...known } = undo
  const { payments = [] } = undo
  if (unnamedBy !== by && payments.every((one) => one.undoneBy !== by)) return undo
  return {
    ...known,
    // Not failed: a failed try that knew no payment would mean that there was none.
    state: undo.state === 'done' ? 'open' : undo.state,
    authorised: true,
    payments: payments.map((one) => (one.undoneBy === by ? { psp: one.psp } : one)),
  }
}

const storedFrom = (amount: Money): Success['amount'] =>
  amount.minor === undefined
    ? (amount as unknown as Success['amount'])
    : { minor: String(amount.minor), currency: amount.currency }

const moneyIn = ({ amount }: Success): Money =>
  'minor' in amount
    ? { minor: BigInt(amount.minor), currency: amount.currency }
    : (amount as unknown as Money)
