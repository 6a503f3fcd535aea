/**
 * Answers of the bank as outcomes. Every answer that is not read completely becomes `unknown`,
 * because money may have moved; only the bank's own statement gives another outcome.
 */
import {
  accepted,
  approved,
  declined,
  type Found,
  type HttpAnswer,
  type Money,
  type Operation,
  type Outcome,
  pending,
  type ReversalEnd,
  type ReversalRequested,
  type Reversed,
  resultAdvice,
  unknown,
} from '@tollgate/plugin-kit'
import { approvalCode, malfunctionCode, reasonFor } from './reasons.ts'

/** Poll interval for a payment under review by the bank's fraud desk. */
const pollMs = 30_000

/** A payment as the bank describes it in answers, look-ups and events. */
export type BankPayment = {
  readonly id: string
  readonly reference: string
  readonly status: 'approved' | 'submitted' | 'declined' | 'review' | 'confirm'
  readonly code: string
  readonly text?: string
  readonly amount: { readonly value: string; readonly currency: string }
  readonly networkReference?: string
  readonly confirmUrl?: string
  /** Of a reversal by reference that the bank carries out later. */
  readonly reversal?: 'queued' | 'done' | 'failed'
}

/** A dispute of a payer, as the bank describes it in events. */
export type BankDispute = Pick<BankPayment, 'amount'> & {
  readonly id: string
  /** Key of the disputed payment. */
  readonly reference: string
  readonly reason: string
  readonly state: 'opened' | 'won'
}

const statuses: readonly string[] = ['approved', 'submitted', 'declined', 'review', 'confirm']

export function readOutcome(answer: HttpAnswer, operation: Operation): Outcome {
  const json = jsonOf(answer)
  const refused = refusalOf(answer, json)
  if (refused !== undefined) {
    const { code, text } = refused
    return declined(reasonFor(code), { code, ...(text === undefined ? {} : { text }) })
  }
  if (answer.status !== 200) return unknown(`the bank answered with HTTP ${answer.status}`)
  const payment = readPayment(json)
  if (payment === undefined) return unknown('the answer of the bank is unreadable')
  // Answers on a shared connection can be mixed up. An answer about another key proves nothing
  // here.
  if (payment.reference !== operation.key) return unknown('the answer is about another payment')
  return outcomeOf(payment, operation.amount)
}

export function readFound(answer: HttpAnswer, operation: Operation): Found {
  const json = jsonOf(answer)
  // A proxy also answers 404. Only the bank's own body proves that it does not know the payment.
  if (answer.status === 404 && field(json, 'code') === 'unknown-reference') {
    return { is: 'notFound' }
  }
  // A refused look-up says nothing about its payment.
  if (answer.status !== 200) return unknown(`the bank answered with HTTP ${answer.status}`)
  const payment = readPayment(json)
  const reversal =
    payment?.reference === operation.key ? reversalOf(payment, operation.amount) : undefined
  return reversal ?? readOutcome(answer, operation)
}

/** A reversal that the bank carries out later; undefined for a payment without one. */
export function reversalOf(
  payment: BankPayment,
  asked: Money,
): ReversalRequested | ReversalEnd | undefined {
  const refs = { id: payment.id }
  // A payment of another amount is told as such.
  if (payment.reversal === undefined || isOther(payment, asked)) return undefined
  switch (payment.reversal) {
    case 'queued':
      return { is: 'requested', refs }
    case 'done':
      return { is: 'reversed', refs }
    case 'failed':
      return { is: 'notReversed', refs, why: `the bank could not reverse it: ${payment.code}` }
  }
}

export function readReversal(answer: HttpAnswer, key: string): Reversed {
  const json = jsonOf(answer)
  if (answer.status !== 200 || field(json, 'reference') !== key) {
    return { is: 'unknown', why: `the bank answered with HTTP ${answer.status}` }
  }
  switch (field(json, 'result')) {
    case 'reversed':
      return { is: 'reversed' }
    case 'queued':
      return { is: 'requested' }
    case 'blocked':
      return { is: 'nothing' }
    case 'refused': {
      const code = field(json, 'code') ?? ''
      return { is: 'refused', why: `the bank refused: ${code}`, reason: reasonFor(code) }
    }
    default:
      return { is: 'unknown', why: 'the answer of the bank is unreadable' }
  }
}

