/** Adyen's webhooks as claims. Only signed fields have a meaning, so reasons of failures and disputes are not read. */
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
import { disputeReference } from './dispute.ts'
import { increaseOf, modificationOf, roundOf, wholeOf } from './modifications.ts'
import { moneyOf } from './money.ts'
import { type Modification, readReference } from './references.ts'
import { announce, isSettlementReport } from './reports.ts'
import { type Item, isProven, signedItems } from './signature.ts'
import { amendUndo, amountOf } from './undo.ts'

/** Adyen repeats a message until it reads this reply. */
export const reply: InboundReply = { body: '[accepted]' }

type Account = { readonly merchantAccount: string; readonly hmacKeys: string }
type Inner = Pick<Context, 'records' | 'log'>

/** @throws Error for anything but a webhook. */
export async function claimsOf(
  message: Inbound,
  { records, log, account }: Context<unknown, Account>,
): Promise<readonly Claim[]> {
  const proven = isProven(message, account.hmacKeys)
  const claims: Claim[] = []
  for (const { item } of signedItems(message)) {
    // A webhook of a whole company has items of its other accounts.
    if (item.merchantAccountCode !== account.merchantAccount) continue
    claims.push(...(await claimsIn(item, { records, log }, proven)))
  }
  return claims
}

/** Events about what was done to a payment, and whether the event tells its failure. */
const modifying: Readonly<Record<string, (success: boolean) => 'done' | 'failed' | undefined>> = {
  CAPTURE: (success) => (success ? 'done' : 'failed'),
  CAPTURE_FAILED: (success) => (success ? 'failed' : undefined),
  REFUND: (success) => (success ? 'done' : 'failed'),
  REFUND_FAILED: (success) => (success ? 'failed' : undefined),
  REFUNDED_REVERSED: (success) => (success ? 'failed' : undefined),
  CANCELLATION: (success) => (success ? 'done' : 'failed'),
  CANCEL_OR_REFUND: (success) => (success ? 'done' : 'failed'),
  TECHNICAL_CANCEL: (success) => (success ? 'done' : 'failed'),
  AUTHORISATION_ADJUSTMENT: (success) => (success ? 'done' : 'failed'),
}

async function claimsIn(item: Item, inner: Inner, proven: boolean): Promise<readonly Claim[]> {
  const { eventCode, success } = item
  if (eventCode === 'AUTHORISATION') return authorisation(item, inner, proven)
  const told = modifying[eventCode]?.(success)
  if (told !== undefined) return modification(item, told, inner, proven)
  if (!success) return []
  switch (eventCode) {
    case 'CHARGEBACK':
    case 'SECOND_CHARGEBACK':
    case 'CHARGEBACK_REVERSED':
      return dispute(item)
    case 'REPORT_AVAILABLE':
      if (proven && isSettlementReport(item.pspReference)) {
        await announce(inner.records, item.pspReference)
      }
      return []
    default:
      // Steps of a dispute without money, risk, tokens, payouts: nothing to be said about a payment.
      return []
  }
}

const eventId = ({ eventCode, pspReference, success }: Item, round = 0): string =>
  `${eventCode}.${pspReference}.${success}${round === 0 ? '' : `.${round}`}`

async function authorisation(
  item: Item,
  { records }: Inner,
  proven: boolean,
): Promise<readonly Claim[]> {
  const named = readReference(item.merchantReference)
  const amount = moneyOf(item)
  // A check of a card is for nothing.
  if (named?.is !== 'payment' || amount === undefined || amount.minor === 0n) return []
  const { key } = named
  const { pspReference: payment, success } = item
  if (proven) {
    // Where a reversal was asked for, it needs to know what became of the payment.
    await amendUndo(records, key, (known) =>
      success ? { ...known, payment, authorised: true } : { ...known, authorised: false },
    )
  }
  const refs = { payment }
  const outcome = success ? approved(refs) : declined('100.397.102', { refs })
  return [{ eventId: eventId(item), key, outcome, amount }]
}

