/** Validates the outcomes of connectors. A malformed outcome counts as `unknown`. */
import type {
  Accepted,
  Approved,
  Declined,
  Found,
  Money,
  Outcome,
  Pending,
  Reversed,
} from '@tollgate/plugin-kit'
import {
  currencyOf,
  isFailure,
  isPending,
  isResultCode,
  limits,
  type Reason,
} from '@tollgate/schemas'
import { isSecretName } from '../redaction/scrub.ts'
import { checkedRedirect } from './checked-redirect.ts'
import { boundedRefs, isTexts, maskedText, shownTexts, wellFormed } from './checked-texts.ts'

const kinds = new Set(['approved', 'accepted', 'declined', 'pending', 'notSent', 'unknown'])
const texts = ['text', 'code', 'avs', 'cvv'] as const
const advices = new Set<unknown>(['later', 'new-instrument', 'never'])

const bad = (why: string) => ({ is: 'unknown', why }) as const

/**
 * A validated copy of a connector's outcome.
 *
 * @param now Business time of the merchant, for a new outcome. The engine replaces an expiry that
 * is out of proportion by its own limit.
 */
export function checked(given: unknown, now?: Date): Outcome {
  if (typeof given !== 'object' || given === null) return bad('the connector returned no outcome')
  // The code reads each property once, so that a getter cannot change a checked value.
  const outcome = { ...given } as Outcome
  if (!kinds.has(outcome.is)) return bad('the connector returned an outcome that does not exist')
  if (outcome.is === 'notSent') return { is: 'notSent', why: whyOf(outcome.why) }
  if (outcome.is === 'unknown') return checkedUnknown(outcome)
  if (outcome.refs !== undefined && !isTexts(outcome.refs)) {
    return bad('refs must be an object of texts')
  }
  const refs = outcome.refs === undefined ? {} : { refs: boundedRefs(outcome.refs) }
  // These properties have checks of their own.
  const own = ['amount', 'next', 'finalBy', 'card', 'details']
  const plain = Object.entries(outcome).filter(([name]) => !own.includes(name))
  if (!isJson(plain)) return bad('the outcome holds what is no JSON')
  return asTold({ ...outcome, ...textsOf(outcome), ...refs } as typeof outcome, now)
}

function asTold(told: Approved | Accepted | Declined | Pending, now: Date | undefined): Outcome {
  switch (told.is) {
    case 'approved':
      return approvedAs(told)
    case 'accepted':
      return acceptedAs(told)
    case 'declined':
      return declinedAs(told)
    case 'pending':
      return pendingAs(told, now)
  }
}

/** The answer to an enquiry: an outcome, or proof that the acquirer knows nothing. */
export function checkedFound(given: unknown, now?: Date): Found {
  if (!isOf(given, 'notFound')) return checked(given, now)
  const { why } = { ...given }
  return { is: 'notFound', ...(why === undefined ? {} : { why: whyOf(why) }) }
}

/** Validates the result of a reversal by key. */
export function checkedReversed(given: unknown): Reversed {
  if (typeof given !== 'object' || given === null) return bad('the connector returned no answer')
  const { is, refs, why, reason } = { ...given } as Readonly<Record<string, unknown>>
  switch (is) {
    case 'reversed':
    case 'nothing':
      if (refs === undefined) return { is }
      return isTexts(refs)
        ? { is, refs: boundedRefs(refs) }
        : bad('refs must be an object of texts')
    case 'refused': {
      const isCode = typeof reason === 'string' && isResultCode(reason)
      return { is, why: whyOf(why), ...(isCode ? { reason: reason as Reason } : {}) }
    }
    case 'unknown':
      return bad(whyOf(why))
    default:
      return bad('the connector returned an answer that does not exist')
  }
}

/** The largest amount that Postgres stores. */
const mostMinor = 2n ** 63n - 1n

/** An amount in a known currency, or undefined. */
export function checkedMoney(given: unknown): Money | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const { minor, currency } = { ...given } as { minor?: unknown; currency?: unknown }
  if (typeof minor !== 'bigint' || minor < 0n || minor > mostMinor) return undefined
  if (typeof currency !== 'string' || currencyOf(currency)?.exponent == null) return undefined
  return { minor, currency }
}

function approvedAs(told: Approved): Outcome {
  if (told.refs === undefined) return bad('approved without any reference of the acquirer')
  if (told.amount === undefined) return told
  const amount = checkedMoney(told.amount)
  return amount === undefined ? bad('approved for an amount that is none') : { ...told, amount }
}

