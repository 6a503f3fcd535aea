/** The first commit of a follow-up: its amount is reserved and its rows are written, before anything is sent. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Connector, notSent, type RequestFields } from '@tollgate/plugin-kit'
import { limits, type PaymentType } from '@tollgate/schemas'
import { neverReached, outcomeUnknown, sqlState, violated } from '../db/database.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { textOf } from '../request/values.ts'
import type { AttemptContext } from './attempt-context.ts'
import { attemptKey } from './attempt-key.ts'
import { applyBackPressure } from './back-pressure.ts'
import { callTime, endOf } from './call-time.ts'
import { carriedOver, handlerKind } from './follow-up-rules.ts'
import { followingPayment } from './following-payment.ts'
import { type Idempotency, idempotencyForStep, replayed } from './idempotency.ts'
import { placeOf } from './instrument.ts'
import { leaseMs } from './lease.ts'
import type { Effect } from './operation-kinds.ts'
import { kindOf, operationOf, returnsOf } from './resume.ts'
import { sealNumbers } from './sealed-numbers.ts'
import { settle } from './settle.ts'
import { type FollowUpRow, reserve } from './store-follow-up.ts'
import { attemptByKey, paymentByAttempt, paymentById, toPayment } from './store-read.ts'
import { withoutSecrets } from './stored-request.ts'
import { supportedBy } from './supported.ts'
import type { Payment } from './types.ts'
import { unavailable } from './write-first.ts'

export type AcceptedFollowUp = { readonly work: AttemptContext } | { readonly replay: Payment }

/** A step that the engine takes by itself: once for the payment that it belongs to. */
export type Step = {
  readonly step: 'CP' | 'RV' | 'take-back' | `take-back ${number}`
  readonly type: PaymentType
  readonly effect: Effect
  /** Null: the whole open rest. */
  readonly amountMinor: bigint | null
  readonly fields: RequestFields
  /** Where the step's payment has its id already. */
  readonly id?: string
}

/** @returns the step as it was begun before, or `refused` when the sums do not allow it. */
export function beginStep(
  engine: Engine,
  target: Payment,
  { step, id, ...more }: Step,
): Promise<AcceptedFollowUp | 'refused'> {
  const keyedBy = idempotencyForStep(target.id, step)
  return begin(engine, target, { ...more, id: id ?? newId(), idempotency: keyedBy, isOurs: true })
}

export type Beginning = {
  readonly id: string
  readonly type: PaymentType
  readonly effect: Effect
  /** Null: the whole open rest. */
  readonly amountMinor: bigint | null
  readonly fields: RequestFields
  readonly idempotency: Idempotency | null
  /** By the engine itself: never turned away for being too much, and known by the acquirer's key alone. */
  readonly isOurs: boolean
}

/** @returns `refused` when the balance gave nothing. */
export async function begin(
  engine: Engine,
  target: Payment,
  beginning: Beginning,
): Promise<AcceptedFollowUp | 'refused'> {
  const { id, type, effect, idempotency, isOurs } = beginning
  const chosen = await engine.targets.of(target, handlerKind(effect, type))
  const { connector } = chosen.loaded
  if (!isOurs) applyBackPressure(engine, connector)
  const time = callTime(engine, connector)
  const keyOf = (no: number) => attemptKey(engine, connector, id, idempotency, no)
  const numbers = chargesAnew(effect) ? await engine.vault.unseal(placeOf(target)) : undefined
  const payment = await followUpOf(engine, target, beginning, keyOf(1))
  const row: FollowUpRow = {
    ...rowOf(beginning, connector, target, leaseMs(time.timeoutMs)),
    ...(await sealedAgain(engine, target, payment, numbers)),
    payment,
  }
  await faultPoint('before-T1', id)
  const written = await engine.lanes.inOrder(payment.parentId ?? id, () =>
    writeFollowUp(engine, row, isOurs, keyOf),
  )
  if (written === 'replay') return { replay: await replayed(engine, idempotency!) }
  if (written === 'refused') return 'refused'
  if ('replay' in written) return written
  await faultPoint('after-T1', id)
  const minor = written.amountMinor ?? target.approvedMinor ?? target.amount.minor
  const begun = { ...written.row.payment, amount: { ...payment.amount, minor } }
  const work: AttemptContext = {
    payment: begun,
    lease: 1,
    target: chosen,
    operation: await operationOf(engine, begun, kindOf(begun), target, numbers),
    begun: { is: 'follow-up', row: { ...written.row, amountMinor: minor } },
    returns: returnsOf(begun, target),
    ...endOf(engine, time),
  }
  if (!written.isUnsure) return { work }
  // It may stand in the database and was not sent: open, until the database says what it has.
  engine.inFlight.track(endUnsure(engine, work, written.row)).catch(() => {})
  return { replay: begun }
}

/** The payment as it will stand; of the whole open rest, its amount is known once it is reserved. */
function followUpOf(
  engine: Engine,
  target: Payment,
  { id, type, effect, amountMinor, fields }: Beginning,
  key: string,
): Promise<Payment> {
  return followingPayment(engine, target, {
    id,
    entityId: textOf(fields, 'entityId') ?? target.channelId,
    rootId: effect === 'increase' ? target.rootId : id,
    parentId: effect === 'undo' ? null : target.rootId,
    amount: { minor: amountMinor ?? 0n, currency: target.amount.currency },
    paymentType: type.code,
    effect,
    attemptKey: key,
    merchantTransactionId: textOf(fields, 'merchantTransactionId') ?? null,
    request: withoutSecrets(fields, carriedOver(target, effect)),
  })
}

