/**
 * Applies an acquirer's event to its payment. Safe to run twice: settling and late words move a
 * payment once, and a fact's reference makes it unique.
 */
import type { Engine } from '../engine.ts'
import { applyMessage } from '../payment/acquirer-message.ts'
import { checkedTold } from '../payment/checked-outcome.ts'
import { report } from '../payment/dispute.ts'
import { isOpen, type Told } from '../payment/late-word-table.ts'
import { resolve } from '../payment/resolve.ts'
import { paymentByAttempt, toPayment } from '../payment/store-read.ts'
import type { Payment } from '../payment/types.ts'
import { internalAccount } from './list.ts'
import { isSameMerchant } from './same-merchant.ts'
import { closeEvent, type InboundRow } from './store.ts'
import { otherAccount, unknownKey } from './unclaimed.ts'

type Done =
  /** Another process works on the payment, or an earlier event is still missing. */
  | 'wait'
  | 'settled'
  | 'known'
  | 'enquired'
  | 'unknown-key'
  | 'other-account'
  | 'recorded'
  | 'conflict'

export async function processEvent(engine: Engine, row: InboundRow): Promise<Done> {
  const done = await apply(engine, row)
  if (done !== 'wait') await engine.lanes.single(closeEvent(row, done))
  return done
}

async function apply(engine: Engine, row: InboundRow): Promise<Done> {
  const { claim } = row
  const [found] = await engine.lanes.single(paymentByAttempt(claim.key))
  if (found === undefined) return unknownKey(engine, row)
  const payment = toPayment(found)
  const account = payment.accountId ?? internalAccount
  if (isOfAuthenticator(payment, row)) return askAuthenticator(engine, payment)
  const { connector } = row
  if (payment.connector !== connector) return otherAccount(engine, row)
  if (account !== row.account && !(await isSameMerchant(engine, connector, account, row.account)))
    return otherAccount(engine, row)
  const { is } = claim.outcome
  if (is === 'chargeback' || is === 'chargebackReversal') return dispute(engine, payment, row)
  const amount = { minor: BigInt(claim.minor), currency: claim.currency }
  return applyMessage(engine, claim.key, outcomeOf(claim), claim.verified, amount)
}

function isOfAuthenticator({ answer }: Payment, row: InboundRow): boolean {
  const by = answer.authentication
  return by?.by === row.connector && (by.accountId ?? internalAccount) === row.account
}

/** The event proves nothing: the authenticator is asked, unless the authentication is over. */
async function askAuthenticator(engine: Engine, { attemptKey, state }: Payment): Promise<Done> {
  if (!isOpen(state)) return 'known'
  const after = await resolve(engine, attemptKey, 'look', 'other')
  return after?.state === 'processing' ? 'wait' : 'enquired'
}

/** A chargeback about an undecided payment leads to an enquiry, whose answer decides. */
async function dispute(
  engine: Engine,
  given: Payment,
  { claim, event_id, age_ms }: InboundRow,
): Promise<Done> {
  let payment = given
  if (isOpen(payment.state)) {
    payment = (await resolve(engine, payment.attemptKey, 'look', 'other')) ?? payment
    if (isOpen(payment.state)) return claim.verified ? 'wait' : 'enquired'
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
