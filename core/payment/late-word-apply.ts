/** Applies the table of late words to decided payments, with one statement per word. */
import type { Money } from '@tollgate/plugin-kit'
import { addAttention, undoOf } from '../attention/store.ts'
import { engineActor } from '../audit/actor.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { amountSaid } from './amount-moved.ts'
import { cannotBeUndone } from './balance-rules.ts'
import { countStanding, letStand } from './late-stands.ts'
import { entryOf, type LateWord, lateWordOf } from './late-word-entry.ts'
import { type Change, endLate, held, lateMove, minorOf, move } from './late-word-move.ts'
import { isOpenStanding, standingOf, type Told, type Treatment } from './late-word-table.ts'
import { type LineDoubt, lateAccepted, treat, undone, wentBack } from './late-word-treatment.ts'
import { broughtTo, namedIn, replacementOf, sameAs } from './reference-origin.ts'
import { paymentById } from './store-read.ts'
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
 * @param line Of a settlement line: how surely it is about the payment.
 */
export async function applyLateWord(
  engine: Engine,
  attemptKey: string,
  outcome: Told,
  source: Source,
  amount?: Money,
  line?: LineDoubt,
): Promise<Applied> {
  for (let no = 1; no <= tries; no += 1) {
    const now = await held(engine, attemptKey)
    if (now === undefined) return 'known'
    if (isOpenStanding(standingOf(now.payment, now.attempt.state))) return undefined
    const treatment = await treat(engine, now, outcome, source, amount, line)
    // A reversal is under way at this moment; its answer comes first.
    if (aboutReversals.has(treatment) && isHeld(engine, now)) return undefined
    const word = lateWordOf(engine, now, outcome, source, amountSaid(outcome, amount))
    if (treatment === 'known') {
      const firm = await makeFirm(engine, now, outcome, source)
      if (await learnReferences(engine, firm, outcome, source, word.amount)) return 'known'
      continue
    }
    if (await applyTreatment(engine, word, treatment)) {
      return treatment === 'list' || treatment === 'return' ? 'conflict' : 'settled'
    }
  }
  throw new Error(`a late word about attempt ${attemptKey} was overtaken ${tries} times`)
}

/** Treatments that depend on the answer of a reversal. */
const aboutReversals: ReadonlySet<Treatment> = new Set(['end-late', 'undone', 'stand'])

const isHeld = ({ clock }: Engine, { attempt: { leaseUntil } }: Held) =>
  leaseUntil !== null && leaseUntil.getTime() > clock.realMs()

/**
 * The acquirer confirms a late success as final, so later words no longer end it. Returns the late success as it is
 * after that.
 */
async function makeFirm(engine: Engine, now: Held, outcome: Told, source: Source): Promise<Held> {
  const { state, settledBy } = now.attempt
  if (state !== 'late' || settledBy !== lateAccepted || outcome.is !== 'approved') return now
  // A settlement file confirms what the acquirer told before: the engine still takes that back.
  const firmBy = source === 'settlement' ? 'event' : source
  const isFirm = await move(engine, now, { source: firmBy, isOnlySaid: true })
  return isFirm ? { ...now, attempt: { ...now.attempt, settledBy: firmBy } } : now
}

/**
 * A success repeats what a person or a settlement file decided, or a late success, and names references that the
 * payment lacks: without them the acquirer could not refund it, and a second success would pass for the first one.
 * It replaces those of an operator; others stay.
 *
 * @returns false when another process moved the payment first.
 */
async function learnReferences(
  engine: Engine,
  now: Held,
  outcome: Told,
  source: Source,
  amount: Money | undefined,
): Promise<boolean> {
  const { payment, attempt } = now
  const isSuccess = outcome.is === 'approved' || outcome.is === 'accepted'
  if ((payment.state !== 'approved' && attempt.state !== 'late') || !isSuccess) return true
  // A success of zero moved nothing, so its reference is not that of the money.
  if (amount?.minor === 0n && payment.amount.minor > 0n) return true
  // The late success can have come without the reference that a decline before it gave.
  const isNamed = attempt.state !== 'late' || payment.answer.named !== undefined
  const own = isNamed ? {} : sameAs(payment, outcome.refs)
  const refs = { ...own, ...broughtTo(payment, outcome.refs) }
  if (Object.keys(refs).length === 0) return true
  return move(engine, now, {
    source: attempt.settledBy ?? source,
    isOnlySaid: true,
    references: {
      refs,
      isByOperator: false,
      first: namedIn(engine, payment, { ...outcome, refs }),
    },
    audit: replacementOf(payment, refs, source),
  })
}

/** @returns false when another process moved the payment first. */
async function applyTreatment(
  engine: Engine,
  word: LateWord,
  treatment: Treatment,
): Promise<boolean> {
  const { now, outcome, source, amount } = word
  switch (treatment) {
    case 'list':
      return listContradiction(engine, word)
    case 'return':
      return listReturn(engine, word)
    case 'confirm':
      if (outcome.is !== 'approved') return true
      // What approved it stays on record.
      return move(engine, now, {
        ...{ source: now.attempt.settledBy ?? source, finalBy: null, look: null },
        refs: { ...outcome, refs: broughtTo(now.payment, outcome.refs) ?? {} },
        audit: replacementOf(now.payment, outcome.refs, source),
      })
    case 'fail':
      return failAccepted(engine, word)
    case 'take-back':
    case 'count':
      return countLate(engine, word, treatment)
    case 'stand':
      return outcome.is !== 'notReversed' || letStand(engine, now, outcome, source)
    case 'count-standing':
      return outcome.is !== 'notReversed' || countStanding(engine, now, outcome, source, amount)
    case 'undone':
    case 'end-late':
      return endUnlessReversed(engine, word, treatment)
    default:
      return true
  }
}

