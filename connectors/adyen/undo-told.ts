/** What webhooks tell about cancellations: of tries of ours, and of those that the Customer Area makes. */
import { type Claim, type Context, type Money, unknown } from '@tollgate/plugin-kit'
import { eventId, ofOtherAccount, unreadable } from './claims.ts'
import { moneyOf } from './money.ts'
import { isOwnPayment } from './payments.ts'
import type { Item } from './signature.ts'
import { type Judgement, judge, type Taking } from './undo-judgement.ts'
import { amendWords, cancellationOf, noteCancellation, wordsOf } from './undo-record.ts'
import { amended, isSame, type Told, toldBy, type Words, withTold, withTry } from './undo-words.ts'

type Inner = Pick<Context, 'records' | 'log'>

/** A payment's key, and the try of ours that a webhook names. */
type Name = { readonly key: string; readonly round?: number }

/**
 * Takes a word about a cancellation whose payment is known, and claims what follows from all words. An event says the
 * same, or nothing, when it comes again.
 */
export async function hearUndo(
  item: Item,
  is: Told['is'],
  { key, round }: Name,
  { records, log }: Inner,
): Promise<readonly Claim[]> {
  const { pspReference: psp, eventCode } = item
  const isAsked = isAskedFor(await wordsOf(records, key))
  const isOwn = isAsked || (await isOwnPayment(records, key))
  if (!isAsked && round !== undefined) {
    log.info({ event: eventCode }, 'a webhook tells of a reversal that was not asked for here')
    return is === 'returned' ? [returnElsewhere(item, key)] : []
  }
  const name = round === undefined ? { key } : { key, round }
  // The failure may have come before anybody knew what it is about.
  const { returned } = is === 'done' ? await noteCancellation(records, psp, name) : {}
  const word = toldBy(is, item, round)
  const words = await amendWords(records, key, (before) => {
    const next = withTold(before, isAskedFor(before) ? { ...word, isAsked: true } : word)
    const all = returned === undefined ? next : withTold(next, returned)
    const isNew = before.told.every((one) => !isSame(one, word))
    return is === 'done' && isNew ? afterSuccess(all, word) : all
  })
  const judgement = judge(words)
  if (is === 'done' && !judgement.isOver) {
    // Another one, or this one, whose money came back to the merchant later.
    log.warn(
      { event: eventCode },
      'a webhook tells of a reversal, and a payment of its name stands',
    )
  }
  const taking = takingOf(judgement, word)
  return taking === undefined ? [] : claimsOf(taking, is, { key, isOwn, words, judgement })
}

const isAskedFor = ({ tries }: Words): boolean => tries.length > 0

const takingOf = ({ takings }: Judgement, word: Told): Taking | undefined =>
  takings.find(({ told }) => told.some((one) => isSame(one, word)))

/** Made under the payment's own name, as in the Customer Area. */
const isByHand = ({ round, told }: Taking): boolean =>
  round === undefined && told.every(({ eventCode }) => eventCode !== 'TECHNICAL_CANCEL')

/** What the first message of a success ends, and what the engine hears of it from now on. */
function afterSuccess(words: Words, word: Told): Words {
  const judgement = judge(words)
  const { underWay, standing, doubtful, isOver } = judgement
  const taking = takingOf(judgement, word)
  if (taking === undefined || taking.returned !== undefined) return words
  const isNoted = isByHand(taking) && !isOver
  const stored = words.told.find((one) => isSame(one, word)) ?? word
  const told = isNoted ? amended(words, { ...stored, isNoted }) : words
  const isStill = [...standing, ...doubtful].some((psp) => psp === underWay?.of)
  return underWay === undefined || isStill ? told : withTry(told, { ...underWay, isPassed: true })
}

/**
 * A failure by hand comes with the success before it, so that the engine never hears them the other way round. An
 * account that did not make the payment tells neither: its success would end a payment whose reversal is under way,
 * although another one of its name may stand, and its failure, perhaps late, would count a payment as standing that a
 * later reversal took back. The account that made the payment hears of both.
 */
