/** Applies the table of late words to decided payments, with one statement per word. */
import type { Money, Outcome } from '@tollgate/plugin-kit'
import { undoOf } from '../attention/store.ts'
import { engineActor } from '../audit/actor.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { amountSaid, isSameAmount, movedBy } from './amount-moved.ts'
import { endLate, held, minorOf, move } from './late-move.ts'
import { lateAccepted, treat } from './late-treatment.ts'
import type { Treatment } from './late-words.ts'
import { referencedBy } from './resume.ts'
import { capturesOf } from './store-dispute-read.ts'
import type { Entry } from './store-late.ts'
import type { Held, Payment, Source } from './types.ts'

/**
 * The result of a word; undefined: the payment is undecided or under reversal, and the word has to
 * wait.
 */
export type Applied = 'settled' | 'known' | 'conflict' | undefined

/** After a concurrent move, the word applies to the payment's new state. */
const tries = 5

/**
 * Applies a word to a decided payment. Safe to run any number of times: the statement moves only
 * rows that are unchanged since the read, and a repeated entry is listed once.
 *
 * @param amount The amount of the word, when given outside of its outcome.
 */
export async function applyLate(
  engine: Engine,
  attemptKey: string,
  outcome: Outcome,
  source: Source,
  amount?: Money,
): Promise<Applied> {
  for (let no = 1; no <= tries; no += 1) {
    const now = await held(engine, attemptKey)
    if (now === undefined) return 'known'
    const treatment = await treat(engine, now, outcome, amount)
    if (treatment === 'settle' || treatment === 'enquire') return undefined
    // A reversal is under way at this moment; its answer comes first.
    if (treatment === 'end-late' && isHeld(engine, now)) return undefined
    if (treatment === 'known') {
      await makeFirm(engine, now, outcome, source)
      return 'known'
    }
    if (
      await applyTreatment(engine, now, treatment, outcome, source, amountSaid(outcome, amount))
    ) {
      return treatment === 'list' || treatment === 'return' ? 'conflict' : 'settled'
    }
  }
  throw new Error('a late word met another one at every try')
}

const isHeld = ({ clock }: Engine, { attempt: { leaseUntil } }: Held) =>
  leaseUntil !== null && leaseUntil.getTime() > clock.realMs()

/** The acquirer confirms a late success as final, so later words no longer end it. */
async function makeFirm(engine: Engine, now: Held, outcome: Outcome, source: Source) {
  const { state, settledBy } = now.attempt
  if (state !== 'late' || settledBy !== lateAccepted || outcome.is !== 'approved') return
  await move(engine, now, { source, isOnlySaid: true })
}

/** @returns false when another process moved the payment first. */
async function applyTreatment(
  engine: Engine,
  now: Held,
  treatment: Treatment,
  outcome: Outcome,
  source: Source,
  amount: Money | undefined,
): Promise<boolean> {
  const { payment } = now
  const isOther = amount !== undefined && !isSameAmount(amount, movedBy(payment))
  const content = isOther ? `${outcome.is} ${amount.minor} ${amount.currency}` : outcome.is
  const said = {
    row: payment.state,
    outcome: outcome.is,
    source,
    refs: 'refs' in outcome ? (outcome.refs ?? {}) : {},
    ...('code' in outcome && outcome.code !== undefined ? { code: outcome.code } : {}),
    ...(outcome.is === 'declined' ? { reason: outcome.reason } : {}),
    ...(amount === undefined ? {} : { minor: String(amount.minor), currency: amount.currency }),
  }
  const entry = async (kind: Entry['kind'], detail: Entry['detail'], reference = '') => ({
    id: newId(),
    kind,
    reference,
    detail: { ...said, ...detail },
    freezes: await frozenBy(engine, kind, payment, outcome, isOther && reference !== ''),
  })
  // A word that is only listed settles nothing.
  const by = now.attempt.settledBy ?? source
  switch (treatment) {
    case 'list':
      return move(engine, now, {
        source: by,
        isOnlySaid: true,
        entry: await entry('conflict', {}, content),
        // The acquirer would repeat its answer to an enquiry, so this payment waits for another
        // kind of word.
        ...(payment.finalBy === 'poll' && source === 'enquiry'
          ? { finalBy: 'event' as const, look: null }
          : {}),
      })
    case 'return':
      return move(engine, now, {
        source: by,
        isOnlySaid: true,
        entry: await entry(
          'return',
          { minor: String(amount?.minor ?? minorOf(payment)) },
          isOther ? content : '',
        ),
      })
    case 'confirm':
      return move(engine, now, {
        source,
        finalBy: null,
        refs: outcome,
        look: null,
      })
    case 'fail':
      if (outcome.is !== 'declined') return true
      return move(engine, now, {
        source,
        to: 'gone',
        state: 'declined',
        attempt: 'declined',
        resultCode: outcome.reason,
        finalBy: null,
        refs: outcome,
        own: 'closed',
        beyond: { id: newId(), kind: 'late-failure', reference: '', detail: said },
        look: null,
        goesOn: true,
      })
    case 'take-back':
    case 'count':
      return move(engine, now, {
        source: outcome.is === 'accepted' ? lateAccepted : source,
        to: treatment === 'count' ? 'done' : 'open',
        attempt: 'late',
        late: { outcome, amount },
        entry: await entry('conflict', { minor: String(amount?.minor ?? payment.amount.minor) }),
        look: isOurs(treatment, source) ? { id: newId(), afterMs: 0 } : null,
      })
    case 'end-late':
      // A reversal of the engine's own is under way or done; a second way must not start.
      if ((await engine.lanes.single(undoOf(payment.id))).length > 0) {
        return move(engine, now, {
          source: by,
          isOnlySaid: true,
          entry: await entry('conflict', {}, content),
        })
      }
      return endLate(engine, now, engineActor, 'late-success-failed', said, source)
    default:
      return true
  }
}

/** Claims of settlement files and operations that cannot be undone are for operators alone. */
const isOurs = (treatment: Treatment, source: Source) =>
  treatment === 'take-back' && source !== 'settlement'

/**
 * Balances that wait for an operator: returned money, for an authorisation with its captures, or
 * money with two reported amounts.
 */
async function frozenBy(
  engine: Engine,
  kind: Entry['kind'],
  payment: Payment,
  outcome: Outcome,
  isOther: boolean,
): Promise<readonly string[]> {
  if (kind === 'return') {
    const captures = isAuthorisation(payment)
      ? await engine.lanes.single(capturesOf(payment.rootId))
      : []
    return [payment.rootId, ...captures.map(({ id }) => id)]
  }
  const isSuccess = outcome.is === 'approved' || outcome.is === 'accepted'
  if (payment.effect === 'undo') {
    const undoes = isSuccess ? await referencedBy(engine, payment) : undefined
    return undoes === undefined ? [] : [undoes.rootId]
  }
  const isTwoAmounts = isOther && (isSuccess || payment.state === 'approved')
  return isTwoAmounts
    ? [payment.rootId, ...(payment.parentId === null ? [] : [payment.parentId])]
    : []
}

const isAuthorisation = ({ effect }: Payment) =>
  effect === 'authorisation' || effect === 'replacement' || effect === 'increase'
