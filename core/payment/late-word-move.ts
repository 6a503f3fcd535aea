/** Carries out the treatment of a late word: one statement per move of a decided payment. */
import type { Money, Outcome, Refs } from '@tollgate/plugin-kit'
import type { Actor } from '../audit/actor.ts'
import { storable } from '../db/json.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { heldBy, movedBy } from './amount-moved.ts'
import { minus, moveBetween, type Place, placeOf, sumsAt } from './balance-rules.ts'
import { answerOf, approvedCode, ownBalance } from './decide.ts'
import type { Told } from './late-word-table.ts'
import { givenBack, lateAccepted, undone } from './late-word-treatment.ts'
import { announce, eventOf, notifies, type PaymentEvent, storedEvent } from './payment-event.ts'
import { referencedBy, returnsOf } from './rebuild-attempt.ts'
import { type Entry, heldPayment, type LateMove, moveLate } from './store-late-word.ts'
import { paymentByChain, toPayment } from './store-read.ts'
import type { StoredReferences } from './stored-references.ts'
import type { AttemptState, Held, Payment } from './types.ts'

export async function held(engine: Engine, attemptKey: string): Promise<Held | undefined> {
  const [row] = await engine.lanes.single(heldPayment(attemptKey))
  if (row === undefined) return undefined
  return {
    payment: toPayment(row),
    attempt: {
      state: row.attempt_state,
      lease: row.lease,
      leaseUntil: row.lease_until,
      enquiries: row.enquiries,
      settledBy: row.settled_by,
      stage: row.stage,
    },
  }
}

/** Ends a late success that no longer counts: taken back, failed later, or undone by hand. */
export function endLate(
  engine: Engine,
  now: Held,
  actor: Actor,
  action: string,
  detail: Readonly<Record<string, unknown>>,
  endedBy: string = actor.kind === 'engine' ? undone : givenBack,
): Promise<boolean> {
  return move(engine, now, {
    source: endedBy,
    to: 'gone',
    attempt: now.payment.state === 'expired' ? 'expired' : 'declined',
    ends: ['conflict'],
    audit: { id: newId(), actor, action, detail },
    look: null,
  })
}

/** An operator keeps the money of a late success; the payment becomes approved. */
export function keepLate(
  engine: Engine,
  now: Held,
  actor: Actor,
  detail: Readonly<Record<string, unknown>>,
  references?: Refs,
): Promise<boolean> {
  const { payment, attempt } = now
  // A success that was only accepted may still fail, as any other accepted operation.
  const mayFail = attempt.settledBy === lateAccepted
  const finalBy = mayFail ? (payment.answer.late?.finalBy ?? null) : null
  const approvedMinor = payment.parentId === null ? movedBy(payment).minor : payment.amount.minor
  return move(engine, now, {
    source: 'operator',
    to: 'done',
    state: 'approved',
    attempt: 'approved',
    resultCode: approvedCode[payment.mode],
    approvedMinor,
    finalBy,
    own: 'open',
    ownDifference: approvedMinor - payment.amount.minor,
    balance: ownBalance(payment, payment.effect, approvedMinor),
    ends: ['conflict'],
    audit: { id: newId(), actor, action: 'payment.kept', detail },
    look: finalBy === 'poll' ? { id: newId(), afterMs: 0 } : null,
    goesOn: true,
    ...(references !== undefined && { references: { refs: references, isByOperator: true } }),
    beyond: {
      id: newId(),
      kind: 'beyond-sums',
      reference: 'kept',
      detail: { why: 'the money that was kept is beyond what was left' },
    },
  })
}

export const minorOf = (payment: Payment) => payment.approvedMinor ?? payment.amount.minor

export type Change = {
  readonly source: string
  readonly to?: Place
  readonly state?: Payment['state']
  readonly attempt?: AttemptState
  readonly resultCode?: string
  readonly approvedMinor?: bigint
  readonly finalBy?: null | 'event' | 'poll'
  /** The outcome whose references the payment keeps. */
  readonly refs?: Outcome
  /** References alone: the acquirer's, or those of an operator. With `isOnlySaid`, if none changed since the read. */
  readonly references?: {
    readonly refs: Refs
    readonly isByOperator: boolean
    /** The name of the first one, if the refs of a success have it. */
    readonly first?: string | undefined
  }
  /** The late success that the payment keeps beside its answer. */
  readonly late?: {
    readonly outcome: Told
    readonly amount: Money | undefined
    /** The name of the first reference, if the success gives it. */
    readonly named?: string | undefined
    /** The payment was reversed by its key before. */
    readonly isAfterReversal?: boolean
  }
  /** The reversal by key failed: none is open any more. */
  readonly isNotReversed?: true
  /** Nothing moves: the lease holder continues. */
  readonly isOnlySaid?: true
  readonly own?: LateMove['own']
  readonly ownDifference?: bigint
  readonly balance?: LateMove['balance']
  readonly entry?: LateMove['entry']
  readonly beyond?: Entry
  readonly ends?: LateMove['ends']
  readonly audit?: LateMove['audit']
  /** Null: no enquiry is left; undefined: unchanged. */
  readonly look?: LateMove['look']
  /** The other step of a two-step payment follows. */
  readonly goesOn?: boolean
  /** A charge of a schedule failed, and the policy for declines applies. */
  readonly endsExecution?: boolean
}

/** @returns whether the payment moved; false when another process moved it first. */
export async function move(engine: Engine, now: Held, change: Change): Promise<boolean> {
  const { payment } = now
  const { statement, event } = await lateMove(engine, now, change)
  await faultPoint('before-late', payment.id)
  const [done] = await engine.lanes.inOrder(payment.parentId ?? payment.id, () =>
    engine.lanes.single(statement),
  )
  await faultPoint('after-late', payment.id)
  if (done === undefined) return false
  if (event !== null) {
    const { state, code } = event.data
    announce(engine, { ...payment, state, resultCode: code }, event, done.seq)
  }
  return true
}

