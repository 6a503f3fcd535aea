import { currencyOf, isFailure, isPending, isResultCode } from '@tollgate/schemas'
import type { Kind } from '../connector.ts'
import type { Found, Money, Outcome } from '../outcome.ts'

const kinds = ['approved', 'accepted', 'declined', 'pending', 'notSent', 'unknown']

/**
 * An engine's reading of a handler's result or error. It trusts an author only with proof: a
 * malformed outcome is `unknown`, and an error or a `notSent` is `notSent` only when nothing that
 * moves money was sent.
 *
 * @param given undefined when the handler threw
 */
export function judge(given: unknown, moved: boolean, kind: Kind): Outcome {
  const outcome = given === undefined ? threw : checked(given)
  if (outcome.is === 'notSent' && moved) return unknown('after a request may have been written')
  if (outcome.is === 'approved' && kind !== 'verify' && Object.keys(outcome.refs).length === 0) {
    return unknown('approved without any reference of the acquirer')
  }
  return outcome
}

const threw: Outcome = { is: 'notSent', why: 'the handler threw' }
const unknown = (why: string): Outcome => ({ is: 'unknown', why })

function checked(given: unknown): Outcome {
  if (typeof given !== 'object' || given === null) return unknown('no outcome was returned')
  const outcome = given as Outcome
  if (!kinds.includes(outcome.is)) return unknown('an outcome that does not exist was returned')
  if (outcome.is === 'notSent' || outcome.is === 'unknown') return outcome
  if (outcome.refs !== undefined && !isTexts(outcome.refs)) {
    return unknown('refs must be an object of texts')
  }
  if ((outcome.is === 'approved' || outcome.is === 'accepted') && outcome.refs === undefined) {
    return unknown('approved without any reference of the acquirer')
  }
  if (outcome.is === 'approved' && outcome.amount !== undefined && !isMoney(outcome.amount)) {
    return unknown('approved for an amount that is none')
  }
  if (outcome.is === 'accepted' && !isFinalBy(outcome.finalBy)) {
    return unknown('accepted without a word on when it is final')
  }
  if (outcome.is === 'declined' && !isResultCode(outcome.reason)) {
    return { ...outcome, reason: '800.100.100' }
  }
  if (outcome.is === 'declined' && !isFailure(outcome.reason)) {
    return unknown('declined with a reason that is no failure')
  }
  if (outcome.is === 'pending' && !isNext(outcome.next)) {
    return unknown('pending without a next step')
  }
  if (outcome.is === 'pending' && outcome.reason !== undefined && !isPending(outcome.reason)) {
    return unknown('pending with a reason that is not pending')
  }
  return outcome
}

function isNext(next: unknown): boolean {
  if (typeof next !== 'object' || next === null) return next === 'event'
  if ('poll' in next) return isPoll(next)
  if (!('redirect' in next)) return false
  const { url } = Object(next.redirect) as { url?: unknown }
  return typeof url === 'string' && /^https?:$/.test(URL.parse(url)?.protocol ?? '')
}

const isFinalBy = (finalBy: unknown): boolean =>
  finalBy === 'settlement' || finalBy === 'event' || isPoll(finalBy)

function isPoll(given: unknown): boolean {
  const { poll } = Object(given) as { poll?: unknown }
  return typeof poll === 'number' && Number.isFinite(poll) && poll > 0
}

/** Whether an outcome names no amount, or only the one that was asked for. */
export function isForAll(outcome: Found, { minor, currency }: Money): boolean {
  const named = outcome.is === 'approved' ? outcome.amount : undefined
  return named === undefined || (named.minor === minor && named.currency === currency)
}

/** Whole minor units within the range of a database, in a currency that has them. */
export function isMoney(given: unknown): boolean {
  const { minor, currency } = Object(given) as { minor?: unknown; currency?: unknown }
  const isMinor = typeof minor === 'bigint' && minor >= 0n && minor < 2n ** 63n
  return isMinor && typeof currency === 'string' && currencyOf(currency)?.exponent != null
}

export function isTexts(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((text) => typeof text === 'string')
  )
}