/** What the first commit has to know beside the payment and its numbers. */
function rowOf(
  { type, effect, amountMinor, fields, idempotency, isOurs }: Beginning,
  connector: Connector,
  target: Payment,
  lease: number,
): Omit<FollowUpRow, 'payment' | keyof SealedAgain> {
  return {
    amountMinor,
    attemptKind: handlerKind(effect, type),
    leaseMs: lease,
    final: textOf(fields, 'sequence') === 'FINAL',
    ...supportedBy(connector, effect),
    undoneKey: effect === 'undo' ? target.attemptKey : null,
    idempotencyKey: isOurs ? null : (idempotency?.key ?? null),
    idempotencyFingerprint: isOurs ? null : (idempotency?.fingerprint ?? null),
  }
}

type SealedAgain = Pick<FollowUpRow, 'dataKeyId' | 'fingerprint' | 'sealed'>

/** A replacement outlives what it replaces: the numbers are sealed for it once more. */
async function sealedAgain(
  engine: Engine,
  target: Payment,
  { id, channelId, effect }: Payment,
  numbers: Readonly<Record<string, string>> | undefined,
): Promise<SealedAgain> {
  if (numbers === undefined || effect !== 'replacement') {
    return { dataKeyId: null, fingerprint: null, sealed: null }
  }
  const merchantId = await engine.directory.merchantOf(target.channelId)
  return sealNumbers(engine, merchantId, { id, channelId, registrationId: null }, numbers)
}

/** Whether it was written becomes known with the database: then it stands, as declined and safe to repeat. */
async function endUnsure(engine: Engine, work: AttemptContext, row: FollowUpRow): Promise<void> {
  const untilMs = engine.clock.elapsedMs() + limits.keptOutcomeMs
  while (!engine.inFlight.over && engine.clock.elapsedMs() < untilMs) {
    try {
      // Its own row stands in the way of a second one.
      await engine.lanes.single(reserve(row)).catch((error: unknown) => {
        if (sqlState(error) !== '23505') throw error
      })
      const [found] = await engine.lanes.single(paymentById(row.payment.id, null))
      if (found !== undefined) {
        await settle(engine, { ...work, payment: toPayment(found) }, notSent(unsure), 'answer')
      }
      return
    } catch (error) {
      if (!outcomeUnknown(error)) throw error
      await pause(250)
    }
  }
}

const unsure = 'the database did not answer whether the operation was written, so it was not sent'

/** A rebill and a new authorisation charge the instrument again; all others go by reference. */
function chargesAnew(effect: Effect): boolean {
  return effect === 'sale' || effect === 'replacement' || effect === 'increase'
}

type Written =
  | { row: FollowUpRow; amountMinor: bigint | null; isUnsure: boolean }
  | { replay: Payment }
  | 'refused'
  | 'replay'

async function writeFollowUp(
  engine: Engine,
  first: FollowUpRow,
  isOurs: boolean,
  keyNumber: (no: number) => string,
): Promise<Written> {
  let row = first
  for (let no = 1; ; no += 1) {
    try {
      const [reserved] = await engine.lanes.single(reserve(row))
      if (reserved !== undefined)
        return { row, amountMinor: reserved.amount_minor, isUnsure: false }
      // A reservation whose answer was lost stands in the way of its own repeat.
      const own = await ownRow(engine, row)
      if (own !== undefined) return { row, amountMinor: own.amount_minor, isUnsure: false }
      const step = isOurs ? await byKey(engine, row) : undefined
      return step === undefined ? 'refused' : { replay: step }
    } catch (error) {
      if (sqlState(error) !== '23505') {
        if (!outcomeUnknown(error)) throw error
        // It may be there all the same: to be told "send it again" could do it twice. An engine's step is
        // found again by its key.
        if (neverReached(error) || isOurs) throw unavailable()
        return { row, amountMinor: row.amountMinor, isUnsure: true }
      }
      const own = await ownRow(engine, row)
      if (own !== undefined) return { row, amountMinor: own.amount_minor, isUnsure: false }
      if (violated(error) === 'idempotency_pkey') return 'replay'
      if (isOurs) {
        const step = await byKey(engine, row)
        if (step !== undefined) return { replay: step }
      }
      if (violated(error) !== 'attempt_pkey' || no > 8) throw error
      row = { ...row, payment: { ...row.payment, attemptKey: keyNumber(no + 1) } }
    }
  }
}

/** The step that another process, or this one earlier, has begun, or put on record as refused. */
async function byKey(engine: Engine, { payment }: FollowUpRow): Promise<Payment | undefined> {
  const [begun] = await engine.lanes.single(paymentByAttempt(payment.attemptKey))
  const [found] =
    begun === undefined ? await engine.lanes.single(paymentById(payment.id, null)) : [begun]
  return found?.referenced_id === payment.referencedId ? toPayment(found) : undefined
}

/**
 * The row of this very call, when an earlier run of its commit went through. A step has the same id and
 * key whoever begins it: the number of its short id tells whose it is.
 */
async function ownRow(engine: Engine, { payment }: FollowUpRow) {
  const [attempt] = await engine.lanes.single(attemptByKey(payment.attemptKey))
  if (attempt?.payment_id !== payment.id) return undefined
  const [own] = await engine.lanes.single(paymentById(payment.id, null))
  return own?.short_no === payment.shortNo ? own : undefined
}
