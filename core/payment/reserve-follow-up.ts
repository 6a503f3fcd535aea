/**
 * The first commit of a follow-up reserves the amount and writes the rows. The engine sends
 * afterwards.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Connector, notSent, type RequestFields } from '@tollgate/plugin-kit'
import { limits, type PaymentType } from '@tollgate/schemas'
import { refuseWrongParameters } from '../connector/parameters.ts'
import { neverReached, outcomeUnknown, sqlState, violated } from '../db/database.ts'
import type { OpenTransaction } from '../db/open-transaction.ts'
import { databaseUnavailable } from '../db/unavailable.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import type { Places } from '../process/in-flight.ts'
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
import { queueWithin, replayedWithin } from './queue-payment.ts'
import { kindOf, operationOf, returnsOf } from './rebuild-attempt.ts'
import { sealNumbers } from './sealed-numbers.ts'
import { settle } from './settle.ts'
import { type FollowUpRow, reserve } from './store-follow-up.ts'
import { attemptByKey, paymentByAttempt, paymentById, toPayment } from './store-read.ts'
import { withoutSecrets } from './stored-request.ts'
import { supportedBy } from './supported.ts'
import { tellFirstCommit } from './telling.ts'
import type { Payment } from './types.ts'

export type AcceptedFollowUp = { readonly work: AttemptContext } | { readonly replay: Payment }

/** A transaction of the embedding program holds it. */
export type QueuedFollowUp = { readonly queued: Payment }

/** A step that the engine takes by itself, once per payment. */
export type Step = {
  readonly step: 'CP' | 'RV' | 'take-back' | `take-back ${number}`
  readonly type: PaymentType
  readonly effect: Effect
  /** Null: the whole open rest. */
  readonly amountMinor: bigint | null
  readonly fields: RequestFields
  /** For steps whose payment already has an id. */
  readonly id?: string
}

/** @returns the existing payment of the step, or `refused` when the sums do not allow the step. */
export function reserveStep(
  engine: Engine,
  target: Payment,
  { step, id, ...more }: Step,
): Promise<AcceptedFollowUp | 'refused'> {
  const keyedBy = idempotencyForStep(target.id, step)
  return reserveFollowUp(engine, target, {
    ...more,
    id: id ?? newId(),
    idempotency: keyedBy,
    isOurs: true,
  })
}

export type NewFollowUp = {
  readonly id: string
  readonly type: PaymentType
  readonly effect: Effect
  /** Null: the whole open rest. */
  readonly amountMinor: bigint | null
  readonly fields: RequestFields
  readonly idempotency: Idempotency | null
  /** The engine's own step: exempt from back-pressure, with no `Idempotency-Key`. */
  readonly isOurs: boolean
  /** The places of a merchant's request, whose entry point frees them. */
  readonly places?: Places
  /** The number of the request. */
  readonly ndc?: string | undefined
  /** The transaction of the embedding program that writes it; it is sent after the commit. */
  readonly within?: OpenTransaction
}

/** @returns `refused` when the balance cannot cover the amount. */
export function reserveFollowUp(
  engine: Engine,
  target: Payment,
  wanted: Omit<NewFollowUp, 'within'>,
): Promise<AcceptedFollowUp | 'refused'>
export function reserveFollowUp(
  engine: Engine,
  target: Payment,
  wanted: NewFollowUp,
): Promise<AcceptedFollowUp | QueuedFollowUp | 'refused'>
export async function reserveFollowUp(
  engine: Engine,
  target: Payment,
  wanted: NewFollowUp,
): Promise<AcceptedFollowUp | QueuedFollowUp | 'refused'> {
  const { id, type, effect, idempotency, isOurs, places } = wanted
  const chosen = await engine.targets.of(target, handlerKind(effect, type))
  const { connector } = chosen.loaded
  if (!isOurs) refuseWrongParameters(connector, wanted.fields)
  if (places !== undefined) applyBackPressure(engine, connector, target.channelId, places)
  // A queued payment is admitted again when it is sent.
  if (wanted.within !== undefined) places?.free()
  const time = callTime(engine, connector)
  const keyOf = (no: number) => attemptKey(engine, connector, id, idempotency, no)
  const numbers = chargesAnew(effect) ? await engine.vault.unseal(placeOf(target)) : undefined
  const payment = await followUpOf(engine, target, wanted, keyOf(1))
  const row: FollowUpRow = {
    ...rowOf(wanted, connector, target, leaseMs(time.timeoutMs)),
    ...(await sealedAgain(engine, target, payment, numbers)),
    payment,
  }
  await faultPoint('before-T1', id)
  if (wanted.within !== undefined) {
    const queue = { within: wanted.within, idempotency, target }
    return queueFollowUp(engine, row, keyOf, queue)
  }
  const written = await tellFirstCommit(engine, payment, () =>
    engine.lanes.inOrder(payment.parentId ?? id, () => writeFollowUp(engine, row, isOurs, keyOf)),
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
    places,
    ndc: wanted.ndc,
    ...endOf(engine, time),
  }
  if (!written.isUnsure) return { work }
  // The row may be in the database, and nothing was sent: the payment stays open until the database
  // answers.
  engine.inFlight.track(endUnsure(engine, work, written.row)).catch(() => {})
  return { replay: begun }
}

