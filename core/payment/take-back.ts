/**
 * Takes back a late success: money that moved on a payment already declined or expired. Safe to run
 * any number of times and anywhere: a reversal by key undoes once, the engine's own reversal is one
 * operation per payment, and only the lease holder ends it.
 */
import type { Found, Reversed } from '@tollgate/plugin-kit'
import { paymentTypes } from '@tollgate/schemas'
import {
  failedUndos,
  freezeWith,
  keyReversalOf,
  requestedReversal,
  stands,
  undoOf,
} from '../attention/store.ts'
import { engineActor } from '../audit/actor.ts'
import { addAudit } from '../audit/store.ts'
import type { AuditEntry } from '../audit/stored-rows.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { movedBy } from './amount-moved.ts'
import { listIfOfAnother } from './another-operation.ts'
import type { AttemptContext } from './attempt-context.ts'
import { cannotBeUndone } from './balance-rules.ts'
import { ladder } from './decide.ts'
import { execute } from './execute.ts'
import { endLate, held } from './late-word-move.ts'
import { isOpen } from './late-word-table.ts'
import { undone as endedByEngine } from './late-word-treatment.ts'
import { reserveStep } from './reserve-follow-up.ts'
import { ask } from './send.ts'
import { balanceById } from './store-read.ts'
import { forgetAsked, type LeaseRow, lookLater, markAsked } from './store-settle.ts'
import { leaveToOperators, toldSince } from './store-take-back.ts'
import { reversalByKey } from './supported.ts'
import type { Held, Payment } from './types.ts'
import { mayBeChargedBack } from './waiting-dispute.ts'

const reversal = paymentTypes.find(({ code }) => code === 'RV')!

type Undone =
  | { readonly is: 'undone'; readonly by: string }
  | { readonly is: 'open' }
  /** Operators have to look: the entry stays open. */
  | { readonly is: 'refused'; readonly why: string; readonly outcome?: 'notReversed' }

/** @returns the payment afterwards. */
export async function takeBack(
  engine: Engine,
  work: AttemptContext,
  taken: LeaseRow,
): Promise<Payment> {
  const now = await held(engine, work.payment.attemptKey)
  if (now === undefined) return work.payment
  if (now.attempt.state !== 'late' || now.attempt.lease !== taken.lease) return now.payment
  const undone = await undo(engine, work)
  if (undone.is === 'undone') {
    const isEnded = await endLate(engine, now, engineActor, 'late-success-reversed', {
      by: undone.by,
    })
    if (!isEnded) await tellIfEndedOtherwise(engine, now.payment, undone.by)
  } else if (undone.is === 'open') {
    const afterMs = ladder(Math.max(0, taken.take_backs - 1))
    await engine.lanes.single(
      lookLater(now.payment.attemptKey, taken.lease, newId(), afterMs, true),
    )
  } else {
    // Otherwise the money could not be kept before the answer to a request that is not under way.
    if (undone.outcome === 'notReversed' || undone === ofOther) {
      await engine.lanes.single(forgetAsked(now.payment.attemptKey, taken.lease))
    }
    // The acquirer would refuse again; an operator who disagrees redrives the reversal.
    await engine.lanes.single(
      leaveToOperators(now.payment.attemptKey, taken.lease, noteOf(now, undone)),
    )
  }
  return now.payment
}

const used = {
  is: 'refused',
  why: 'it was captured, refunded, reversed or charged back before, or a chargeback of it was reported',
} as const

async function undo(engine: Engine, work: AttemptContext): Promise<Undone> {
  if (await isUsed(engine, work.payment)) return used
  if (cannotBeUndone.has(work.payment.effect))
    return { is: 'refused', why: 'a reversal is not undone' }
  // The acquirer would answer with the reversal that it carried out before this money was paid out.
  if (work.payment.answer.late?.afterReversal === true)
    return { is: 'refused', why: 'it was reversed by its key before' }
  // A reversal that began one way continues that way.
  const [begun] = await engine.lanes.single(undoOf(work.payment.id))
  if (begun === undefined && reversalByKey(work) !== undefined) {
    const undone = await byKey(engine, work)
    if (undone !== 'by operation') return undone
  }
  if (work.target.loaded.connector.reverse === undefined) {
    return { is: 'refused', why: 'the acquirer has no reversal' }
  }
  // A chargeback can have been told while the acquirer was asked.
  if (begun === undefined && (await isUsed(engine, work.payment))) return used
  const why = unreversible(work)
  return why === undefined
    ? byOperation(engine, work.payment, begun !== undefined)
    : { is: 'refused', why }
}

