/**
 * Lists what a verified message says under an event id that is known with another content. Nothing of it is carried
 * out before an operator retries it, so that refunds wait where it says that the payer has money back.
 */
import { limits } from '@tollgate/schemas'
import { addAttention, freezeWith, resolveAttention } from '../attention/store.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import type { Effect } from '../payment/operation-kinds.ts'
import { capturesOf, chainOf } from '../payment/store-dispute-read.ts'
import { paymentByAttempt, toPayment } from '../payment/store-read.ts'
import type { Payment } from '../payment/types.ts'
import { type About, internalAccount, placeOf } from './list.ts'
import { isSameMerchant } from './same-merchant.ts'
import type { StoredClaim } from './store.ts'
import { type Another, addOtherContent, countNotKept, withoutRoom } from './store-content.ts'

/** @param at The account at which the event id is known. */
export async function listContent(
  engine: Engine,
  another: Another,
  claim: StoredClaim,
  at: string,
): Promise<void> {
  const { connector, account, eventId, digest } = another
  const { eventContents: most } = limits
  const about = { connector, account, eventId, digest, key: claim.key }
  const [row] = await engine.lanes.single(paymentByAttempt(claim.key))
  const named = row === undefined ? undefined : toPayment(row)
  const payment =
    named !== undefined && (await isOfMerchant(engine, about, named)) ? named : undefined
  const freezes = payment === undefined ? nothing : await frozenBy(engine, payment, claim)
  const place = placeOf(about, payment?.id ?? null, named !== undefined && payment === undefined)
  const entries = entriesOf(place, payment, freezes, {
    ...place.detail,
    why: 'it came again and says something else',
    // An operator's retry applies to this content, and not to the first one.
    now: claim,
    digest,
  })
  const counting = [account, at, ...(payment === undefined ? [] : [accountOf(payment)])]
  const noted = await engine.lanes.together(addOtherContent(another, at, counting, most), entries)
  if (noted.length > 0) return
  const detail = {
    connector,
    account: at,
    event: eventId,
    why: 'it came again with further contents, which are not kept',
    do: 'ask the acquirer for its messages with this event id',
  }
  const further = `${eventId} further`
  const counted =
    payment === undefined || freezes.balances.length === 0
      ? [countNotKept(newId(), undefined, detail, `${connector} ${at} ${further}`)]
      : [
          countNotKept(newId(), payment, { ...detail, now: claim }, further),
          ...freezing(payment, freezes, detail, further),
        ]
  const lost = await engine.lanes.together(withoutRoom(another, at, counting, most), counted)
  if (lost.length > 0) {
    engine.log.warn({ connector, account, event: eventId }, 'a content of an event is not kept')
  }
}

/** Ends the entry of a content that was listed before, and counts now. */
export async function endOfContent(
  { lanes }: Engine,
  { eventId, digest }: Another,
  { key }: StoredClaim,
): Promise<readonly Sql[]> {
  const [payment] = await lanes.single(paymentByAttempt(key))
  if (payment === undefined) return []
  return [resolveAttention(payment.id, 'event', 'engine', `${eventId} says ${digest}`)]
}

/** Whether the claim may be about the payment: no merchant's messages are about payments of another. */
async function isOfMerchant(
  engine: Engine,
  { connector, account }: About,
  payment: Payment,
): Promise<boolean> {
  if (payment.connector !== connector) return false
  const own = accountOf(payment)
  return own === account || isSameMerchant(engine, connector, own, account)
}

const accountOf = ({ accountId }: Payment) => accountId ?? internalAccount

function entriesOf(
  { attemptKey, reference }: ReturnType<typeof placeOf>,
  payment: Payment | undefined,
  freezes: Freezes,
  detail: Readonly<Record<string, unknown>>,
): readonly Sql[] {
  if (payment === undefined || freezes.balances.length === 0) {
    const paymentId = payment?.id ?? null
    return [addAttention(newId(), 'event', paymentId, attemptKey, 0, detail, reference)]
  }
  return freezing(payment, freezes, detail, reference)
}

/** Balances, and the effects of payments that may follow them before they are frozen. */
type Freezes = { readonly balances: readonly string[]; readonly below: readonly Effect[] }
const nothing: Freezes = { balances: [], below: [] }

/** Each statement adds its balance to the same entry. */
const freezing = (
  { id, attemptKey }: Payment,
  { balances, below }: Freezes,
  detail: Readonly<Record<string, unknown>>,
  reference: string,
): readonly Sql[] =>
  balances.map((balance) =>
    freezeWith(newId(), 'event', id, attemptKey, 0, detail, reference, balance, below),
  )

/**
 * The balances whose money the payer has back if the claim is true: of a chargeback, also before the payment is decided,
 * and of a return of a payment that is done. A claim can name a capture by its authorisation. Captures come first, in
 * their order, and the authorisations last: a capture that settles locks its own balance before that of its authorisation.
 */
async function frozenBy(
  { lanes }: Engine,
  { rootId, chainId, state }: Payment,
  { outcome: { is } }: StoredClaim,
): Promise<Freezes> {
  if (is !== 'chargeback' && (is !== 'reversed' || state !== 'approved')) return nothing
  const captures = await lanes.single(capturesOf(rootId))
  // A return is about one authorisation: those that replaced it go on.
  const chain = is === 'chargeback' ? await lanes.single(chainOf(rootId)) : []
  const others = chain.flatMap(({ id, effect }) => (effect === 'increase' ? [] : [id]))
  const roots = [...new Set([...others, rootId])]
  const chained = chainId === null ? [] : [chainId]
  const before = new Set([...captures.map(({ id }) => id), ...chained])
  for (const root of roots) before.delete(root)
  const below = is === 'chargeback' ? (['capture', 'replacement'] as const) : (['capture'] as const)
  return { balances: [...[...before].toSorted(), ...roots], below }
}
