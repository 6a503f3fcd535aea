/** Words about payments that were answered: applies the table, in one statement for each. */
import type { Money, Outcome } from '@tollgate/plugin-kit'
import { type Actor, engineActor } from '../audit/actor.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { announce, eventOf, notifies } from './announce.ts'
import { answerOf, approvedCode, ownBalance } from './decide.ts'
import { movedBy } from './moved.ts'
import { referencedBy, returnsOf } from './rebuild.ts'
import { storable } from './storable.ts'
import { type Entry, heldPayment, type LateMove, moveLate } from './store-late.ts'
import { paymentByChain, toPayment } from './store-read.ts'
import { minus, moveBetween, type Place, placeOf, sumsAt } from './sums.ts'
import { givenBack, lateAccepted, treat, undone } from './treat.ts'
import type { AttemptState, Payment, Source } from './types.ts'
import type { Treatment } from './words.ts'

/** A payment with its attempt, as both were at one moment. */
export type Held = {
  readonly payment: Payment
  readonly attempt: {
    readonly state: AttemptState
    readonly lease: number
    readonly leaseUntil: Date | null
    readonly enquiries: number
    readonly settledBy: string | null
  }
}

/** What came of a word; undefined: the payment is undecided, and settling is not done here. */
export type Applied = 'settled' | 'known' | 'conflict' | undefined

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
    },
  }
}

/** Somebody moves the payment at the same moment: then its new state is what the word is about. */
const tries = 5

/**
 * Applies a word to a payment that is decided. Safe to run any number of times: the statement moves
 * only what is as it was read, and listing the same twice lists it once.
 *
 * @param amount What the word is about, where it says so beside its outcome.
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
    if (treatment === 'known') {
      await makeFirm(engine, now, outcome, source)
      return 'known'
    }
    if (await carryOut(engine, now, treatment, outcome, source)) {
      return treatment === 'list' || treatment === 'return' ? 'conflict' : 'settled'
    }
  }
  throw new Error('a late word met another one at every try')
}

/** A late success that might still fail is told to be final: nothing unsays it by a word any more. */
async function makeFirm(engine: Engine, now: Held, outcome: Outcome, source: Source) {
  const { state, settledBy } = now.attempt
  if (state !== 'late' || settledBy !== lateAccepted || outcome.is !== 'approved') return
  await move(engine, now, { source })
}

/** @returns false when somebody else moved the payment first. */
async function carryOut(
  engine: Engine,
  now: Held,
  treatment: Treatment,
  outcome: Outcome,
  source: Source,
): Promise<boolean> {
  const { payment } = now
  const said = {
    row: payment.state,
    outcome: outcome.is,
    source,
    refs: 'refs' in outcome ? (outcome.refs ?? {}) : {},
    ...('code' in outcome && outcome.code !== undefined ? { code: outcome.code } : {}),
    ...(outcome.is === 'declined' ? { reason: outcome.reason } : {}),
    ...(outcome.is === 'approved' && outcome.amount !== undefined
      ? { minor: String(outcome.amount.minor), currency: outcome.amount.currency }
      : {}),
  }
  const entry = (kind: Entry['kind'], detail: Entry['detail'], reference = '') => ({
    id: newId(),
    kind,
    reference,
    detail: { ...said, ...detail },
    freezes: frozenBy(kind, payment, outcome),
  })
  // What is only listed settles nothing.
  const by = now.attempt.settledBy ?? source
  switch (treatment) {
    case 'list':
      return move(engine, now, { source: by, entry: entry('conflict', {}, contentOf(outcome)) })
    case 'return':
      return move(engine, now, {
        source: by,
        entry: entry('return', { minor: String(minorOf(payment)) }),
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
        late: outcome,
        entry: entry('conflict', { minor: String(saidMinor(outcome) ?? payment.amount.minor) }),
        look: isOurs(treatment, source) ? { id: newId(), afterMs: 0 } : null,
      })
    case 'end-late':
      return endLate(engine, now, engineActor, 'late-success-failed', said, source)
    default:
      return true
  }
}

/** What a settlement file says, and what cannot be undone, is for operators alone. */
const isOurs = (treatment: Treatment, source: Source) =>
  treatment === 'take-back' && source !== 'settlement'

const saidMinor = (outcome: Outcome) =>
  outcome.is === 'approved' ? outcome.amount?.minor : undefined

/** Balances that wait for an operator: what came back, or money of which two amounts are told. */
function frozenBy(kind: Entry['kind'], payment: Payment, outcome: Outcome): readonly string[] {
  if (kind === 'return') return [payment.rootId]
  const isTwoAmounts = outcome.is === 'approved' && payment.state === 'approved'
  return isTwoAmounts
    ? [payment.rootId, ...(payment.parentId === null ? [] : [payment.parentId])]
    : []
}

/** Tells words of one kind about one payment apart: the same one is listed once. */
function contentOf(outcome: Outcome): string {
  const amount = outcome.is === 'approved' ? outcome.amount : undefined
  return amount === undefined ? outcome.is : `${outcome.is} ${amount.minor} ${amount.currency}`
}

/** A late success that counts for nothing any more: taken back, failed after all, or undone by hand. */
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