async function byKey(engine: Engine, work: AttemptContext): Promise<Undone | 'by operation'> {
  const { resolve, reverse } = work.target.loaded.connector
  const { id, attemptKey, answer } = work.payment
  const requested = await endOfRequest(engine, work)
  if (requested !== undefined) return requested
  if (await isUsed(engine, work.payment)) return used
  // After a death between the request and its answer, the key may be reversed.
  const marked = await engine.lanes.single(markAsked(work.payment, work.lease))
  if (marked.length === 0) return notBegun(engine, work.payment)
  const reversed: Reversed = await ask(engine, work, 'reverseByKey', resolve.reverseByKey!)
  const mayBeReversed = answer.asked === true
  const isOther = reversed.is === 'reversed' && (await listIfOther(engine, work, reversed))
  const isNothing = reversed.is === 'refused' || reversed.is === 'nothing'
  if (reversed.is === 'requested' || isOther || (isNothing && !mayBeReversed)) {
    await engine.lanes.single(forgetAsked(attemptKey, work.lease))
  }
  switch (reversed.is) {
    case 'nothing': {
      const undone = afterNothing[await isStillThere(engine, work)]
      if (undone.is === 'open') await noteAnswer(engine, work, reversed)
      return undone
    }
    case 'reversed':
      return isOther ? ofOther : { is: 'undone', by: 'reverseByKey: reversed' }
    case 'requested':
    case 'unknown':
      await noteAnswer(engine, work, reversed)
      return { is: 'open' }
    case 'refused': {
      if (reverse === undefined) return { is: 'refused', why: reversed.why }
      // An earlier reversal by key may be the reason for this refusal, so nothing is reversed
      // twice.
      const [earlier] = await engine.lanes.single(keyReversalOf(id))
      const isFirst = earlier === undefined && !mayBeReversed
      const now = isFirst ? await isStillThere(engine, work) : 'not known yet'
      if (now === 'yes') return 'by operation'
      if (now === 'not reversed') return failed
      return { is: 'refused', why: `it may be undone already: ${reversed.why}` }
    }
  }
}

const noteAnswer = (engine: Engine, { payment }: AttemptContext, { is }: Reversed) =>
  engine.lanes.single(
    addAudit({
      actor: engineActor,
      action: 'reverse-by-key',
      entityId: payment.channelId,
      resource: payment.id,
      detail: { result: is },
    }),
  )

/**
 * An enquiry finds the end of a reversal that the acquirer took earlier. Undefined where none was
 * taken, where nobody can be asked, or after an operator's redrive: the reversal is requested again.
 * After a failure nothing is requested again without a redrive.
 */
async function endOfRequest(engine: Engine, work: AttemptContext): Promise<Undone | undefined> {
  const handler = work.target.loaded.connector.resolve.enquire
  const [last] = await engine.lanes.single(requestedReversal(work.payment.id))
  if (last?.is_failed === true && (!last.is_requested || handler === undefined)) return failed
  if (last?.is_requested !== true || handler === undefined) return undefined
  const found = await ask(engine, work, 'enquire', handler)
  if (found.is !== 'requested' && (await listIfOther(engine, work, found))) {
    if (last.is_redriven) return undefined
    if (found.is === 'reversed') return ofOther
    return last.is_failed ? failed : { is: 'open' }
  }
  switch (found.is) {
    case 'reversed':
      return { is: 'undone', by: 'enquire: reversed' }
    case 'notReversed':
      return last.is_redriven ? undefined : { ...failed, why: found.why }
    case 'notFound':
      return last.is_failed ? failed : undefined
    case 'declined':
      return last.is_redriven ? undefined : { is: 'refused', why: 'the acquirer calls it declined' }
    case 'requested':
      return { is: 'open' }
    default:
      if (last.is_failed) return failed
      return last.is_redriven ? undefined : { is: 'open' }
  }
}

/** Lists another operation under the key that the acquirer names. Returns whether it was one. */
const listIfOther = (engine: Engine, { payment }: AttemptContext, told: Found): Promise<boolean> =>
  listIfOfAnother(engine, payment, told, 'while a late success was taken back')

const ofOther: Undone = {
  is: 'refused',
  why: 'the acquirer reversed another operation under its key',
}

const failed = { is: 'refused', why: 'its reversal failed', outcome: 'notReversed' } as const

type Standing = 'yes' | 'not reversed' | 'no' | 'not known yet'

/** What "nothing to undo" means, by whether the operation stands. */
const afterNothing: Readonly<Record<Standing, Undone>> = {
  yes: { is: 'refused', why: 'the acquirer finds nothing to undo, and still has it as done' },
  'not reversed': failed,
  'not known yet': { is: 'open' },
  no: { is: 'undone', by: 'reverseByKey: nothing' },
}

/**
 * The acquirer contradicts itself, so an enquiry finds out whether the operation stands. An operation
 * that the acquirer told of may be invisible to its enquiries for a time. Where nobody can be asked,
 * the success that was told counts: the acquirer, or its connector, may hear of it later than the engine.
 */