function claimsOf(
  taking: Taking,
  is: Told['is'],
  { key, isOwn, words, judgement }: Known,
): readonly Claim[] {
  const { told, round, returned, isFailed } = taking
  const claimed = (of: Told, outcome: Claim['outcome']): Claim => ({
    eventId: idOf(of),
    key,
    amount: amountOf(words, taking, of),
    outcome,
  })
  const [done] = told.filter((one) => one.is === 'done')
  const back =
    returned !== undefined && judgement.stands
      ? [claimed(returned, notReversed('the money that Adyen gave back came back'))]
      : []
  if (isByHand(taking)) {
    if (done === undefined) return []
    const success = claimed(done, successOf(done, isOwn))
    if (!isOwn) return [{ ...success, eventId: ofOtherAccount(success.eventId) }]
    // It ended what was there when it was told. Another payment stands since.
    const isOld = returned === undefined && done.isNoted !== true && !judgement.isOver
    return isOld ? [] : [success, ...back]
  }
  if (!isAskedFor(words)) return []
  if (returned !== undefined) return back
  if (is === 'failed') {
    const last = words.tries.at(-1)
    const isRefused = isFailed && round === last?.round && last?.of !== undefined
    // A payment that cannot be cancelled may be captured, or may never have been one: the next try asks again.
    const [failure] = told
    if (failure === undefined || !isRefused || !judgement.stands) return []
    return [claimed(failure, notReversed('Adyen could not take the payment back'))]
  }
  if (done === undefined || (done.isNoted !== true && !judgement.isOver)) return []
  return [claimed(done, successOf(done, isOwn))]
}

type Known = {
  readonly key: string
  readonly isOwn: boolean
  readonly words: Words
  readonly judgement: Judgement
}

const notReversed = (why: string): Claim['outcome'] => ({ is: 'notReversed', why })

const idOf = ({ eventCode, psp, is }: Told): string =>
  eventId({ eventCode, pspReference: psp, success: is !== 'failed' })

function successOf({ psp, isNoted }: Told, isOwn: boolean): Claim['outcome'] {
  if (!isOwn) return unknown('Adyen took a payment back, and another one of its name may stand')
  if (isNoted) return unknown('Adyen took one payment of this name back, and another one stands')
  return { is: 'reversed', refs: { reversal: psp } }
}

/** Of the operation; of a cancellation by hand that was told before the reversal was asked for, as it was told. */
function amountOf({ amount }: Words, taking: Taking, of: Told): Money {
  const told = taking.told.find(({ is }) => is === 'done') ?? of
  const isAsTold = isByHand(taking) && told.isAsked !== true
  if (amount === undefined || isAsTold) return moneyOf(told) ?? unreadable(told)
  return { minor: BigInt(amount.minor), currency: amount.currency }
}

/** The account that asked knows whether a later try took the payment back, and tells it. */
const returnElsewhere = (item: Item, key: string): Claim => ({
  eventId: ofOtherAccount(eventId(item)),
  key,
  amount: moneyOf(item) ?? unreadable(item),
  outcome: unknown('the money of a reversal came back, and a later one may have taken it back'),
})

/**
 * The claims of a failure that names a cancellation by Adyen's reference alone; undefined for one that names none yet.
 * A late one is kept whatever name it has, because its cancellation may still be told.
 */
export async function hearFailure(
  item: Item,
  isLate: boolean,
  inner: Inner,
): Promise<readonly Claim[] | undefined> {
  const { records } = inner
  const word = toldBy('returned', item, undefined)
  for (const psp of [item.pspReference, item.originalReference]) {
    if (psp === '') continue
    const { key, round } = isLate
      ? await noteCancellation(records, psp, { returned: word })
      : await cancellationOf(records, psp)
    if (key === undefined) continue
    const name = round === undefined ? { key } : { key, round }
    return hearUndo(item, isLate ? 'returned' : 'failed', name, inner)
  }
  return undefined
}