/** An operator keeps the money of a late success: the payment is approved after all. */
export function keepLate(
  engine: Engine,
  now: Held,
  actor: Actor,
  detail: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const { payment } = now
  const approvedMinor = payment.parentId === null ? movedBy(payment).minor : payment.amount.minor
  return move(engine, now, {
    source: 'operator',
    to: 'done',
    state: 'approved',
    attempt: 'approved',
    resultCode: approvedCode[payment.mode],
    approvedMinor,
    own: 'open',
    balance: ownBalance(payment, payment.effect, approvedMinor),
    ends: ['conflict'],
    audit: { id: newId(), actor, action: 'payment.kept', detail },
    look: null,
    goesOn: true,
    beyond: {
      id: newId(),
      kind: 'beyond-sums',
      reference: 'kept',
      detail: { why: 'the money that was kept is beyond what was left' },
    },
  })
}

const minorOf = (payment: Payment) => payment.approvedMinor ?? payment.amount.minor

type Change = {
  readonly source: string
  readonly to?: Place
  readonly state?: Payment['state']
  readonly attempt?: AttemptState
  readonly resultCode?: string
  readonly approvedMinor?: bigint
  readonly finalBy?: null
  /** The outcome whose references the payment keeps. */
  readonly refs?: Outcome
  /** The late success that the payment keeps beside its answer. */
  readonly late?: Outcome
  readonly own?: LateMove['own']
  readonly balance?: LateMove['balance']
  readonly entry?: LateMove['entry']
  readonly beyond?: Entry
  readonly ends?: LateMove['ends']
  readonly audit?: LateMove['audit']
  /** Null: no look is left; undefined: as it is. */
  readonly look?: LateMove['look']
  /** The other step of a two-step payment follows. */
  readonly goesOn?: boolean
}

async function move(engine: Engine, now: Held, change: Change): Promise<boolean> {
  const { payment, attempt } = now
  const { effect, amount } = payment
  const from = placeOf(effect, payment.state, attempt.state)
  const to = change.to ?? from
  const isMarked = effect === 'replacement' || payment.request.sequence === 'FINAL'
  const moved = moveBetween(effect, amount.minor, from, to, isMarked)
  const state = change.state ?? payment.state
  const code = change.resultCode ?? payment.resultCode
  const event = state === payment.state ? null : eventOf(newId(), payment, state, code)
  const referenced = await referencedBy(engine, payment)
  const returns = returnsOf(payment, referenced)
  const statement = moveLate({
    paymentId: payment.id,
    attemptKey: payment.attemptKey,
    from: { attempt: attempt.state, lease: attempt.lease },
    to: {
      attempt: change.attempt ?? attempt.state,
      state,
      resultCode: code,
      approvedMinor: state === 'approved' ? (change.approvedMinor ?? minorOf(payment)) : null,
      finalBy: change.finalBy === null ? null : payment.finalBy,
      answer: storable(answerAfter(payment, change)),
    },
    source: change.source,
    event:
      event === null ? null : { id: event.id, type: event.type, data: JSON.stringify(event.data) },
    notifies: notifies(payment),
    move: moved,
    ownIfReversed: minus(reversedAt(payment, to), reversedAt(payment, from)),
    parentId: payment.parentId,
    returnedTo: returns?.balanceId ?? null,
    returnedCapture:
      returns === null
        ? null
        : { id: returns.captureId, isFinal: referenced?.request.sequence === 'FINAL' },
    own: change.own ?? 'kept',
    balance: change.balance ?? null,
    erasesInstrument: state === 'declined' && payment.state === 'approved',
    entry: change.entry ?? null,
    beyond: change.beyond ?? null,
    ends: change.ends ?? [],
    audit: change.audit ?? null,
    look: change.look ?? null,
    keepsLook: change.look === undefined,
    goesOn: change.goesOn === true ? await otherStep(engine, payment) : null,
  })
  await faultPoint('before-late', payment.id)
  const [done] = await engine.lanes.inOrder(payment.parentId ?? payment.id, () =>
    engine.lanes.single(statement),
  )
  await faultPoint('after-late', payment.id)
  if (done === undefined) return false
  if (event !== null) {
    announce(engine, { ...payment, state, resultCode: code }, event, done.seq)
  }
  return true
}

/** A reversed capture counts for nothing on its authorisation, even where it is done. */
const reversedAt = ({ effect, amount }: Payment, place: Place) =>
  sumsAt(effect, amount.minor, effect === 'capture' && place === 'done' ? 'gone' : place)

function answerAfter(payment: Payment, { refs, late }: Change): Payment['answer'] {
  if (refs !== undefined) return answerOf(payment.answer, refs)
  if (late === undefined) return payment.answer
  const said = 'refs' in late ? (late.refs ?? {}) : {}
  const amount = late.is === 'approved' ? late.amount : undefined
  return {
    ...payment.answer,
    refs: { ...payment.answer.refs, ...said },
    late: amount === undefined ? {} : { minor: String(amount.minor), currency: amount.currency },
  }
}

/** A payment in two steps has to do something when one of them changed: looked at by its authorisation. */
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
