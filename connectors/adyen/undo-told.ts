/** What webhooks tell about reversals by key: their ends, and cancellations that nobody here asked for. */
import type { Claim, Context } from '@tollgate/plugin-kit'
import { failureOf, successElsewhere } from './cancelled-elsewhere.ts'
import { eventId, ofOtherAccount, unreadable } from './claims.ts'
import { moneyOf } from './money.ts'
import { authorisedOf, isOwnPayment } from './payments.ts'
import type { Named } from './references.ts'
import type { Item } from './signature.ts'
import {
  amendUndo,
  amountOf,
  standingIn,
  takenBack,
  type Undo,
  withAuthorised,
  withNoted,
  withRefusal,
} from './undo.ts'
import { rememberTry, tryIn } from './undo-tries.ts'

type Reversal = Extract<Named, { is: 'payment' | 'undo' }>

/** @param isLater A failure that can follow a success: Adyen gave the money back, and it came back to the merchant. */
export async function reversal(
  item: Item,
  told: 'done' | 'failed',
  given: Reversal,
  isLater: boolean,
  { records, log }: Pick<Context, 'records' | 'log'>,
): Promise<readonly Claim[]> {
  const { eventCode } = item
  // A technical cancellation has the name of the payment, and can be told after the next try began.
  const isNameless = given.is === 'payment' && eventCode === 'TECHNICAL_CANCEL'
  const named = (isNameless ? await tryIn(records, item) : undefined) ?? given
  const { is, key } = named
  const isReturn = is === 'undo' && told === 'failed' && isLater
  const isReturned = (undo: Undo) => {
    const round = tryOf(undo, named, eventCode)?.round
    return round !== undefined && round <= (undo.returned ?? 0)
  }
  const isByOthers = isElsewhere(named, eventCode)
  const isBack =
    isByOthers && told === 'done' && (await failureOf(records, item.pspReference)) !== undefined
  const noted = await authorisedOf(records, key)
  const known = await amendUndo(records, key, (given) => {
    const undo = withNoted(given, noted)
    if (isReturn) return afterReturn(undo, item, named.round)
    if (isReturned(undo)) return undo
    if (isBack) return withNoted(undo, item.originalReference || undefined)
    if (told === 'done') return afterSuccess(undo, item, named)
    return undo.state === 'done' ? undo : afterFailure(undo, item, named)
  })
  const ours = known === undefined ? undefined : tryOf(known, named, eventCode)
  if (ours !== undefined && told === 'done') {
    await rememberTry(records, item.pspReference, key, ours.round)
    // Under another name, it came before anybody knew that it is about this try.
    const failure = await failureOf(records, item.pspReference)
    if (failure !== undefined)
      return reversal({ ...item, ...failure }, 'failed', ours, true, { records, log })
    // Its money came back already.
    if (known !== undefined && isReturned(known)) return []
  }
  const isOurs = known !== undefined || isReturn
  if (!isOurs && (is === 'undo' || eventCode === 'TECHNICAL_CANCEL')) {
    log.info({ event: eventCode }, 'a webhook tells of a reversal that was not asked for here')
    return []
  }
  const amount = known === undefined ? (moneyOf(item) ?? unreadable(item)) : amountOf(known)
  // An account that asked for nothing hears of the return only, and perhaps before the account that asked hears of the
  // success. So its word is another event, and the one of that account still follows the success.
  const isElsewhereAsked = isReturn && known === undefined
  const id = isElsewhereAsked ? ofOtherAccount(eventId(item)) : eventId(item)
  const claim = { eventId: id, key, amount }
  if (told === 'done') {
    const isStanding = standingIn(known?.payments) !== undefined
    if (isStanding) {
      // Another one, or this one, whose money came back to the merchant later.
      log.warn(
        { event: eventCode },
        'a webhook tells of a reversal, and a payment of its name stands',
      )
    }
    if (isByOthers) {
      const isOwn = known !== undefined || (await isOwnPayment(records, key))
      return successElsewhere(records, item, claim, isOwn ? !isStanding : undefined)
    }
    if (isStanding) return []
    return [{ ...claim, outcome: { is: 'reversed', refs: { reversal: item.pspReference } } }]
  }
  // A failure before or after the success that gave the money back takes nothing back.
  if (known?.state === 'done' && (!isReturn || isReturned(known))) return []
  // A payment that cannot be cancelled may be captured, or may never have been one: the next try asks again.
  const isLast = is === 'undo' && known !== undefined && isOfTry(known, named, eventCode)
  const isRefused = isLast && eventCode === 'CANCEL_OR_REFUND' && known.authorised === true
  const why = isElsewhereAsked
    ? 'another account at Adyen heard that the money of a reversal came back, perhaps before a later one took it back'
    : 'Adyen could not take the payment back'
  return isRefused || isReturn ? [{ ...claim, outcome: { is: 'notReversed', why } }] : []
}

