/**
 * Adyen's webhooks as claims. Only signed fields have a meaning, so reasons of failures and disputes are not read.
 * Adyen answers no enquiry: a message without a proof leads to none, and claims nothing.
 */
import {
  accepted,
  approved,
  type Claim,
  type Context,
  declined,
  type Inbound,
  type InboundReply,
  type Money,
  type Outcome,
  type Records,
} from '@tollgate/plugin-kit'
import { eventId, unclear, unreadable } from './claims.ts'
import { disputeReference } from './dispute.ts'
import {
  hear,
  increaseOf,
  modificationOf,
  type News,
  type Subject,
  type Telling,
} from './modifications.ts'
import { moneyOf } from './money.ts'
import { keyBy, paymentOf, rememberBasis, rememberKey } from './payments.ts'
import { isSameName, type Named, readReference } from './references.ts'
import { announce, isSettlementReport } from './reports.ts'
import { type Item, isProven, type Signed, signedItems } from './signature.ts'
import { amendWords } from './undo-record.ts'
import { hearFailure, hearUndo } from './undo-told.ts'
import { withPayment } from './undo-words.ts'

/** Adyen repeats a message until it reads this. The engine says it of proven messages alone. */
export const reply: InboundReply = { body: '[accepted]' }

type Account = { readonly merchantAccount: string; readonly hmacKeys: string }
type Inner = Pick<Context, 'records' | 'log'>

/** @throws Error for anything but a webhook. */
export async function claimsOf(
  message: Inbound,
  { records, log, account }: Context<unknown, Account>,
): Promise<readonly Claim[]> {
  const items = signedItems(message)
  // Anybody can send one, so it costs no read and no line of the log.
  if (!isProven(message, account.hmacKeys)) return []
  const claims: Claim[] = []
  for (const signed of items) {
    const { merchantAccountCode, eventCode } = signed.item
    if (!isSameName(merchantAccountCode, account.merchantAccount)) {
      // A webhook of a whole company has items of its other accounts.
      log.info({ event: eventCode }, 'a webhook is about another merchant account')
      continue
    }
    claims.push(...(await claimsIn(signed, { records, log })))
  }
  return claims
}

type Told = 'done' | 'failed' | undefined

/** Events about what was done to a payment, and whether the event tells its failure. */
const modifying = new Map<string, (success: boolean) => Told>([
  ['CAPTURE', (success) => (success ? 'done' : 'failed')],
  ['CAPTURE_FAILED', (success) => (success ? 'failed' : undefined)],
  ['REFUND', (success) => (success ? 'done' : 'failed')],
  ['REFUND_FAILED', (success) => (success ? 'failed' : undefined)],
  ['REFUNDED_REVERSED', (success) => (success ? 'failed' : undefined)],
  ['CANCELLATION', (success) => (success ? 'done' : 'failed')],
  ['CANCEL_OR_REFUND', (success) => (success ? 'done' : 'failed')],
  ['TECHNICAL_CANCEL', (success) => (success ? 'done' : 'failed')],
  ['AUTHORISATION_ADJUSTMENT', (success) => (success ? 'done' : 'failed')],
])

/** Which events are about which operation. Others that name it are about something else that was done to it. */
const fitting: Readonly<Record<Subject['is'], readonly string[]>> = {
  sale: ['CAPTURE', 'CAPTURE_FAILED'],
  capture: ['CAPTURE', 'CAPTURE_FAILED'],
  refund: ['REFUND', 'REFUND_FAILED', 'REFUNDED_REVERSED'],
  reverse: ['CANCELLATION', 'CANCEL_OR_REFUND', 'REFUND_FAILED', 'REFUNDED_REVERSED'],
  increment: ['AUTHORISATION_ADJUSTMENT'],
}

/** Failures that Adyen may tell under a reference of their own, with that of the operation as the original. */
const laterFailures = ['CAPTURE_FAILED', 'REFUND_FAILED', 'REFUNDED_REVERSED']