function acceptedAs(told: Accepted): Outcome {
  if (told.refs === undefined) return bad('accepted without any reference of the acquirer')
  const isEnd = told.finalBy === 'settlement' || told.finalBy === 'event'
  const finalBy = isEnd ? told.finalBy : pollOf(told.finalBy)
  return finalBy === undefined
    ? bad('accepted without a word on when it is final')
    : { ...told, finalBy }
}

function declinedAs(told: Declined): Outcome {
  if (!isResultCode(told.reason)) return { ...told, reason: '800.100.100' }
  // Merchants rely on the code: with a success code, a merchant would deliver on a decline.
  return isFailure(told.reason) ? told : bad('declined with a reason that is no failure')
}

function pendingAs(told: Pending, now: Date | undefined): Outcome {
  const next = nextOf(told.next)
  if (next === undefined) return bad('pending without a next step')
  if (told.reason !== undefined && !isPending(told.reason)) {
    return bad('pending with a reason that is not pending')
  }
  if (told.expiresAt === undefined) return { ...told, next }
  const expiresAt = timeOf(told.expiresAt, now)
  return expiresAt === undefined
    ? bad('pending until a time that is none')
    : { ...told, next, expiresAt }
}

/** Keeps only the valid parts of an unknown outcome; invalid extras must not discard the rest. */
function checkedUnknown({ why, refs, memo }: Extract<Outcome, { is: 'unknown' }>): Outcome {
  return {
    is: 'unknown',
    why: whyOf(why),
    ...(isTexts(refs) ? { refs: boundedRefs(refs) } : {}),
    ...(memo !== undefined && isJson(memo) ? { memo } : {}),
  }
}

const whyOf = (why: unknown): string =>
  typeof why === 'string' ? maskedText(why, 500) : 'no reason was given'

/**
 * Texts for people and codes of schemes, with masked card numbers. Invalid texts are dropped, since
 * the money moved all the same. A scheme's reference returns to the acquirer with later payments.
 * Like an acquirer's reference, it can resemble a card number by chance and must keep every digit.
 */
function textsOf(outcome: Outcome): Readonly<Record<string, unknown>> {
  const parts: Readonly<Record<string, unknown>> = { ...outcome }
  const told = Object.fromEntries(
    texts
      .filter((name) => parts[name] !== undefined)
      .map((name) => {
        const text = parts[name]
        const isText = typeof text === 'string'
        return [name, isText ? maskedText(text, limits.shownTextCharacters) : undefined]
      }),
  )
  const { networkTxId, advice, card, details } = parts
  const isReference = typeof networkTxId === 'string' && networkTxId.length <= limits.refCharacters
  return {
    ...told,
    ...(networkTxId === undefined
      ? {}
      : { networkTxId: isReference ? wellFormed(networkTxId) : undefined }),
    ...(advice === undefined ? {} : { advice: advices.has(advice) ? advice : undefined }),
    ...(card === undefined ? {} : { card: cardOf(card) }),
    ...(details === undefined ? {} : { details: shownTexts(details) }),
  }
}

/** Card details without secret names, since responses show these details. */
function cardOf(given: unknown): Readonly<Record<string, string>> | undefined {
  const shown = Object.entries(shownTexts(given) ?? {}).filter(([name]) => !isSecretName(name))
  return shown.length === 0 ? undefined : Object.fromEntries(shown)
}

const isOf = (given: unknown, is: string): given is { is: string; why?: unknown } =>
  typeof given === 'object' && given !== null && (given as { is?: unknown }).is === is

/** Whether the database can store every part of the value. */
function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}

function nextOf(next: unknown): Pending['next'] | undefined {
  if (next === 'event') return next
  if (typeof next !== 'object' || next === null) return undefined
  if ('poll' in next) return pollOf(next)
  if (!('redirect' in next)) return undefined
  const redirect = checkedRedirect(next.redirect)
  return redirect === undefined ? undefined : { redirect }
}

/** A pause in whole milliseconds, within the range of timers. */
function pollOf(given: unknown): { readonly poll: number } | undefined {
  const { poll } = Object(given) as { poll?: unknown }
  if (typeof poll !== 'number' || !Number.isFinite(poll) || poll <= 0) return undefined
  return { poll: Math.ceil(Math.min(Math.max(poll, limits.pollMs.min), limits.pollMs.max)) }
}

function timeOf(date: unknown, now: Date | undefined): Date | undefined {
  const ms = date instanceof Date ? date.getTime() : Number.NaN
  if (Number.isNaN(ms)) return undefined
  if (now === undefined) return new Date(ms)
  const { past, ahead } = limits.pendingEndMs
  return new Date(Math.min(Math.max(ms, now.getTime() - past), now.getTime() + ahead))
}