/** The try that a webhook is about: a technical cancellation has the name of the payment. */
function tryOf(
  { round, by }: Undo,
  named: Reversal,
  eventCode: string,
): Extract<Named, { is: 'undo' }> | undefined {
  if (named.is === 'undo') return named
  const isOurs = eventCode === 'TECHNICAL_CANCEL' && by === 'reference'
  return isOurs ? { is: 'undo', key: named.key, round } : undefined
}

/** Whether a webhook is about the last try. */
const isOfTry = (undo: Undo, named: Reversal, eventCode: string): boolean =>
  tryOf(undo, named, eventCode)?.round === undo.round

/** Made under the payment's own name and not by a try of ours, as in the Customer Area. */
const isElsewhere = ({ is }: Reversal, eventCode: string): boolean =>
  is === 'payment' && eventCode !== 'TECHNICAL_CANCEL'

/** Adyen took a payment back. Another one of the same name may stand, or be under way. */
function afterSuccess(undo: Undo, item: Item, named: Reversal): Undo {
  const { unnamed: _, unnamedBy: __, ...known } = undo
  const psp = item.originalReference || pspOf(undo, item, named)
  const round = roundOf(undo, item, named)
  const by = isElsewhere(named, item.eventCode) ? item.pspReference : undefined
  const before = undo.payments ?? []
  const payments =
    psp === undefined
      ? before
      : withAuthorised(before, psp).map((one) =>
          one.psp === psp ? takenBack(psp, round, by) : one,
        )
  const isOther = payments.some(
    (one) => one.psp === undo.payment && one.undone === undefined && undo.by === 'payment',
  )
  const state = undo.state === 'asked' && isOther ? 'asked' : 'done'
  const unnamedBy = by === undefined ? {} : { unnamedBy: by }
  const unnamed = payments.length === 0 ? { unnamed: round, ...unnamedBy } : {}
  return { ...known, state, payments, ...unnamed }
}

/** The try that a webhook tells of; 0 for another way. */
function roundOf(undo: Undo, { eventCode }: Item, named: Reversal): number {
  if (named.is === 'undo') return named.round
  return isOfTry(undo, named, eventCode) ? undo.round : 0
}

/** The payment of a webhook that names none by Adyen's reference. */
function pspOf(undo: Undo, { eventCode }: Item, named: Reversal): string | undefined {
  const { payments = [] } = undo
  // What was cancelled in another way is the only payment that anybody told, unless it was taken back before.
  if (isElsewhere(named, eventCode) && payments.length === 1) return standingIn(payments)
  if (!isOfTry(undo, named, eventCode)) return undefined
  return undo.by === 'payment' ? undo.payment : standingIn(undo.payments)
}

/** The money of a try came back to the merchant, which says nothing about payments that other tries took back. */
function afterReturn(undo: Undo, item: Item, round: number): Undo {
  const { unnamed, unnamedBy: _, ...known } = undo
  const before = undo.payments ?? []
  const isLast = undo.round === round
  const isOfRound = unnamed === round || before.some(({ undone }) => undone === round)
  if (!isLast && !isOfRound) return undo
  const back = before.map((one) => (one.undone === round ? { psp: one.psp } : one))
  const psp = isLast ? undo.payment || item.originalReference : ''
  return {
    ...known,
    state: isLast || undo.state === 'done' ? 'failed' : undo.state,
    authorised: true,
    returned: Math.max(round, undo.returned ?? 0),
    payments: psp === '' ? back : withAuthorised(back, psp),
  }
}

/** Adyen names the payment that it could not cancel: captured, refused, or cancelled before. */
function afterFailure(undo: Undo, item: Item, named: Reversal): Undo {
  const { originalReference: payment, eventCode } = item
  // A try under way stays one of the payment that it named.
  const found = payment === '' || undo.by === 'payment' ? {} : { payment }
  const isEnd = undo.state === 'asked' && isOfTry(undo, named, eventCode)
  return isEnd ? { ...withRefusal(undo), ...found, state: 'failed' } : { ...undo, ...found }
}