async function claimsIn(signed: Signed, inner: Inner): Promise<readonly Claim[]> {
  const { item, isClear } = signed
  const { eventCode, success } = item
  if (eventCode === 'REPORT_AVAILABLE') {
    // The name of a report may have a colon. The account is the own one, so no border can have moved but that of the
    // earlier reference, which a report lacks.
    const { pspReference: name, originalReference } = item
    const isOurs = success && originalReference === '' && isSettlementReport(name)
    if (isOurs) await announce(inner.records, name)
    return []
  }
  if (!isClear) return isAboutMoney(eventCode) ? [unclear(item)] : []
  if (eventCode === 'AUTHORISATION') return authorisation(item, inner)
  const told = modifying.get(eventCode)?.(success)
  if (told !== undefined) return modification(signed, told, inner)
  if (!success) return []
  // Others are steps of a dispute without money, risk, tokens, payouts: nothing to be said about a payment.
  return disputing.includes(eventCode) ? dispute(item, inner) : []
}

const disputing = ['CHARGEBACK', 'SECOND_CHARGEBACK', 'CHARGEBACK_REVERSED']

const isAboutMoney = (eventCode: string): boolean =>
  eventCode === 'AUTHORISATION' || modifying.has(eventCode) || disputing.includes(eventCode)

async function authorisation(item: Item, { records, log }: Inner): Promise<readonly Claim[]> {
  const named = readReference(item.merchantReference)
  // A check of a card is for nothing.
  if (named?.is !== 'payment' || item.value === 0) return []
  const { key } = named
  const { pspReference: psp, success, eventCode } = item
  const amount = moneyOf(item) ?? unreadable(item)
  const refs = { payment: psp }
  // A reversal needs to know what became of the payment, whether it was asked for before this or not.
  const { authorised } = await amendWords(records, key, (words) =>
    withPayment(words, success ? 'authorised' : 'refused', psp),
  )
  const [first = psp] = authorised
  if (first !== psp && !success) {
    log.info({ event: eventCode }, 'a webhook tells of a refused try beside an authorised payment')
    return []
  }
  // A chargeback of the second payment of a name can have no other name of it, either.
  if (success) await rememberKey(records, psp, key)
  if (first !== psp) {
    // Authorised twice under one name: with the event of the first one, operators see the second.
    const id = eventId({ eventCode, success, pspReference: first })
    return [{ eventId: id, key, outcome: approved(refs), amount }]
  }
  const outcome = success ? approved(refs) : declined('100.397.102', { refs })
  return [{ eventId: eventId(item), key, outcome, amount }]
}

async function modification(
  { item, date }: Signed,
  told: 'done' | 'failed',
  inner: Inner,
): Promise<readonly Claim[]> {
  const { records, log } = inner
  const { pspReference, originalReference, merchantReference, eventCode, success } = item
  const named = readReference(merchantReference)
  if (named?.is === 'undo' || (named?.is === 'payment' && cancelling.has(eventCode))) {
    const isLate = told === 'failed' && laterFailures.includes(eventCode)
    return hearUndo(item, isLate ? 'returned' : told, named, inner)
  }
  const subject = await subjectOf(item, named, records)
  const amount =
    subject === undefined ? elsewhere : await amountOfItem(item, told, subject, records)
  if (subject === undefined && told === 'failed' && fitting.reverse.includes(eventCode)) {
    const ofReversal = await hearFailure(item, laterFailures.includes(eventCode), inner)
    if (ofReversal !== undefined) return ofReversal
  }
  if (subject === undefined || amount === elsewhere) {
    // Made in Adyen's Customer Area, by another system or by Adyen: the settlement report has its money. Or made on
    // another account of the merchant, which hears of it too.
    log.info({ event: eventCode }, 'a webhook tells of an operation that was not made here')
    return []
  }
  if (amount === undefined) {
    const outcome = outcomeOf(
      subject,
      { eventCode, payment: originalReference },
      told,
      pspReference,
    )
    return [{ eventId: eventId(item), key: subject.key, outcome, amount: unreadable(item) }]
  }
  if (subject.is === 'capture' && told === 'done' && originalReference !== '') {
    await rememberBasis(records, subject.key, originalReference)
  }
  const { minor, currency } = amount
  const money = { minor: String(minor), currency }
  const news: News = { eventCode, success, payment: originalReference, ...money, date }
  const tellings = await hear(records, pspReference, subject, news, told === 'failed')
  return tellings.flatMap((telling) => claimFor(telling, subject, pspReference))
}

