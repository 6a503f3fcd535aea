/** Validates the outcomes of connectors. A malformed outcome counts as `unknown`. */
import type {
  Accepted,
  Approved,
  Declined,
  Found,
  Money,
  Outcome,
  Pending,
  Refs,
  ReversalEnd,
  ReversalRequested,
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

/** The members of outcomes. Others could hold anything of the request, and nobody would mask it. */
const members = [
  'is',
  'refs',
  'amount',
  'memo',
  'networkTxId',
  'finalBy',
  'reason',
  'ofKey',
  'advice',
  'next',
  'expiresAt',
  'why',
  'card',
  'details',
  ...texts,
] as const

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
  const outcome = Object.fromEntries(
    members.flatMap((name) =>
      Object.hasOwn(given, name) ? [[name, given[name as keyof typeof given] as unknown]] : [],
    ),
  ) as unknown as Outcome
  if (!kinds.has(outcome.is)) return bad('the connector returned an outcome that does not exist')
  if (outcome.is === 'notSent') return { is: 'notSent', why: whyOf(outcome.why) }
  if (outcome.is === 'unknown') return checkedUnknown(outcome)
  if (outcome.refs !== undefined && !isTexts(outcome.refs)) {
    return bad('refs must be an object of texts')
  }
  // These properties have checks of their own.
  const own = ['amount', 'next', 'finalBy', 'card', 'details']
  const plain = Object.entries(outcome).filter(([name]) => !own.includes(name))
  if (!isJson(plain)) return bad('the outcome holds what is no JSON')
  const kept = { ...outcome, ...textsOf(outcome), ...keptOf(outcome) }
  return checkedAnswer(kept as typeof outcome, now)
}

/** References and memo within their limits. */
function keptOf(outcome: { readonly refs?: Refs; readonly memo?: unknown }): {
  refs?: Refs
  memo?: undefined
} {
  const isLong = outcome.memo !== undefined && isLongMemo(outcome.memo)
  const { refs } = outcome
  return {
    ...(refs === undefined && !isLong ? {} : { refs: boundedRefs(refs ?? {}, isLong ? 1 : 0) }),
    ...(isLong ? { memo: undefined } : {}),
  }
}

const isLongMemo = (memo: unknown): boolean =>
  (JSON.stringify(memo) ?? '').length > limits.memoCharacters

function checkedAnswer(
  answer: Approved | Accepted | Declined | Pending,
  now: Date | undefined,
): Outcome {
  switch (answer.is) {
    case 'approved':
      return approvedAs(answer)
    case 'accepted':
      return acceptedAs(answer)
    case 'declined':
      return declinedAs(answer)
    case 'pending':
      return pendingAs(answer, now)
  }
}

/** The answer to an enquiry: an outcome, a reversal, or proof that the acquirer knows nothing. */
export function checkedFound(given: unknown, now?: Date): Found {
  if (isOf(given, 'requested')) return requestedAs(given)
  if (!isOf(given, 'notFound')) return checkedTold(given, now)
  const { why } = { ...given }
  return { is: 'notFound', ...(why === undefined ? {} : { why: whyOf(why) }) }
}

/** A validated word of an acquirer: an outcome, or the end of a reversal by key. */
export function checkedTold(given: unknown, now?: Date): Outcome | ReversalEnd {
  if (!isOf(given, 'reversed') && !isOf(given, 'notReversed')) return checked(given, now)
  const { is, refs, why } = { ...given } as Readonly<Record<string, unknown>>
  if (refs !== undefined && !isTexts(refs)) return bad('refs must be an object of texts')
  const bounded = refs === undefined ? {} : { refs: boundedRefs(refs) }
  return is === 'reversed' ? { is, ...bounded } : { is: 'notReversed', ...bounded, why: whyOf(why) }
}

function requestedAs({
  refs,
}: {
  readonly refs?: unknown
}): ReversalRequested | ReturnType<typeof bad> {
  if (refs === undefined) return { is: 'requested' }
  return isTexts(refs)
    ? { is: 'requested', refs: boundedRefs(refs) }
    : bad('refs must be an object of texts')
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
    case 'requested':
      return requestedAs({ refs })
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

function approvedAs(answer: Approved): Outcome {
  if (answer.refs === undefined) return bad('approved without any reference of the acquirer')
  if (answer.amount === undefined) return answer
  const amount = checkedMoney(answer.amount)
  return amount === undefined ? bad('approved for an amount that is none') : { ...answer, amount }
}

function acceptedAs(answer: Accepted): Outcome {
  if (answer.refs === undefined) return bad('accepted without any reference of the acquirer')
  const isEnd = answer.finalBy === 'settlement' || answer.finalBy === 'event'
  const finalBy = isEnd ? answer.finalBy : pollOf(answer.finalBy)
  return finalBy === undefined
    ? bad('accepted without a word on when it is final')
    : { ...answer, finalBy }
}

function declinedAs({ ofKey, ...answer }: Declined): Outcome {
  const checked = reasonChecked(answer)
  return checked.is === 'declined' && ofKey === true ? { ...checked, ofKey } : checked
}

function reasonChecked(answer: Declined): Outcome {
  if (!isResultCode(answer.reason)) return { ...answer, reason: '800.100.100' }
  // Merchants rely on the code: with a success code, a merchant would deliver on a decline.
  return isFailure(answer.reason) ? answer : bad('declined with a reason that is no failure')
}

function pendingAs(answer: Pending, now: Date | undefined): Outcome {
  const next = nextOf(answer.next)
  if (next === undefined) return bad('pending without a next step')
  if (answer.reason !== undefined && !isPending(answer.reason)) {
    return bad('pending with a reason that is not pending')
  }
  if (answer.expiresAt === undefined) return { ...answer, next }
  const expiresAt = timeOf(answer.expiresAt, now)
  return expiresAt === undefined
    ? bad('pending until a time that is none')
    : { ...answer, next, expiresAt }
}

/** Keeps only the valid parts of an unknown outcome; invalid extras must not discard the rest. */
function checkedUnknown({ why, refs, memo }: Extract<Outcome, { is: 'unknown' }>): Outcome {
  return {
    is: 'unknown',
    why: whyOf(why),
    ...(isTexts(refs) ? { refs: boundedRefs(refs) } : {}),
    ...(memo !== undefined && isJson(memo) && !isLongMemo(memo) ? { memo } : {}),
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
  const answer = Object.fromEntries(
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
    ...answer,
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

const isOf = (given: unknown, is: string): given is { is: string; why?: unknown; refs?: unknown } =>
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
