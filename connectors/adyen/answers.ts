/**
 * Answers of Adyen as outcomes. Every answer that is not read completely becomes `unknown`, because money may have
 * moved; only Adyen's own statement gives another outcome.
 */
import {
  accepted,
  approved,
  declined,
  type HttpAnswer,
  type Json,
  type Operation,
  type Outcome,
  pending,
  type Redirect,
  resultAdvice,
  unknown,
} from '@tollgate/plugin-kit'
import { isSame, moneyOf } from './money.ts'
import { avsOf, cvcOf, errorReasonFor, inProgress, refusalReasonFor } from './reasons.ts'
import { isNameOf } from './references.ts'

type Fields = Readonly<Record<string, unknown>>

/** The answer to POST /payments. */
export function readPayment(answer: HttpAnswer, operation: Operation): Outcome {
  const json = jsonOf(answer)
  const refused = readError(answer, json)
  if (refused !== undefined) return declinedBy(refused)
  if (answer.status !== 200) return unknown(`Adyen answered with HTTP ${answer.status}`)
  // Answers on a shared connection can be mixed up. A redirect names the payment among its additional data.
  const { merchantReference = Object(json.additionalData).merchantReference } = json
  const isOurs = merchantReference === operation.key
  if (!isOurs && !isRedirectWithoutName(json, merchantReference)) {
    return unknown('the answer is about another payment')
  }
  return outcomeOf(json, operation)
}

/** A redirect moves no money, and its page belongs to whoever has its address: it may lack our reference. */
const isRedirectWithoutName = ({ resultCode }: Fields, reference: unknown): boolean =>
  resultCode === 'RedirectShopper' && reference === undefined

/**
 * The answer to POST /payments/details. The browser brought what was sent, so an answer about another payment, and a
 * refusal of what was sent, say nothing about this one: the shopper can still come back.
 */
export function readDetails(
  answer: HttpAnswer,
  operation: Operation,
  memo: Json | undefined,
): Outcome {
  const json = jsonOf(answer)
  const away = awayFrom(memo)
  if (readError(answer, json) !== undefined) return away
  if (answer.status !== 200) return unknown(`Adyen answered with HTTP ${answer.status}`)
  const { merchantReference, pspReference } = json
  const { payment } = Object(memo) as { readonly payment?: unknown }
  const isOurs =
    merchantReference === operation.key ||
    (merchantReference === undefined && payment !== undefined && pspReference === payment)
  return isOurs ? outcomeOf(json, operation) : away
}

/** The payment stays on the page that it was sent to. */
export function awayFrom(memo: Json | undefined): Outcome {
  const { redirect } = Object(memo) as { readonly redirect?: Redirect['redirect'] }
  if (redirect === undefined) return pending('event')
  return pending({ redirect }, { memo: memo as Json })
}

function outcomeOf(json: Fields, operation: Operation): Outcome {
  const { resultCode } = json
  const reference = referenceIn(json)
  switch (resultCode) {
    case 'Authorised':
    case 'PartiallyAuthorised':
      if (reference === undefined) return unknown('authorised without a reference of Adyen')
      return authorised(json, operation, reference)
    case 'Refused':
    case 'Cancelled':
      return refused(json, reference)
    case 'RedirectShopper':
      return redirect(json)
    case 'Pending':
    case 'Received':
      return pending('event')
    case 'IdentifyShopper':
    case 'ChallengeShopper':
      // It cannot go on without a script of Adyen in the shop, so it never becomes a payment.
      return declined('100.390.112', {
        code: resultCode,
        text: 'native 3-D Secure is not supported',
      })
    default:
      // "Error" is among them: the payment may have been carried out before something failed.
      return unknown('the result code does not say what happened')
  }
}

function authorised(json: Fields, { kind, amount }: Operation, payment: string): Outcome {
  const refs = { payment }
  const { additionalData } = json
  const { networkTxReference, authCode } = Object(additionalData) as Fields
  const shown = {
    ...checksIn(json),
    ...(isText(networkTxReference) ? { networkTxId: networkTxReference } : {}),
    ...(isText(authCode) ? { details: { AuthCode: authCode } } : {}),
  }
  if (kind === 'verify') return approved(refs, shown)
  const said = moneyOf(json.amount)
  if (said === undefined && (json.amount !== undefined || json.resultCode !== 'Authorised')) {
    return unknown('authorised for an amount that cannot be read')
  }
  // Another amount than requested is reported, never corrected: the engine decides about it.
  const isOther = said !== undefined && !isSame(said, amount)
  return approved(refs, { ...shown, ...(isOther ? { amount: said } : {}) })
}

function refused(json: Fields, payment: string | undefined): Outcome {
  const { refusalReason, refusalReasonCode, resultCode } = json
  const isCancelled = resultCode === 'Cancelled' && refusalReasonCode === undefined
  const code = isText(refusalReasonCode) ? refusalReasonCode : ''
  const reason = isCancelled ? '100.396.101' : refusalReasonFor(code)
  const advice = resultAdvice(reason)
  return declined(reason, {
    ...checksIn(json),
    ...(payment === undefined ? {} : { refs: { payment } }),
    ...(code === '' ? {} : { code }),
    ...(isText(refusalReason) ? { text: refusalReason } : {}),
    ...(advice === undefined ? {} : { advice }),
  })
}