/** Which operation an event is about; undefined for one that was not made here. */
async function subjectOf(
  { pspReference, originalReference, eventCode }: Item,
  named: Named | undefined,
  records: Records,
): Promise<Subject | undefined> {
  const fits = (subject: Subject | undefined) =>
    subject !== undefined && fitting[subject.is].includes(eventCode) ? subject : undefined
  if (named !== undefined && named.is !== 'payment' && named.is !== 'undo') return fits(named)
  const known = fits(await modificationOf(records, pspReference))
  if (known !== undefined) return known
  const original = laterFailures.includes(eventCode)
    ? fits(await modificationOf(records, originalReference))
    : undefined
  if (original !== undefined || named === undefined) return original
  // Adyen captures a sale by itself, in the name of the payment.
  const { key } = named
  return (await paymentOf(records, key)).isSale === true ? fits({ is: 'sale', key }) : undefined
}

function claimFor(telling: Telling, subject: Subject, pspReference: string): readonly Claim[] {
  const { is, news } = telling
  const amount = { minor: BigInt(news.minor), currency: news.currency }
  const outcome = outcomeOf(subject, news, is, pspReference)
  const claim = { key: subject.key, amount }
  if (telling.is === 'done') {
    // A sale is done by its authorisation.
    if (subject.is === 'sale' && telling.round === 0) return []
    return [{ ...claim, eventId: eventId({ ...news, pspReference }, telling.round), outcome }]
  }
  const { again, by = news } = telling
  const doubt =
    again === undefined ? {} : { text: `told again after a success, for ${again || 'no date'}` }
  return [
    { ...claim, eventId: eventId({ ...by, pspReference }), outcome: { ...outcome, ...doubt } },
  ]
}

const cancelling: ReadonlySet<string> = new Set([
  'CANCELLATION',
  'CANCEL_OR_REFUND',
  'TECHNICAL_CANCEL',
])

/** Captures and refunds can still fail after their success: a settlement report makes them final. */
function outcomeOf(
  { is }: Subject,
  { eventCode, payment }: Pick<News, 'eventCode' | 'payment'>,
  told: 'done' | 'failed',
  pspReference: string,
): Outcome {
  // The capture of a sale is no operation of ours.
  const own = is === 'sale' ? {} : { modification: pspReference }
  const refs = { ...(payment === '' ? {} : { payment }), ...own }
  if (told === 'failed') {
    // In place of the payment, a failure may name what failed, and that would be another reference than before.
    return declined(failures[is], { refs: is === 'sale' ? refs : own, code: eventCode })
  }
  const isFinal = is === 'increment' || is === 'sale' || eventCode === 'CANCELLATION'
  return isFinal ? approved(refs) : accepted(refs, 'event')
}

const failures = {
  sale: '900.100.202',
  capture: '900.100.202',
  refund: '900.100.202',
  reverse: '700.300.700',
  increment: '800.100.152',
} as const

/** Adyen sends every event to each account of a merchant. Only the own one knows the amounts of some operations. */
const elsewhere = 'made elsewhere'

/** In which amount the engine knows the operation; undefined for an amount that our currencies do not have. */
async function amountOfItem(
  item: Item,
  told: 'done' | 'failed',
  { is, key, whole }: Subject,
  records: Records,
): Promise<Money | undefined | typeof elsewhere> {
  const said = moneyOf(item)
  if (is === 'reverse') {
    if (whole !== undefined) return { ...whole, minor: BigInt(whole.minor) }
    // A failure is told even without the name that we gave: the shopper's money did not go back.
    return told === 'failed' ? said : elsewhere
  }
  if (is !== 'increment') return said
  const minor = await increaseOf(records, key, said?.minor ?? 0n)
  if (minor === undefined) return elsewhere
  // Less than no increase is none that was asked for.
  return said === undefined || minor < 0n ? said : { ...said, minor }
}

/** A dispute is about the payment, which it may name by Adyen's reference alone. */
async function dispute(item: Item, { records, log }: Inner): Promise<readonly Claim[]> {
  const { eventCode, pspReference, originalReference } = item
  const named = readReference(item.merchantReference)
  const key =
    named?.is === 'payment' ? named.key : ((await keyBy(records, originalReference)) ?? named?.key)
  if (item.value === 0) return []
  if (key === undefined) {
    log.info(
      { event: eventCode },
      'a webhook tells of a dispute about a payment that was not made here',
    )
    return []
  }
  const is = eventCode === 'CHARGEBACK_REVERSED' ? 'chargebackReversal' : 'chargeback'
  const reference = disputeReference(pspReference, eventCode === 'SECOND_CHARGEBACK')
  const outcome = { is, reason: '000.100.200', refs: { dispute: pspReference } } as const
  const amount = moneyOf(item) ?? unreadable(item)
  return [{ eventId: eventId(item), key, outcome, amount, reference }]
}
