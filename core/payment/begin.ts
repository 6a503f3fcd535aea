/** The first commit of a follow-up: its amount is reserved and its rows are written, before anything is sent. */
import { setTimeout as pause } from 'node:timers/promises'
import { notSent, type RequestFields } from '@tollgate/plugin-kit'
import { limits, type PaymentType } from '@tollgate/schemas'
import { businessNow } from '../business-time/time.ts'
import { neverReached, outcomeUnknown, sqlState, violated } from '../db/database.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { idTimeMs, newId } from '../ids.ts'
import { textOf } from '../request/values.ts'
import { unavailable } from './accept.ts'
import type { AttemptContext } from './attempt-context.ts'
import { attemptKey } from './attempt-key.ts'
import { applyBackPressure } from './back-pressure.ts'
import { carriedOver, handlerKind } from './follow-up-rules.ts'
import { type Idempotency, idempotencyForStep, replayed } from './idempotency.ts'
import { placeOf } from './instrument.ts'
import type { Effect } from './operation-kinds.ts'
import { kindOf, operationOf, returnsOf } from './resume.ts'
import { sealNumbers } from './sealed-numbers.ts'
import { settle } from './settle.ts'
import { type FollowUpRow, reserve } from './store-follow-up.ts'
import { attemptByKey, paymentByAttempt, paymentById, toPayment } from './store-read.ts'
import { withoutSecrets } from './stored-request.ts'
import { supportedBy } from './supported.ts'
import type { Payment } from './types.ts'

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
  { id, type, effect, amountMinor, fields, idempotency, isOurs }: Beginning,
): Promise<AcceptedFollowUp | 'refused'> {
  const chosen = await engine.targets.of(target, handlerKind(effect, type))
  const { connector } = chosen.loaded
  if (!isOurs) applyBackPressure(engine, connector)
  const startedMs = engine.clock.elapsedMs()
  const timeoutMs = Math.min(
    engine.connectorTimeoutMs,
    connector.supports.limits?.timeoutMs ?? Number.POSITIVE_INFINITY,
  )
  const numbers = chargesAnew(effect) ? await engine.vault.unseal(placeOf(target)) : undefined
  const sealed =
    numbers === undefined || effect !== 'replacement'
      ? null
      : sealNumbers(
          engine,
          await engine.directory.merchantOf(target.channelId),
          { ...target, id, registrationId: null },
          numbers,
        )
  const row: FollowUpRow = {
    id,
    channelId: target.channelId,
    entityId: textOf(fields, 'entityId') ?? target.channelId,
    rootId: effect === 'increase' ? target.rootId : null,
    parentId: effect === 'undo' ? null : target.rootId,
    referencedId: target.id,
    accountId: target.accountId,
    shortNo: await engine.shortNumbers.take(),
    amountMinor,
    // In real time a payment is created at the time in its id: searches order by the id alone.
    createdAt:
      target.clockId === null
        ? new Date(idTimeMs(id))
        : await businessNow(engine, target.channelId, target.clockId),
    currency: target.amount.currency,
    paymentType: type.code,
    effect,
    mode: target.mode,
    method: target.method,
    brand: target.brand,
    connector: target.connector,
    merchantTransactionId: textOf(fields, 'merchantTransactionId') ?? null,
    clockId: target.clockId,
    request: JSON.stringify(withoutSecrets(fields, carriedOver(target, effect))),
    attemptKey: attemptKey(engine, connector, id, idempotency, 1),
    attemptKind: handlerKind(effect, type),
    leaseMs: timeoutMs + limits.flushBudgetMs + limits.leaseMarginMs,
    final: textOf(fields, 'sequence') === 'FINAL',
    ...supportedBy(connector, effect),
    undoneKey: effect === 'undo' ? target.attemptKey : null,
    dataKeyId: sealed?.dataKeyId ?? null,
    fingerprint: sealed?.fingerprint ?? null,
    sealed: sealed?.sealed ?? null,
    idempotencyKey: isOurs ? null : (idempotency?.key ?? null),
    idempotencyFingerprint: isOurs ? null : (idempotency?.fingerprint ?? null),
  }
  await faultPoint('before-T1', id)
  const written = await engine.lanes.inOrder(row.parentId ?? row.id, () =>
    write(engine, row, isOurs, (no) => attemptKey(engine, connector, id, idempotency, no)),
  )
  if (written === 'replay') return { replay: await replayed(engine, idempotency!) }
  if (written === 'refused') return 'refused'
  if ('replay' in written) return written
  await faultPoint('after-T1', id)
  const payment = paymentOf(
    written.row,
    written.amountMinor ?? target.approvedMinor ?? target.amount.minor,
  )
  const work: AttemptContext = {
    payment,
    lease: 1,
    target: chosen,
    operation: await operationOf(engine, payment, kindOf(payment), target, numbers),
    begun: { is: 'follow-up', row: { ...written.row, amountMinor: payment.amount.minor } },
    returns: returnsOf(payment, target),
    deadlineMs: startedMs + timeoutMs,
    sendByWallMs: engine.clock.realMs() + timeoutMs - (engine.clock.elapsedMs() - startedMs),
  }
  if (!written.isUnsure) return { work }
  // It may stand in the database and was not sent: open, until the database says what it has.
  engine.inFlight.track(endUnsure(engine, work, written.row)).catch(() => {})
  return { replay: payment }
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
      const [found] = await engine.lanes.single(paymentById(row.id, null))
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

async function write(
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
      row = { ...row, attemptKey: keyNumber(no + 1) }
    }
  }
}

/** The step that another process, or this one earlier, has begun, or put on record as refused. */
async function byKey(engine: Engine, row: FollowUpRow): Promise<Payment | undefined> {
  const [begun] = await engine.lanes.single(paymentByAttempt(row.attemptKey))
  const [found] =
    begun === undefined ? await engine.lanes.single(paymentById(row.id, null)) : [begun]
  return found?.referenced_id === row.referencedId ? toPayment(found) : undefined
}

/**
 * The row of this very call, when an earlier run of its commit went through. A step has the same id and
 * key whoever begins it: the number of its short id tells whose it is.
 */
async function ownRow(engine: Engine, row: FollowUpRow) {
  const [attempt] = await engine.lanes.single(attemptByKey(row.attemptKey))
  if (attempt?.payment_id !== row.id) return undefined
  const [own] = await engine.lanes.single(paymentById(row.id, null))
  return own?.short_no === row.shortNo ? own : undefined
}

function paymentOf(row: FollowUpRow, amountMinor: bigint): Payment {
  return {
    id: row.id,
    channelId: row.channelId,
    entityId: row.entityId,
    rootId: row.rootId ?? row.id,
    parentId: row.parentId,
    referencedId: row.referencedId,
    chainId: null,
    accountId: row.accountId,
    shortNo: row.shortNo,
    amount: { minor: amountMinor, currency: row.currency },
    createdAt: row.createdAt,
    paymentType: row.paymentType,
    effect: row.effect as Effect,
    mode: row.mode as Payment['mode'],
    method: row.method,
    brand: row.brand,
    connector: row.connector,
    attemptKey: row.attemptKey,
    merchantTransactionId: row.merchantTransactionId,
    registrationId: null,
    scheduleId: null,
    clockId: row.clockId,
    state: 'processing',
    resultCode: '000.200.001',
    approvedMinor: null,
    finalBy: null,
    settledAt: null,
    answer: {},
    request: JSON.parse(row.request),
  }
}