function redirect(json: Fields): Outcome {
  const { type, url, method, data } = Object(json.action) as Fields
  if (type !== 'redirect' || typeof url !== 'string') {
    return unknown('the shopper is needed, without an address')
  }
  const page: Redirect['redirect'] = {
    url,
    method: method === 'POST' ? 'POST' : 'GET',
    ...(method === 'POST' ? { parameters: parametersOf(data) } : {}),
  }
  const payment = referenceIn(json)
  // No reference of Adyen in `refs`: such a payment is not authorised.
  const memo = { redirect: page as unknown as Json, ...(payment === undefined ? {} : { payment }) }
  return pending({ redirect: page }, { memo })
}

const parametersOf = (data: unknown) =>
  Object.entries(Object(data) as Fields).map(([name, value]) => ({ name, value: String(value) }))

/** The answer to what was done to a payment: Adyen only took it, and tells the end by a webhook. */
export function readModification(answer: HttpAnswer, operation: Operation): Outcome {
  const json = jsonOf(answer)
  const refused = readError(answer, json)
  if (refused?.isOfAccess === true) {
    // Gateways check the login before the key: an earlier request of this key may have been carried out.
    return unknown(`Adyen refused the account: HTTP ${refused.status}, error ${refused.code}`)
  }
  if (refused !== undefined) return declinedBy(refused)
  const payment = operation.original?.refs.payment ?? ''
  const modification = takenAs(answer, json, { paymentPspReference: payment })
  if (modification === undefined) return unknown(`Adyen answered with HTTP ${answer.status}`)
  if (json.reference !== undefined && !isNameOf(operation, json.reference)) {
    return unknown('the answer is about another operation')
  }
  const refs = { payment, modification }
  const said = moneyOf(json.amount)
  const namesSum = operation.kind === 'increment'
  if (!namesSum && said !== undefined && !isSame(said, operation.amount)) {
    return unknown(`Adyen took a ${operation.kind} of another amount`, { refs })
  }
  // Issuers refuse increases often: nothing may be captured of one that is only asked for.
  if (operation.kind === 'increment') return pending('event', { refs })
  return accepted(refs, 'event')
}

/** Adyen's reference of what it took; undefined unless every field agrees with its documentation. */
export function takenAs(
  { status }: HttpAnswer,
  json: Fields,
  of: Readonly<Record<string, string>>,
): string | undefined {
  const isTaken = status === 201 && json.status === 'received'
  const isOurs = Object.entries(of).every(([name, value]) => json[name] === value)
  return isTaken && isOurs ? referenceIn(json) : undefined
}

/** Adyen's own refusal of a request. Nothing was done. */
export type Refusal = {
  readonly status: number
  readonly code: string
  readonly message?: string
  /** Of the login or the set-up, whatever was asked for. */
  readonly isOfAccess: boolean
}

const refusing = new Set<unknown>(['validation', 'security', 'configuration'])

/**
 * A refusal before anything was done: 400, 401, 403 or 422 with Adyen's own error body. A proxy can send every status,
 * and a 5xx says nothing, also with an error body: the payment may have been carried out before the failure.
 */
export function readError({ status }: HttpAnswer, json: Fields): Refusal | undefined {
  const { errorCode: code, errorType, message, status: said } = json
  if (![400, 401, 403, 422].includes(status) || said !== status) return undefined
  if (!isText(code) || !refusing.has(errorType) || code === inProgress) return undefined
  const isOfAccess = status === 401 || status === 403 || errorType !== 'validation'
  return { status, code, isOfAccess, ...(isText(message) ? { message } : {}) }
}

function declinedBy({ code, message }: Refusal): Outcome {
  return declined(errorReasonFor(code), {
    code,
    ...(message === undefined ? {} : { text: message }),
  })
}

/** @throws Error where the answer says nothing about the account. */
export function readCheck(answer: HttpAnswer): { ok: true } | { ok: false; why: string } {
  const json = jsonOf(answer)
  if (answer.status === 200 && Array.isArray(json.paymentMethods)) return { ok: true }
  const refused = readError(answer, json)
  if (refused === undefined) throw new Error(`Adyen answered with HTTP ${answer.status}`)
  const { status, code } = refused
  return {
    ok: false,
    why: `Adyen refused apiKey or merchantAccount: HTTP ${status}, error ${code}`,
  }
}

export function jsonOf(answer: HttpAnswer): Fields {
  try {
    return Object(answer.json()) as Fields
  } catch {
    return {}
  }
}

function checksIn({ additionalData }: Fields): { avs?: string; cvv?: string } {
  const { avsResult, cvcResult } = Object(additionalData) as Fields
  const avs = avsOf(avsResult)
  const cvv = cvcOf(cvcResult)
  return { ...(avs === undefined ? {} : { avs }), ...(cvv === undefined ? {} : { cvv }) }
}

const referenceIn = ({ pspReference }: Fields): string | undefined =>
  isText(pspReference) ? pspReference : undefined

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
