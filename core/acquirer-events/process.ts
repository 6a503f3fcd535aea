/**
 * Applies an acquirer's event to its payment. Safe to run twice: settling and late words move a
 * payment once, and a fact's reference makes it unique.
 */
import { resolveAttention } from '../attention/store.ts'
import type { Engine } from '../engine.ts'
import { applyMessage } from '../payment/acquirer-message.ts'
import { checkedTold } from '../payment/checked-outcome.ts'
import { report } from '../payment/dispute.ts'
import { isOpen, type Told } from '../payment/late-word-table.ts'
import { resolve } from '../payment/resolve.ts'
import { paymentByAttempt, toPayment } from '../payment/store-read.ts'
import type { Payment, Resolved } from '../payment/types.ts'
import { keepClaim } from './keep.ts'
import { internalAccount } from './list.ts'
import { isSameMerchant } from './same-merchant.ts'
import { advanceTurn, closeEvent, type InboundRow, reopenUnclaimed } from './store.ts'
import { otherAccount, unknownKey } from './unclaimed.ts'

type Done =
  /** Another process works on the payment, or an earlier event is still missing. */
  | 'wait'
  | 'settled'
  | 'known'
  | 'enquired'
  | 'unknown-key'
  | 'other-account'
  /** The event is one of the payment's own account now. */
  | 'handed-over'
  | 'recorded'
  | 'conflict'

export async function processEvent(engine: Engine, row: InboundRow): Promise<void> {
  const [found] = await engine.lanes.single(paymentByAttempt(row.claim.key))
  const payment = found === undefined ? undefined : toPayment(found)
  const to = payment === undefined ? undefined : await receiverOf(engine, payment, row)
  const done =
    to === undefined ? await apply(engine, row, payment) : await handOver(engine, row, to)
  if (done === 'wait') return
  // The entry of a content that an operator retried holds follow-ups back until here.
  if (payment !== undefined && done !== 'handed-over' && row.event_id.includes(' '))
    await engine.lanes.single(resolveAttention(payment.id, 'event', 'engine', row.event_id))
  await engine.lanes.single(closeEvent(row, done))
}

async function apply(engine: Engine, row: InboundRow, payment: Payment | undefined): Promise<Done> {
  const { claim } = row
  if (payment === undefined) return unknownKey(engine, row)
  if (isOfAuthenticator(payment, row)) return askAuthenticator(engine, payment)
  if (!isOfAccount(payment, row) && !(await isOfMerchant(engine, payment, row)))
    return otherAccount(engine, row)
  const { is } = claim.outcome
  if (is === 'chargeback' || is === 'chargebackReversal') return dispute(engine, payment, row)
  const amount = { minor: BigInt(claim.minor), currency: claim.currency }
  return applyMessage(engine, claim.key, outcomeOf(claim), claim.verified, amount)
}

const accountOf = ({ accountId }: Payment) => accountId ?? internalAccount

const isOfAccount = (payment: Payment, row: InboundRow) =>
  payment.connector === row.connector && accountOf(payment) === row.account

const isOfMerchant = async (engine: Engine, payment: Payment, { connector, account }: InboundRow) =>
  payment.connector === connector && isSameMerchant(engine, connector, accountOf(payment), account)

/** The account that has to hear of a verified event instead of the one that it came for. */
async function receiverOf(
  engine: Engine,
  payment: Payment,
  row: InboundRow,
): Promise<string | undefined> {
  if (!row.claim.verified || isOfAccount(payment, row) || isOfAuthenticator(payment, row))
    return undefined
  return (await isOfMerchant(engine, payment, row)) ? accountOf(payment) : undefined
}

/** The acquirer may tell the payment's account the same, also much later: each event counts once, and in order. */
async function handOver(engine: Engine, row: InboundRow, account: string): Promise<'handed-over'> {
  const { connector, account: by, event_id: eventId, claim, received_at: receivedAt } = row
  const of = { connector, account, eventId }
  if (await keepClaim(engine, of, claim, { by, receivedAt })) return 'handed-over'
  const there = { ...row, account }
  await engine.lanes.single(advanceTurn(there))
  // Both accounts waited for the payment in vain, and an operator retries the event of one of them.
  await engine.lanes.single(reopenUnclaimed(there))
  return 'handed-over'
}

function isOfAuthenticator({ answer }: Payment, row: InboundRow): boolean {
  const by = answer.authentication
  return by?.by === row.connector && (by.accountId ?? internalAccount) === row.account
}

/** The event proves nothing: the authenticator is asked, unless the authentication is over. */
async function askAuthenticator(engine: Engine, { attemptKey, state }: Payment): Promise<Done> {
  if (!isOpen(state)) return 'known'
  const after = await resolve(engine, attemptKey, 'look', 'other')
  return after?.isBusy || after?.state === 'processing' ? 'wait' : 'enquired'
}

/** A chargeback about an undecided payment leads to an enquiry, whose answer decides. */
async function dispute(
  engine: Engine,
  given: Payment,
  { claim, event_id, age_ms }: InboundRow,
): Promise<Done> {
  let payment: Resolved = given
  if (isOpen(payment.state)) {
    payment = (await resolve(engine, payment.attemptKey, 'look', 'other')) ?? payment
    if (isOpen(payment.state)) return claim.verified || payment.isBusy ? 'wait' : 'enquired'
  }
  if (!claim.verified) return 'enquired'
  const { is, reason, refs } = claim.outcome
  const reported = await report(engine, {
    is: is === 'chargeback' ? 'chargeback' : 'reversal',
    payment,
    minor: BigInt(claim.minor),
    currency: claim.currency,
    reference: claim.reference,
    source: event_id,
    reason: typeof reason === 'string' ? reason : undefined,
    refs: (refs ?? {}) as Readonly<Record<string, string>>,
    ageMs: age_ms,
  })
  if (reported === 'listed') return 'conflict'
  return reported
}

/** The claim's outcome, with its amount, which may differ from the requested amount. */
function outcomeOf({ outcome, minor, currency }: InboundRow['claim']): Told {
  return checkedTold({
    ...outcome,
    ...(typeof outcome.expiresAt === 'string' ? { expiresAt: new Date(outcome.expiresAt) } : {}),
    amount: { minor: BigInt(minor), currency },
  })
}