async function modification(
  item: Item,
  told: 'done' | 'failed',
  inner: Inner,
  proven: boolean,
): Promise<readonly Claim[]> {
  const { records, log } = inner
  const { pspReference, originalReference, merchantReference, eventCode } = item
  const named = readReference(merchantReference)
  if (named?.is === 'undo' || (named?.is === 'payment' && cancelling.has(eventCode))) {
    return reversal(item, told, named, records, proven)
  }
  const known =
    named !== undefined && named.is !== 'payment'
      ? named
      : ((await modificationOf(records, pspReference)) ??
        (await modificationOf(records, originalReference)))
  if (known === undefined) {
    // Made in Adyen's Customer Area, by another system or by Adyen: the settlement report has its money.
    log.info({ event: eventCode }, 'a webhook tells of an operation that was not made here')
    return []
  }
  const is = known.is as Modification
  const amount = await amountOfItem(item, is, known.key, records)
  if (amount === undefined) return []
  const round = await roundOf(records, pspReference, told === 'failed', proven)
  const refs = {
    ...(originalReference === '' ? {} : { payment: originalReference }),
    modification: pspReference,
  }
  const outcome = outcomeOf(is, eventCode, told, refs)
  return [{ eventId: eventId(item, round), key: known.key, outcome, amount }]
}

const cancelling: ReadonlySet<string> = new Set([
  'CANCELLATION',
  'CANCEL_OR_REFUND',
  'TECHNICAL_CANCEL',
])

/** Captures and refunds can still fail after their success: a settlement report makes them final. */
function outcomeOf(
  is: Modification,
  eventCode: string,
  told: 'done' | 'failed',
  refs: Readonly<Record<string, string>>,
): Outcome {
  if (told === 'failed') return declined(failures[is], { refs, code: eventCode })
  const isFinal = is === 'increment' || eventCode === 'CANCELLATION'
  return isFinal ? approved(refs) : accepted(refs, 'event')
}

const failures = {
  capture: '900.100.202',
  refund: '900.100.202',
  reverse: '700.300.700',
  increment: '800.100.152',
} as const

/** In which amount the engine knows the operation. */
async function amountOfItem(
  item: Item,
  is: Modification,
  key: string,
  records: Records,
): Promise<Money | undefined> {
  const said = moneyOf(item)
  if (is === 'reverse') return (await wholeOf(records, key)) ?? said
  if (is !== 'increment' || said === undefined) return said
  const minor = await increaseOf(records, key, said.minor)
  // Less than no increase is none that was asked for.
  return minor === undefined || minor < 0n ? said : { ...said, minor }
}

/** The end of a reversal by key, or a cancellation that nobody here asked for. */
async function reversal(
  item: Item,
  told: 'done' | 'failed',
  { is, key }: { readonly is: string; readonly key: string },
  records: Records,
  proven: boolean,
): Promise<readonly Claim[]> {
  const { originalReference: payment, eventCode } = item
  const known = await amendUndo(records, key, (undo) => {
    if (!proven || undo.state === 'done') return undo
    if (told === 'done') return { ...undo, state: 'done' }
    // Adyen names the payment that it could not cancel: captured, refused, or cancelled before.
    const found = payment === '' ? {} : { payment }
    return undo.state === 'asked' ? { ...undo, ...found, state: 'failed' } : { ...undo, ...found }
  })
  const amount = known === undefined ? moneyOf(item) : amountOf(known)
  if (amount === undefined) return []
  const claim = { eventId: eventId(item), key, amount }
  if (told === 'done') {
    return [{ ...claim, outcome: { is: 'reversed', refs: { reversal: item.pspReference } } }]
  }
  // A payment that cannot be cancelled may be captured, or may never have been one: the next try asks again.
  const stands = is === 'undo' && eventCode === 'CANCEL_OR_REFUND' && known?.authorised === true
  const why = 'Adyen could not take the payment back'
  return stands ? [{ ...claim, outcome: { is: 'notReversed', why } }] : []
}

function dispute(item: Item): readonly Claim[] {
  const named = readReference(item.merchantReference)
  const amount = moneyOf(item)
  if (named?.is !== 'payment' || amount === undefined || amount.minor === 0n) return []
  const { eventCode, pspReference } = item
  const is = eventCode === 'CHARGEBACK_REVERSED' ? 'chargebackReversal' : 'chargeback'
  const reference = disputeReference(pspReference, eventCode === 'SECOND_CHARGEBACK')
  const outcome = { is, reason: '000.100.200', refs: { dispute: pspReference } } as const
  return [{ eventId: eventId(item), key: named.key, outcome, amount, reference }]
}