export function readCheck({
  status,
}: HttpAnswer): { ok: true } | { ok: false | 'unknown'; why: string } {
  if (status === 200) return { ok: true }
  // A fault of the bank or a redirect proves nothing about the credentials.
  if (status < 400 || status >= 500 || status === 408 || status === 429) {
    return { ok: 'unknown', why: `the bank answered with HTTP ${status}` }
  }
  return { ok: false, why: `the bank answered with HTTP ${status} to merchantId and apiKey` }
}

export function outcomeOf(payment: BankPayment, asked: Money): Outcome {
  const { code, text, networkReference, confirmUrl } = payment
  const refs = { id: payment.id }
  const amount = moneyOf(payment)
  const isDone = payment.status === 'approved' || payment.status === 'submitted'
  if (isDone && code !== approvalCode)
    return unknown(`done with the unknown code ${code}`, { refs })
  if (code === malfunctionCode) return unknown('the system of the bank failed', { refs })
  switch (payment.status) {
    case 'approved':
      return approved(refs, {
        code,
        // Another amount than requested is reported, never corrected: the engine decides about it.
        ...(isOther(payment, asked) ? { amount } : {}),
        ...(networkReference === undefined ? {} : { networkTxId: networkReference }),
      })
    case 'submitted':
      // A direct debit counts as done and can still be returned.
      return isOther(payment, asked)
        ? unknown('submitted for another amount')
        : accepted(refs, 'event', { code })
    case 'declined': {
      const reason = reasonFor(code)
      const advice = resultAdvice(reason)
      return declined(reason, {
        refs,
        code,
        ...(text === undefined ? {} : { text }),
        ...(advice === undefined ? {} : { advice }),
      })
    }
    case 'review':
      return pending({ poll: pollMs }, { refs, code })
    case 'confirm':
      if (confirmUrl === undefined)
        return unknown('the bank requires the shopper, without an address')
      return pending({ redirect: { url: confirmUrl } }, { refs, code })
  }
}

export const moneyOf = ({ amount: { value, currency } }: Pick<BankPayment, 'amount'>): Money => ({
  minor: BigInt(value),
  currency,
})

function isOther(payment: BankPayment, asked: Money): boolean {
  const { minor, currency } = moneyOf(payment)
  return minor !== asked.minor || currency !== asked.currency
}

const reversals: readonly unknown[] = [undefined, 'queued', 'done', 'failed']

/** A payment, or undefined unless every field agrees with the bank's manual. */
export function readPayment(json: unknown): BankPayment | undefined {
  const payment = (json ?? {}) as Partial<BankPayment>
  const texts = [payment.id, payment.reference, payment.code]
  const isWhole =
    texts.every(isText) &&
    statuses.includes(payment.status ?? '') &&
    reversals.includes(payment.reversal) &&
    isAmount(payment.amount)
  return isWhole ? (payment as BankPayment) : undefined
}

/** A dispute, or undefined unless every field agrees with the bank's manual. */
export function readDispute(json: unknown): BankDispute | undefined {
  const dispute = (json ?? {}) as Partial<BankDispute>
  const texts = [dispute.id, dispute.reference, dispute.reason]
  const isWhole =
    texts.every(isText) &&
    (dispute.state === 'opened' || dispute.state === 'won') &&
    isAmount(dispute.amount)
  return isWhole ? (dispute as BankDispute) : undefined
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

const isAmount = (amount: BankPayment['amount'] | undefined): boolean =>
  /^[0-9]{1,15}$/.test(amount?.value ?? '') && /^[A-Z]{3}$/.test(amount?.currency ?? '')

/** The bank refuses before it does anything, and states it: 4xx with its own `refused: true`. */
function refusalOf(
  { status }: HttpAnswer,
  json: unknown,
): { code: string; text?: string } | undefined {
  const isRefusal =
    status >= 400 && status < 500 && (json as { refused?: unknown })?.refused === true
  const code = field(json, 'code')
  if (!isRefusal || code === undefined) return undefined
  const text = field(json, 'text')
  return { code, ...(text === undefined ? {} : { text }) }
}

function jsonOf(answer: HttpAnswer): unknown {
  try {
    return answer.json()
  } catch {
    return undefined
  }
}

function field(json: unknown, name: string): string | undefined {
  const value = (json as Record<string, unknown> | null | undefined)?.[name]
  return typeof value === 'string' ? value : undefined
}