async function isStillThere(engine: Engine, work: AttemptContext): Promise<Standing> {
  const { connector } = work.target.loaded
  if (connector.resolve.enquire === undefined) return 'not known yet'
  const found = await ask(engine, work, 'enquire', connector.resolve.enquire)
  if (await listIfOther(engine, work, found)) return 'not known yet'
  switch (found.is) {
    case 'approved':
    case 'accepted':
      return 'yes'
    case 'notReversed':
      return 'not reversed'
    case 'declined':
    case 'reversed':
    case 'notSent':
      return 'no'
    case 'notFound': {
      const visibleMs = engine.connectorTimeoutMs + connector.supports.enquiryVisibleAfterMs
      const [told] = await engine.lanes.single(toldSince(work.payment.id))
      return told !== undefined && told.ms < visibleMs ? 'not known yet' : 'no'
    }
    default:
      return 'not known yet'
  }
}

/** Why the engine's own reversal would undo another operation. */
function unreversible({ payment, target }: AttemptContext): string | undefined {
  if (movedBy(payment).currency !== payment.amount.currency)
    return 'it was done in another currency'
  // An increase is part of its authorisation.
  const isPart = payment.effect === 'increase'
  return isPart && target.loaded.connector.supports.reverse?.partial === false
    ? 'the acquirer reverses only the whole authorisation'
    : undefined
}

/**
 * The acquirer gave the money back, while an operator here kept it or gave it back by hand. The
 * payment's money is frozen until an operator has looked.
 */
async function tellIfEndedOtherwise(
  engine: Engine,
  { id, attemptKey, rootId, channelId }: Payment,
  by: string,
) {
  const now = await held(engine, attemptKey)
  // Another process took the success back as well; the acquirer reverses once.
  if (now === undefined || now.attempt.settledBy === endedByEngine) return
  const how = now.payment.state === 'approved' ? 'kept' : 'ended'
  const detail = { why: `it was taken back at the acquirer while it was ${how} here`, by }
  await engine.lanes.single(
    addAudit({
      actor: engineActor,
      action: 'late-success-reversed',
      entityId: channelId,
      resource: id,
      detail: { by, how },
    }),
  )
  await engine.lanes.single(
    freezeWith(newId(), 'conflict', id, attemptKey, 0, detail, 'taken back', rootId),
  )
}

/** A chargeback came in between, or another process goes on. */
const notBegun = async (engine: Engine, payment: Payment): Promise<Undone> =>
  (await isUsed(engine, payment)) ? used : { is: 'open' }

/** Whether money of a revived payment has since been used elsewhere. */
async function isUsed(engine: Engine, payment: Payment): Promise<boolean> {
  const { id, rootId, effect, amount } = payment
  if (await mayBeChargedBack(engine, payment)) return true
  if (effect === 'increase') {
    const [root] = await engine.lanes.single(balanceById(rootId))
    return root !== undefined && root.excess > 0n
  }
  const [row] = await engine.lanes.single(balanceById(id))
  if (row === undefined) return false
  // The reversal of an increased authorisation needs more than its own amount.
  if (row.authorised + row.increasing > amount.minor) return true
  const { kind, captured, capturing, reversed, reversing, refunded, refunding, charged_back } = row
  const taken = kind === 'authorisation' ? captured + capturing : 0n
  return taken + reversed + reversing + refunded + refunding + charged_back > 0n
}

/** The engine's own reversal, once per payment, with its own key and outcome. */
async function byOperation(engine: Engine, payment: Payment, isBegun: boolean): Promise<Undone> {
  const [{ failed, is_redriven: isRedriven } = { failed: 0, is_redriven: false }] =
    await engine.lanes.single(failedUndos(payment.id))
  // A failed reversal stays the last one, unless an operator requests another.
  const no = isBegun || isRedriven ? failed : Math.max(0, failed - 1)
  const begun = await reserveStep(engine, payment, {
    step: no === 0 ? 'take-back' : `take-back ${no + 1}`,
    type: reversal,
    effect: 'undo',
    amountMinor: movedBy(payment).minor,
    fields: {
      paymentType: 'RV',
      ...(payment.merchantTransactionId === null
        ? {}
        : { merchantTransactionId: payment.merchantTransactionId }),
    },
  })
  if (begun === 'refused') return notBegun(engine, payment)
  const done = 'replay' in begun ? begun.replay : await execute(engine, begun.work)
  // A reversal that may still fail has undone nothing yet.
  if (done.state === 'approved' && done.finalBy === null) return { is: 'undone', by: done.id }
  if (done.state === 'approved') return { is: 'open' }
  if (isOpen(done.state)) return { is: 'open' }
  return { is: 'refused', why: `the reversal ${done.id} was declined (${done.resultCode})` }
}

const noteOf = (
  { payment }: Held,
  { why, outcome }: Extract<Undone, { is: 'refused' }>,
): AuditEntry => ({
  id: newId(),
  actor: engineActor,
  action: stands,
  entityId: payment.channelId,
  resource: payment.id,
  detail: outcome === undefined ? { why } : { why, outcome },
})