/** The balance stays locked until the program ends its transaction. */
async function queueFollowUp(
  engine: Engine,
  row: FollowUpRow,
  keyOf: (no: number) => string,
  {
    within,
    idempotency,
    target,
  }: { within: OpenTransaction; idempotency: Idempotency | null; target: Payment },
): Promise<AcceptedFollowUp | QueuedFollowUp | 'refused'> {
  const { payment } = row
  const writing = queueWithin(engine, within, payment.connector, async (no) => {
    const key = keyOf(no)
    const keyed = { ...row, payment: { ...payment, attemptKey: key } }
    const [reserved] = await within.run(reserve(keyed))
    return reserved === undefined ? undefined : { key, minor: reserved.amount_minor }
  })
  const queued = await writing.catch((error: unknown) => {
    if (idempotency === null || violated(error) !== 'idempotency_pkey') throw error
    return 'replay' as const
  })
  if (queued === undefined) return 'refused'
  if (queued === 'replay') return { replay: await replayedWithin(within, idempotency!) }
  const minor = queued.minor ?? target.approvedMinor ?? target.amount.minor
  return { queued: { ...payment, attemptKey: queued.key, amount: { ...payment.amount, minor } } }
}

/**
 * The payment of the first commit. The reservation sets the amount when the request asks for the
 * whole rest.
 */
function followUpOf(
  engine: Engine,
  target: Payment,
  { id, type, effect, amountMinor, fields }: NewFollowUp,
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

/** Further columns of the first commit, beside the payment and its numbers. */
function rowOf(
  { type, effect, amountMinor, fields, idempotency, isOurs }: NewFollowUp,
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

/**
 * A replacement outlives the replaced authorisation, so the vault seals the numbers again for the
 * replacement.
 */
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

/**
 * Once the database answers, declines a written payment. A repeat is safe because nothing was sent.
 */
async function endUnsure(engine: Engine, work: AttemptContext, row: FollowUpRow): Promise<void> {
  const untilMs = engine.clock.elapsedMs() + limits.keptOutcomeMs
  while (!engine.inFlight.over && engine.clock.elapsedMs() < untilMs) {
    try {
      // The row of an earlier run prevents a second one.
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

/**
 * A rebill and a new authorisation charge the instrument again; other follow-ups use the acquirer's
 * reference.
 */
export function chargesAnew(effect: Effect): boolean {
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
      // A reservation whose answer was lost blocks its own repeat.
      const own = await ownRow(engine, row)
      if (own !== undefined) return { row, amountMinor: own.amount_minor, isUnsure: false }
      const step = isOurs ? await byKey(engine, row) : undefined
      return step === undefined ? 'refused' : { replay: step }
    } catch (error) {
      if (sqlState(error) !== '23505') {
        if (!outcomeUnknown(error)) throw error
        // The row may exist: a client told to repeat the request could repeat the operation. The
        // engine finds its own steps by their keys.
        if (neverReached(error) || isOurs) throw databaseUnavailable(error)
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

/** The step that an earlier run or another process began or refused. */
async function byKey(engine: Engine, { payment }: FollowUpRow): Promise<Payment | undefined> {
  const [begun] = await engine.lanes.single(paymentByAttempt(payment.attemptKey))
  const [found] =
    begun === undefined ? await engine.lanes.single(paymentById(payment.id, null)) : [begun]
  return found?.referenced_id === payment.referencedId ? toPayment(found) : undefined
}

/**
 * The row of this very call, written by an earlier run of its commit. Every process gives a step
 * the same id and key, so only the number in the short id tells the runs apart.
 */
async function ownRow(engine: Engine, { payment }: FollowUpRow) {
  const [attempt] = await engine.lanes.single(attemptByKey(payment.attemptKey))
  if (attempt?.payment_id !== payment.id) return undefined
  const [own] = await engine.lanes.single(paymentById(payment.id, null))
  return own?.short_no === payment.shortNo ? own : undefined
}
