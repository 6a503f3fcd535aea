/**
 * Answers of Acme Bank as outcomes. An answer that is not read completely is `unknown`, because money may have
 * moved; only the acquirer's own statement gives another outcome.
 */
import {
  declined,
  type HttpAnswer,
  type Money,
  type Operation,
  type Outcome,
  // #redirect
  pending,
  // #end
  type Reversed,
  responseOutcome,
  unknown,
} from '@tollgate/plugin-kit'
import { read } from './wire.ts'

export type Answer = Readonly<Record<string, string>>

export function outcomeIn(answer: HttpAnswer, operation: Operation): Outcome {
  const fields = read(answer.body)
  const refusal = refusalIn(answer, fields)
  if (refusal !== undefined) return declined('900.100.200', { text: refusal })
  if (answer.status !== 200) return unknown(`Acme Bank answered with HTTP ${answer.status}`)
  // Answers can be mixed up on their way. One about another key proves nothing here.
  if (fields === undefined || fields.reference !== operation.key) {
    return unknown('the answer is unreadable, or about another payment')
  }
  return outcomeOf(fields, operation.amount)
}

/** @param asked The requested amount; undefined in a message, whose amount Tollgate compares. */
export function outcomeOf(fields: Answer, asked: Money | undefined): Outcome {
  const { id, code, text } = fields
  const amount = moneyIn(fields)
  if (id === undefined || amount === undefined) return unknown('the answer has no id or no amount')
  // #redirect
  if (fields.status === 'redirect') {
    const { redirectUrl: url } = fields
    if (url === undefined) return unknown('the shopper is needed, without an address')
    return pending({ redirect: { url } }, { refs: { id } })
  }
  // #end
  if (code === undefined) return unknown('the answer has no code', { refs: { id } })
  // DECIDE(codes): response codes of ISO 8583? Otherwise a table, see "Codes and reasons" in the guide.
  return responseOutcome(code, { refs: { id }, amount, asked, text })
}

export function foundIn(
  answer: HttpAnswer,
  operation: Operation,
): Outcome | { readonly is: 'notFound' } {
  const fields = read(answer.body)
  // A refused enquiry says nothing about its payment.
  if (answer.status !== 200) return unknown(`Acme Bank answered with HTTP ${answer.status}`)
  // DECIDE(unknown): by which words of its own does the acquirer say that it does not know a payment?
  const isUnknown = fields?.code === '25' && fields.reference === operation.key
  return isUnknown ? { is: 'notFound' } : outcomeIn(answer, operation)
}

// #redirect
/** After the shopper's return, where only the acquirer's word counts. */
export function completedIn(answer: HttpAnswer, operation: Operation): Outcome {
  const found = foundIn(answer, operation)
  return found.is === 'notFound' ? unknown('Acme Bank does not know the payment') : found
}
// #end

export function reversalIn(answer: HttpAnswer, key: string): Reversed {
  const fields = read(answer.body)
  if (answer.status !== 200 || fields?.reference !== key) {
    return { is: 'unknown', why: `Acme Bank answered with HTTP ${answer.status}` }
  }
  switch (fields.result) {
    case 'reversed':
      return { is: 'reversed' }
    case 'blocked':
      return { is: 'nothing' }
    default:
      return { is: 'unknown', why: 'the answer is unreadable' }
  }
}

export function checkIn({ status }: HttpAnswer): { ok: true } | { ok: false; why: string } {
  if (status === 200) return { ok: true }
  // A fault of the bank or a redirect proves nothing about the credentials.
  if (status < 400 || status >= 500 || status === 408 || status === 429) {
    throw new Error(`Acme Bank answered with HTTP ${status}`)
  }
  return { ok: false, why: `Acme Bank answered with HTTP ${status} to user and password` }
}

/** The amount of an answer; undefined unless it is written as agreed. */
export function moneyIn({ amount = '', currency = '' }: Answer): Money | undefined {
  const isWhole = /^[0-9]{1,15}$/.test(amount) && /^[A-Z]{3}$/.test(currency)
  return isWhole ? { minor: BigInt(amount), currency } : undefined
}

// DECIDE(refusal): by which statement of its own does the acquirer say that it did nothing? A status is none.
export const refusalIn = (
  { status }: HttpAnswer,
  fields: Answer | undefined,
): string | undefined => (status === 401 ? fields?.refused : undefined)
