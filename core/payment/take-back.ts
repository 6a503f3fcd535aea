/**
 * Takes a late success back: money that moved on a payment already answered as over. Safe to run any
 * number of times and anywhere: a reversal by key undoes once, a reversal of the engine's own is one
 * operation for one payment, and only the holder of the lease ends it.
 */
import type { Reversed } from '@tollgate/plugin-kit'
import { paymentTypes } from '@tollgate/schemas'
import { failedUndos, freezeWith, keyReversalOf, undoOf } from '../attention/store.ts'
import { engineActor } from '../audit/actor.ts'
import { addAudit } from '../audit/store.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { removeTimer } from '../timer/store.ts'
import { movedBy } from './amount-moved.ts'
import type { AttemptContext } from './attempt-context.ts'
import { beginStep } from './begin.ts'
import { ladder } from './decide.ts'
import { isChargedBack } from './dispute-fact.ts'
import { execute } from './execute.ts'
import { endLate, held } from './late-move.ts'
import { undone as endedByEngine } from './late-treatment.ts'
import { isOpen } from './late-words.ts'
import { ask } from './send.ts'
import { balanceById } from './store-read.ts'
import { dropLease, type LeaseRow, lookLater } from './store-settle.ts'
import { cannotBeUndone } from './sums.ts'
import type { Held, Payment } from './types.ts'

const reversal = paymentTypes.find(({ code }) => code === 'RV')!

type Undone =
  | { readonly is: 'undone'; readonly by: string }
  | { readonly is: 'open' }
  /** Operators have to look: the entry stands. */
  | { readonly is: 'refused'; readonly why: string }

/** @returns the payment as it is afterwards. */
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
    await note(engine, now, undone.why)
    // It would be refused again: whoever thinks otherwise redrives it.
    await engine.lanes.single(removeTimer('look', now.payment.attemptKey))
    await engine.lanes.single(dropLease(now.payment.attemptKey, taken.lease))
  }
  return now.payment
}

async function undo(engine: Engine, work: AttemptContext): Promise<Undone> {
  if (await isUsed(engine, work.payment)) {
    return { is: 'refused', why: 'it was captured, refunded, reversed or charged back before' }
  }
  if (cannotBeUndone.has(work.payment.effect))
    return { is: 'refused', why: 'a reversal is not undone' }
  // What was begun one way is not begun another way as well.
  const [begun] = await engine.lanes.single(undoOf(work.payment.id))
  if (begun === undefined && work.target.loaded.connector.resolve.reverseByKey !== undefined) {
    const undone = await byKey(engine, work)
    if (undone !== 'by operation') return undone
  }
  if (work.target.loaded.connector.reverse === undefined) {
    return { is: 'refused', why: 'the acquirer has no reversal' }
  }
  const why = unreversible(work)
  return why === undefined
    ? byOperation(engine, work.payment, begun !== undefined)
    : { is: 'refused', why }
}

async function byKey(engine: Engine, work: AttemptContext): Promise<Undone | 'by operation'> {
  const { resolve, reverse } = work.target.loaded.connector
  const { id } = work.payment
  const reversed: Reversed = await ask(engine, work, 'reverseByKey', resolve.reverseByKey!)
  switch (reversed.is) {
    case 'nothing':
      if (await isStillThere(engine, work)) {
        return {
          is: 'refused',
          why: 'the acquirer finds nothing to undo, and still has it as done',
        }
      }
      return { is: 'undone', by: 'reverseByKey: nothing' }
    case 'reversed':
      return { is: 'undone', by: 'reverseByKey: reversed' }
    case 'unknown':
      await engine.lanes.single(
        addAudit({
          actor: engineActor,
          action: 'reverse-by-key',
          entityId: work.payment.channelId,
          resource: id,
          detail: { result: reversed.is },
        }),
      )
      return { is: 'open' }
    case 'refused': {
      if (reverse === undefined) return { is: 'refused', why: reversed.why }
      // It may have been reversed by its key before, and is refused for that: nothing goes out twice.
      const [earlier] = await engine.lanes.single(keyReversalOf(id))
      if (earlier === undefined && (await isStillThere(engine, work))) return 'by operation'
      return { is: 'refused', why: `it may be undone already: ${reversed.why}` }
    }
  }
}

/** That nothing is there contradicts what was told: the acquirer is asked which of the two holds. */
async function isStillThere(engine: Engine, work: AttemptContext): Promise<boolean> {
  const handler = work.target.loaded.connector.resolve.enquire
  if (handler === undefined) return false
  const found = await ask(engine, work, 'enquire', handler)
  return found.is === 'approved' || found.is === 'accepted'
}

/** Why a reversal of the engine's own would undo something else than what was done. */
function unreversible({ payment, target }: AttemptContext): string | undefined {
  if (movedBy(payment).currency !== payment.amount.currency)
    return 'it was done in another currency'
  // What was added to an authorisation is a part of that.
  const isPart = payment.effect === 'increase'
  return isPart && target.loaded.connector.supports.reverse?.partial === false
    ? 'the acquirer reverses only the whole authorisation'
    : undefined
}

/**
 * It was given back at the acquirer while somebody else ended it here: kept, or given back by hand. Nothing
 * more goes out of it until an operator has looked.
 */
async function tellIfEndedOtherwise(
  engine: Engine,
  { id, attemptKey, rootId, channelId }: Payment,
  by: string,
) {
  const now = await held(engine, attemptKey)
  // Another process took it back as well, which the acquirer does once.
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

/** Of what was approved before, failed, and was done after all: some of it is elsewhere by now. */
async function isUsed(engine: Engine, payment: Payment): Promise<boolean> {
  const { id, rootId, effect, amount } = payment
  if (effect === 'increase') {
    const [root] = await engine.lanes.single(balanceById(rootId))
    return root !== undefined && root.excess > 0n
  }
  if (await isChargedBack(engine, payment)) return true
  const [row] = await engine.lanes.single(balanceById(id))
  if (row === undefined) return false
  // What was added to an authorisation is not reversed with its own amount.
  if (row.authorised + row.increasing > amount.minor) return true
  const { kind, captured, capturing, reversed, reversing, refunded, refunding, charged_back } = row
  const taken = kind === 'authorisation' ? captured + capturing : 0n
  return taken + reversed + reversing + refunded + refunding + charged_back > 0n
}

/** A reversal of the engine's own, once for the payment: linked with it, with a key and an outcome of its own. */
async function byOperation(engine: Engine, payment: Payment, isBegun: boolean): Promise<Undone> {
  const [{ failed, is_redriven: isRedriven } = { failed: 0, is_redriven: false }] =
    await engine.lanes.single(failedUndos(payment.id))
  // One that came to nothing stays the last one, unless an operator asked for another.
  const no = isBegun || isRedriven ? failed : Math.max(0, failed - 1)
  const begun = await beginStep(engine, payment, {
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
  if (begun === 'refused') return { is: 'open' }
  const done = 'replay' in begun ? begun.replay : await execute(engine, begun.work)
  // One that may still fail has undone nothing yet.
  if (done.state === 'approved' && done.finalBy === null) return { is: 'undone', by: done.id }
  if (done.state === 'approved') return { is: 'open' }
  if (isOpen(done.state)) return { is: 'open' }
  return { is: 'refused', why: `the reversal ${done.id} was declined (${done.resultCode})` }
}

const note = (engine: Engine, { payment }: Held, why: string) =>
  engine.lanes.single(
    addAudit({
      actor: engineActor,
      action: 'late-success-stands',
      entityId: payment.channelId,
      resource: payment.id,
      detail: { why },
    }),
  )
