/**
 * What is known of captures, refunds and their like, by Adyen's reference of each. A failure can come days later, and
 * Adyen can carry out what failed before.
 */
import type { Json, Operation, Records } from '@tollgate/plugin-kit'
import { isModification, type Modification, type Whole } from './references.ts'

/** What a webhook can be about: an operation of the engine, or the capture that Adyen itself makes of a sale. */
export type Subject = {
  readonly is: Modification | 'sale'
  readonly key: string
  /** Of a reversal. */
  readonly whole?: Whole
}

/** A piece of news about a subject, as a webhook told it. */
export type News = {
  readonly eventCode: string
  readonly success: boolean
  /** Adyen's reference of the payment; empty where the webhook named none. */
  readonly payment: string
  readonly minor: string
  readonly currency: string
  /** No part of the signature: it raises doubts, and settles none. */
  readonly date: string
}

type Known = Subject & {
  /** Successes that followed a failure. */
  readonly round: number
  readonly hasFailed: boolean
  /** The first success and the first failure. */
  readonly done?: News
  readonly failed?: News
  /** The last success that followed a failure. */
  readonly doneAgain?: News
  /** The success was told with two dates before any failure: the failure between them may still come. */
  readonly isDoneAgain?: true
}

const nameOf = (pspReference: string): string => `modification:${pspReference}`

const knownIn = (value: Json | undefined): Known | undefined =>
  value === undefined ? undefined : (value as unknown as Known)

/** Keeps which operation Adyen calls by this reference. */
export async function rememberModification(
  records: Records,
  pspReference: string,
  { kind, key, amount: { minor, currency } }: Operation,
): Promise<void> {
  if (!isModification(kind)) return
  const whole = kind === 'reverse' ? { whole: { minor: String(minor), currency } } : {}
  const known: Known = { is: kind, key, ...whole, round: 0, hasFailed: false }
  await records.swap(nameOf(pspReference), undefined, known as unknown as Json)
}

export async function modificationOf(
  records: Records,
  pspReference: string,
): Promise<Subject | undefined> {
  if (pspReference === '') return undefined
  const known = knownIn(await records.get(nameOf(pspReference)))
  if (known === undefined) return undefined
  const { is, key, whole } = known
  return whole === undefined ? { is, key } : { is, key, whole }
}

/** What to claim, in this order. */
export type Telling =
  /** `again`: the date of a failure that nobody can order; it has the name of the first one, so operators see it. */
  | { readonly is: 'failed'; readonly news: News; readonly again?: string; readonly by?: News }
  | { readonly is: 'done'; readonly news: News; readonly round: number }

/**
 * Takes a proven piece of news, whose order among others is not certain: Adyen repeats messages, and can carry out what
 * failed before. A failure comes with the success before it, which is not told any more after it. A success after a
 * failure is news of its own, in a new round, and always comes with the failure before it. So the engine never hears
 * them the other way round. A failure after such a success may be a repeat or a new one: it ends nothing, and operators
 * see it.
 */
export async function hear(
  records: Records,
  pspReference: string,
  subject: Subject,
  news: News,
  isFailure: boolean,
): Promise<readonly Telling[]> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const value = await records.get(nameOf(pspReference))
    // The answer may have been lost, and the record with it.
    const known: Known = knownIn(value) ?? { ...subject, round: 0, hasFailed: false }
    const next = isFailure ? afterFailure(known, news) : afterSuccess(known, news)
    if (value !== undefined && next === known) return tellings(next, news, isFailure)
    if (await records.swap(nameOf(pspReference), value, next as unknown as Json)) {
      return tellings(next, news, isFailure)
    }
  }
  throw new Error('the record of an operation changes all the time')
}

const mostTries = 8

function afterSuccess(known: Known, news: News): Known {
  if (isRepeat(known, news)) return known
  if (known.hasFailed) {
    return { ...known, round: known.round + 1, hasFailed: false, doneAgain: news }
  }
  if (known.done === undefined) return { ...known, done: news }
  const isAgain = known.failed === undefined && known.done.date !== news.date
  return isAgain ? { ...known, isDoneAgain: true } : known
}

/** Whether this success was told before. Without a date nobody knows. */
const isRepeat = ({ done, doneAgain }: Known, news: News): boolean =>
  news.date !== '' && [done, doneAgain].some((one) => one !== undefined && isSameNews(one, news))

function afterFailure(known: Known, news: News): Known {
  const { failed, done, isDoneAgain, round } = known
  if (failed === undefined && !known.hasFailed) {
    const isBetween = isDoneAgain === true && done !== undefined
    return { ...known, failed: news, round: isBetween ? 1 : 0, hasFailed: !isBetween }
  }
  const isNew = round > 0 && failed !== undefined && !isSameNews(failed, news)
  return isNew ? { ...known, hasFailed: true } : known
}

function tellings(known: Known, news: News, isFailure: boolean): Telling[] {
  const { round, hasFailed, failed, done } = known
  if (!isFailure) {
    if (hasFailed) return []
    const before =
      round > 0 && failed !== undefined ? [{ is: 'failed', news: failed } as const] : []
    return [...before, { is: 'done', news, round }]
  }
  if (round === 0 || failed === undefined) {
    const before = done === undefined ? [] : [{ is: 'done', news: done, round: 0 } as const]
    return [...before, { is: 'failed', news }]
  }
  if (!isSameNews(failed, news)) {
    return [{ is: 'failed', news, again: news.date, by: failed }]
  }
  const after = done === undefined ? [] : [{ is: 'done', news: done, round } as const]
  return [{ is: 'failed', news: failed }, ...after]
}

const isSameNews = (one: News, other: News): boolean =>
  JSON.stringify(inOrder(one)) === JSON.stringify(inOrder(other))

const inOrder = ({ eventCode, success, minor, currency, date }: News) => [
  eventCode,
  success,
  minor,
  currency,
  date,
]

/** An increase, and the new sum by which Adyen knows it. */
type Increase = { readonly minor: string; readonly sum: string }

const increaseName = (key: string): string => `increase:${key}`

export async function rememberIncrease(
  records: Records,
  { key, amount, original }: Operation,
): Promise<void> {
  const sum = (original?.authorised?.minor ?? 0n) + amount.minor
  const known: Increase = { minor: String(amount.minor), sum: String(sum) }
  await records.swap(increaseName(key), undefined, known)
}

/** The increase that a new sum means; undefined for an increase that is not known. */
export async function increaseOf(
  records: Records,
  key: string,
  sum: bigint,
): Promise<bigint | undefined> {
  const known = (await records.get(increaseName(key))) as Increase | undefined
  return known === undefined ? undefined : BigInt(known.minor) + sum - BigInt(known.sum)
}