/** The statement of a move, for a commit of its own or beside the end of the payment. */
export async function lateMove(
  engine: Engine,
  now: Held,
  change: Change,
): Promise<{
  readonly statement: ReturnType<typeof moveLate>
  readonly event: PaymentEvent | null
}> {
  const { payment, attempt } = now
  const { effect, amount } = payment
  const from = placeOf(effect, payment.state, attempt.state)
  const to = change.to ?? from
  const isMarked = effect === 'replacement' || payment.request.sequence === 'FINAL'
  const before = heldBy(payment, movedBy(payment))
  const after = change.late === undefined ? before : heldBy(payment, change.late.amount)
  const moved = moveBetween(effect, amount.minor, from, to, isMarked, { from: before, to: after })
  const state = change.state ?? payment.state
  const code = change.resultCode ?? payment.resultCode
  const approvedMinor = state === 'approved' ? (change.approvedMinor ?? minorOf(payment)) : null
  const event =
    state === payment.state ? null : eventOf(newId(), payment, state, code, {}, approvedMinor)
  const referenced = await referencedBy(engine, payment)
  const returns = returnsOf(payment, referenced)
  const statement = moveLate({
    paymentId: payment.id,
    attemptKey: payment.attemptKey,
    from: { attempt: attempt.state, lease: attempt.lease },
    isFence: change.isOnlySaid !== true,
    to: {
      attempt: change.attempt ?? attempt.state,
      state,
      resultCode: code,
      approvedMinor,
      finalBy: change.finalBy === undefined ? payment.finalBy : change.finalBy,
      answer: answerAfter(payment, change),
      references: referencesAfter(payment, change),
    },
    source: change.source,
    event: event === null ? null : storedEvent(event),
    notifies: notifies(payment),
    amountMinor: after,
    move: moved,
    ownIfReversed: minus(reversedAt(payment, to, after), reversedAt(payment, from, before)),
    parentId: payment.parentId,
    returnedTo: returns?.balanceId ?? null,
    returnedCapture:
      returns === null
        ? null
        : { id: returns.captureId, isFinal: referenced?.request.sequence === 'FINAL' },
    own: change.own ?? 'kept',
    ownDifference: change.ownDifference ?? 0n,
    balance: change.balance ?? null,
    erasesInstrument: state === 'declined' && payment.state === 'approved',
    entry: change.entry ?? null,
    beyond: change.beyond ?? null,
    ends: change.ends ?? [],
    audit: change.audit ?? null,
    look: change.look ?? null,
    keepsLook: change.look === undefined,
    goesOn: change.goesOn === true ? await otherStep(engine, payment) : null,
    execution:
      change.endsExecution !== true || payment.scheduleId === null
        ? null
        : { id: newId(), scheduleId: payment.scheduleId },
  })
  return { statement, event }
}

/** A reversed capture no longer counts on its authorisation, even after its success. */
const reversedAt = ({ effect }: Payment, place: Place, minor: bigint) =>
  sumsAt(effect, minor, effect === 'capture' && place === 'done' ? 'gone' : place)

const finalByOf = (said: Extract<Outcome, { is: 'accepted' }>['finalBy']) =>
  typeof said === 'string' ? 'event' : 'poll'

/** Null: unchanged, whatever the lease holder wrote since the payment was read. */
function answerAfter({ answer }: Payment, { refs, late, isNotReversed }: Change): string | null {
  if (refs !== undefined) return storable(answerOf(answer, refs))
  if (late === undefined && isNotReversed !== true) return null
  const { asked, ...before } = answer
  const mark = isNotReversed === true || asked === undefined ? {} : { asked }
  if (late === undefined) return storable({ ...before, ...mark })
  const { outcome, amount, named, isAfterReversal } = late
  return storable({
    ...before,
    ...mark,
    ...(named !== undefined && { named }),
    late: {
      ...(amount === undefined ? {} : { minor: String(amount.minor), currency: amount.currency }),
      ...(outcome.is === 'accepted' && { finalBy: finalByOf(outcome.finalBy) }),
      ...(isAfterReversal === true && { afterReversal: true as const }),
    },
  })
}

/** Other references than those that a move names stay as they are. */
function referencesAfter({ answer }: Payment, change: Change): StoredReferences {
  const { references, refs, late, isOnlySaid } = change
  const said = refs ?? late?.outcome
  const named = references?.refs ?? (said !== undefined && 'refs' in said ? (said.refs ?? {}) : {})
  const isExpected = references !== undefined && isOnlySaid === true
  const seen = { refs: answer.refs ?? {}, byOperator: answer.byOperator ?? {} }
  return {
    named: storable(named),
    isByOperator: references?.isByOperator === true,
    first: references?.first ?? null,
    seen: isExpected ? storable(seen) : null,
  }
}

/** A change of one step requires work on the other step, found by the authorisation. */
async function otherStep(engine: Engine, payment: Payment): Promise<LateMove['goesOn']> {
  if (payment.chainId !== null) return { id: newId(), authorisationId: payment.id }
  if (payment.effect === 'release') {
    const released = await referencedBy(engine, payment)
    return released?.chainId == null ? null : { id: newId(), authorisationId: released.id }
  }
  if (payment.effect !== 'capture') return null
  const [authorisation] = await engine.lanes.single(paymentByChain(payment.id, null))
  return authorisation === undefined ? null : { id: newId(), authorisationId: authorisation.id }
}
