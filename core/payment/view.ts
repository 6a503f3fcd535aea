/** The body of a response about a payment, for the hosted surface and for embedders. */

import type { RequestFields, Sensitive } from '@tollgate/plugin-kit'
import { isResultCode, resultDescription } from '@tollgate/schemas'
import type { Answered, Draft, ResultView, ViewOf } from '../call.ts'
import { wireTimestamp } from '../clock.ts'
import type { GatewayError } from '../errors.ts'
import { shortId } from '../ids.ts'
import { exactDecimal, fitsWire, shownAmount } from '../money.ts'
import { shownFacts } from '../three-d-secure/record.ts'
import { shownTexts } from './checked-texts.ts'
import { descriptorOf } from './descriptor.ts'
import { nextActions } from './next-actions.ts'
import { echoed } from './stored-request.ts'
import type { Balance, Payment } from './types.ts'

export type PaymentView = ViewOf<'payments.get', 'shortId' | 'paymentType' | 'amount' | 'currency'>

/**
 * @param ndc the gateway's number of this request. `balance`: of an approved payment, for
 * nextActions.
 */
export function paymentView(
  payment: Payment,
  balance: Balance | undefined,
  ndc: string,
  buildNumber: string,
): PaymentView {
  const { answer } = payment
  const { minor, currency } = payment.amount
  const isMoney = payment.effect !== 'verification'
  const { brandResult, ...request } = payment.request
  const view: Draft = {
    ...echoed(request),
    id: payment.id,
    shortId: shortId(payment.shortNo),
    paymentType: payment.paymentType,
    amount: isMoney ? shownAmount(payment.approvedMinor ?? minor, currency) : '',
    currency,
    result: resultOf(payment),
    buildNumber,
    timestamp: wireTimestamp(payment.createdAt),
    ndc,
  }
  if (payment.brand !== null) view.paymentBrand = payment.brand
  if (typeof brandResult === 'string') view.brandResult = brandResult
  if (payment.referencedId !== null) view.referencedId = payment.referencedId
  if (payment.merchantTransactionId !== null) {
    view.merchantTransactionId = payment.merchantTransactionId
  }
  view.descriptor = descriptorOf(payment.request as RequestFields) ?? shortId(payment.shortNo)
  // A failed payment stores no account, so its registration does not exist.
  if (!isMoney) {
    for (const name of moneyFields) delete view[name]
  } else if (payment.registrationId !== null && !(isOver(payment) && isMaking(payment))) {
    view.registrationId = payment.registrationId
    view.registration = { id: payment.registrationId }
  }
  const details = { ...shownTexts(answer.details), ...exactAmount(payment) }
  if (Object.keys(details).length > 0) {
    // Deployed clients with typed responses read both fields in every response.
    view.resultDetails = { ExtendedDescription: view.result.description, ...details }
  }
  const card = shownTexts(answer.card)
  if (card !== undefined) view.card = { ...(view.card as object), ...nested(card) }
  const authenticated = shownFacts(answer.authentication)
  if (authenticated !== undefined) {
    view.threeDSecure = { ...(view.threeDSecure as object), ...authenticated }
  }
  if (answer.redirect !== undefined && payment.state === 'pending') view.redirect = answer.redirect
  if (answer.retrySafe === true) view.retrySafe = true
  if (answer.networkTxId !== undefined && payment.state === 'approved') {
    const sent = view.standingInstruction as { mode?: string } | undefined
    if (sent !== undefined && sent.mode !== 'REPEATED') {
      view.standingInstruction = { ...sent, initialTransactionId: answer.networkTxId }
    }
  }
  // A chargeback has the balance of its payment, whose settlement is not that of the chargeback.
  const isItsOwn = payment.rootId === payment.id && !payment.effect.startsWith('chargeback')
  if (balance?.settlement != null && isItsOwn) {
    const { minor: settled, on } = balance.settlement
    view.settlement = { date: on, amount: shownAmount(settled, currency) }
  }
  if (payment.scheduleId !== null) {
    view.source = 'SCHEDULER'
    view.scheduleId = payment.scheduleId
  }
  const next = nextActions(payment, balance)
  if (next.length > 0) view.nextActions = next
  return view as PaymentView
}

/**
 * A chargeback may have a third decimal, which the amount field cannot show, so the exact amount is
 * added.
 */
function exactAmount({ effect, amount }: Payment): Record<string, string> {
  if (!effect.startsWith('chargeback') || fitsWire(amount.minor, amount.currency)) return {}
  return { ExactAmount: exactDecimal(amount.minor, amount.currency) }
}

/** An authentication by itself, with its proof: the only answer that ever holds one. */
export function authenticationView(
  { payment, verificationId }: { readonly payment: Payment; readonly verificationId?: Sensitive },
  ndc: string,
  buildNumber: string,
): PaymentView {
  const view = paymentView(payment, undefined, ndc, buildNumber)
  if (verificationId === undefined) return view
  const proof = { verificationId: verificationId.reveal() }
  return { ...view, threeDSecure: { ...view.threeDSecure, ...proof } }
}

/** Fields that a record without money does not have. */
const moneyFields = ['amount', 'currency', 'descriptor']

const isMaking = (payment: Payment) => payment.request.createRegistration === 'true'
const isOver = (payment: Payment) => payment.state === 'declined' || payment.state === 'expired'

function resultOf(payment: Payment): ResultView {
  const result: ResultView = {
    code: payment.resultCode,
    // An old record keeps its code, and codes of acquirers were stored as well.
    description: isResultCode(payment.resultCode) ? resultDescription(payment.resultCode) : '',
  }
  if (payment.answer.avs !== undefined) result.avsResponse = payment.answer.avs
  if (payment.answer.cvv !== undefined) result.cvvResponse = payment.answer.cvv
  return result
}

/** `issuer.bank` -> `{ issuer: { bank } }`, as the field tables name them. */
function nested(flat: Readonly<Record<string, string>>): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(flat)) {
    const [group, rest] = name.split('.', 2) as [string, string | undefined]
    if (rest === undefined) result[group] = value
    else result[group] = { ...objectOf(result[group]), [rest]: value }
  }
  return result
}

const objectOf = (value: unknown): object =>
  typeof value === 'object' && value !== null ? value : {}

/** The body of a refusal: nothing was stored, and the id belongs to the request. */
export function refusalView(
  error: GatewayError,
  requestId: string,
  ndc: string,
  buildNumber: string,
  now: Date,
): Answered {
  const result: ResultView = { code: error.code, description: error.message }
  if (error.parameterErrors.length > 0) result.parameterErrors = error.parameterErrors
  return {
    ...{ id: requestId, result, buildNumber, timestamp: wireTimestamp(now), ndc },
    ...(error.retrySafe && { retrySafe: true }),
  }
}

/** HTTP status of a response about a new payment: 400 for a decline. */
export function statusOf(payment: Payment): 200 | 400 {
  return payment.state === 'declined' || payment.state === 'expired' ? 400 : 200
}