/** A word that is only listed settles nothing. */
const listed = ({ now, source }: LateWord) => ({
  source: now.attempt.settledBy ?? source,
  isOnlySaid: true as const,
})

async function listContradiction(engine: Engine, word: LateWord): Promise<boolean> {
  const { now, source, content } = word
  return move(engine, now, {
    ...listed(word),
    entry: await entryOf(engine, word, 'conflict', {}, content),
    ...withoutPoll(now, source),
  })
}

/** The acquirer would repeat its answer to an enquiry, so the payment waits for another kind of word. */
function withoutPoll({ payment }: Held, source: Source): Pick<Change, 'finalBy' | 'look'> {
  const isPollAnswer = payment.finalBy === 'poll' && source === 'enquiry'
  return isPollAnswer ? { finalBy: 'event', look: null } : {}
}

async function listReturn(engine: Engine, word: LateWord): Promise<boolean> {
  const { now, source, amount, isOtherAmount, isOfAnother, content } = word
  const detail = { minor: String(amount?.minor ?? minorOf(now.payment)) }
  const reference = isOtherAmount || isOfAnother ? content : ''
  return move(engine, now, {
    ...listed(word),
    entry: await entryOf(engine, word, 'return', detail, reference),
    ...withoutPoll(now, source),
  })
}

/** An accepted operation failed: it is declined, and its amount no longer counts. */
async function failAccepted(
  engine: Engine,
  { now, outcome, source, said }: LateWord,
): Promise<boolean> {
  if (outcome.is !== 'declined') return true
  // Before the move, which a repeat of the word does not find again, and after it, for a decision beside it.
  await tellOriginal(engine, now.payment)
  const isMoved = await move(engine, now, {
    source,
    to: 'gone',
    state: 'declined',
    attempt: 'declined',
    resultCode: outcome.reason,
    finalBy: null,
    // A settlement file calls the payment by the references of its success.
    refs: { ...outcome, refs: broughtTo(now.payment, outcome.refs) ?? {} },
    own: 'closed',
    beyond: { id: newId(), kind: 'late-failure', reference: '', detail: said },
    look: null,
    goesOn: true,
    endsExecution: true,
  })
  if (isMoved) await tellOriginal(engine, now.payment)
  return isMoved
}

/** A reversal of the engine's own failed, and nobody waits for its end any more: the money is still taken. */
async function tellOriginal(engine: Engine, { id, effect, referencedId }: Payment): Promise<void> {
  if (effect !== 'undo' || referencedId === null) return
  const [row] = await engine.lanes.single(paymentById(referencedId, null))
  const original = row && (await held(engine, row.attempt_key))
  if (original === undefined || original.attempt.state === 'late') return
  const { payment } = original
  const why = `its reversal ${id} failed after the money was said to be back`
  await engine.lanes.single(
    addAttention(newId(), 'conflict', payment.id, payment.attemptKey, 0, { why }, `undo ${id}`),
  )
}

/** Money moved on a payment that is over: counted and listed; the engine takes it back if it can. */
async function countLate(
  engine: Engine,
  word: LateWord,
  treatment: 'take-back' | 'count',
): Promise<boolean> {
  return move(engine, word.now, await countedAs(engine, word, treatment))
}

/** The same beside the end of the payment, so that no death of a process hides the money. */
export async function countBeside(
  engine: Engine,
  over: Held,
  outcome: Told,
  source: Source,
  amount?: Money,
): Promise<Sql> {
  const word = lateWordOf(engine, over, outcome, source, amountSaid(outcome, amount))
  const treatment = cannotBeUndone.has(over.payment.effect) ? 'count' : 'take-back'
  return (await lateMove(engine, over, await countedAs(engine, word, treatment))).statement
}

async function countedAs(
  engine: Engine,
  word: LateWord,
  treatment: 'take-back' | 'count',
): Promise<Change> {
  const { now, outcome, source, amount } = word
  const detail = { minor: String(amount?.minor ?? now.payment.amount.minor) }
  return {
    source: outcome.is === 'accepted' ? lateAccepted : source,
    to: treatment === 'count' ? 'done' : 'open',
    attempt: 'late',
    late: {
      outcome,
      amount,
      named: namedIn(engine, now.payment, outcome),
      isAfterReversal: source === 'settlement' && (await wentBack(engine, now)),
    },
    entry: await entryOf(engine, word, 'conflict', detail),
    look: isOurs(treatment, source) ? { id: newId(), afterMs: 0 } : null,
  }
}

/**
 * Ends a late success that failed or was taken back. Lists the word when the engine reverses the
 * success already: a second way must not start.
 */
async function endUnlessReversed(
  engine: Engine,
  word: LateWord,
  treatment: 'end-late' | 'undone',
): Promise<boolean> {
  const { now, source, content, said } = word
  const [reversal] = await engine.lanes.single(undoOf(now.payment.id))
  if (reversal === undefined) {
    return treatment === 'undone'
      ? endLate(engine, now, engineActor, 'late-success-reversed', { by: source }, undone)
      : endLate(engine, now, engineActor, 'late-success-failed', said, source)
  }
  const entry = await entryOf(engine, word, 'conflict', { isGone: true }, content)
  return move(engine, now, { ...listed(word), entry })
}

/** Claims of settlement files and operations that cannot be undone are for operators alone. */
const isOurs = (treatment: Treatment, source: Source) =>
  treatment === 'take-back' && source !== 'settlement'
