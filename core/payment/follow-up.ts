/** Captures, reversals, refunds and all that refers to an earlier payment. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { brandOf, limits, type PaymentType } from '@tollgate/schemas'
import { outcomeUnknown, sqlState, violated } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import type { Caller } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import { faultPoint } from '../fault-point.ts'
import { idTimeMs, isId, newId } from '../ids.ts'
import { refuse, textOf } from '../request/values.ts'
import { businessNow } from '../test-clock/time.ts'
import { type Request, unavailable } from './accept.ts'
import { admit } from './admit.ts'
import { attemptKey } from './attempt-key.ts'
import {
  amountOf,
  carriedOver,
  decided,
  effectOn,
  handlerKind,
  isLocal,
  refusalCode,
  refuseUnusable,
} from './follow-up-rules.ts'
import { findReplay, type Idempotency, replayed } from './idempotency.ts'
import type { Effect } from './operation-kinds.ts'
import { kindOf, operationOf, undoOf } from './rebuild.ts'
import {
  type FollowUpRow,
  type Reserved,
  reserveCapture,
  reserveChargeback,
  reserveChargebackReversal,
  reserveIncrease,
  reserveNothing,
  reserveRefund,
  reserveRelease,
  reserveReplacement,
  reserveVoid,
} from './store-follow-up.ts'
import { attemptByKey, balanceById, paymentById, toBalance, toPayment } from './store-read.ts'
import { withoutSecrets } from './stored-request.ts'
import type { Payment } from './types.ts'
import type { Work } from './work.ts'

/** Who wants it: what the engine itself has to finish is never turned away for being too much. */
export type By = 'merchant' | 'acquirer' | 'engine'

export type AcceptedFollowUp = { readonly work: Work } | { readonly replay: Payment }

const reserve: Readonly<Record<Effect, ((row: FollowUpRow) => Sql<Reserved>) | undefined>> = {
  verification: undefined,
  authorisation: undefined,
  sale: reserveNothing,
  capture: reserveCapture,
  release: reserveRelease,
  void: reserveVoid,
  refund: reserveRefund,
  increase: reserveIncrease,
  replacement: reserveReplacement,
  chargeback: reserveChargeback,
  'chargeback-reversal': reserveChargebackReversal,
}

/** The payment that a follow-up names, decided if it can be, and usable for this type. */
export async function referenced(
  engine: Engine,
  caller: Caller,
  id: string,
  type: PaymentType,
  fields: RequestFields,
): Promise<Payment> {
  const payment = await visiblePayment(engine, caller, id, type, textOf(fields, 'entityId'))
  refuseOtherBrand(payment, fields)
  const testMode = textOf(fields, 'testMode')
  if (testMode !== undefined && testMode !== payment.mode) {
    throw refuse(
      '700.100.600',
      'testMode',
      `the referenced payment ran in mode ${payment.mode}`,
      testMode,
    )
  }
  return payment
}

/** Nobody has the payment that a follow-up names, or it is another merchant's: both answer alike. */
export class UnknownReference extends GatewayError {}

/** A follow-up goes with the brand of its payment; deployed clients repeat it. */
function refuseOtherBrand(payment: Payment, fields: RequestFields): void {
  const sent = textOf(fields, 'paymentBrand')
  if (sent === undefined || brandOf(sent)?.code === payment.brand) return
  throw refuse(
    '700.100.400',
    'paymentBrand',
    `the referenced payment has the brand ${payment.brand}`,
    sent,
  )
}

async function visiblePayment(
  engine: Engine,
  caller: Caller,
  id: string,
  type: PaymentType,
  entityId: string | undefined,
): Promise<Payment> {
  const own = await engine.directory.visible(caller, undefined)
  const named = entityId === undefined ? own : await engine.directory.visible(caller, entityId)
  const [row] = isId(id) ? await engine.lanes.read(paymentById(id, own)) : []
  if (row === undefined)
    throw new UnknownReference(type.refusedUnusable ?? '700.100.100', { status: 404 })
  if (named !== null && !named.includes(row.channel_id)) {
    throw refuse('700.400.700', 'entityId', 'the referenced payment belongs to another channel')
  }
  return toPayment(row)
}

/** Takes the reservation and writes the rows, or says why not. Nothing is sent before it committed. */
export async function acceptFollowUp(
  engine: Engine,
  original: Payment,
  type: PaymentType,
  request: Request,
  idempotency: Idempotency | null,
  by: By = 'merchant',
): Promise<AcceptedFollowUp> {
  const earlier = await findReplay(engine, idempotency)
  if (earlier !== undefined) return { replay: earlier }
  const { fields } = request
  const target = await decided(engine, original)
  refuseUnusable(engine, target, type, by)
  const amountMinor = amountOf(fields, target, type)
  const effect = effectOn(target, type, fields)
  const chosen = await engine.targets.of(
    target,
    isLocal(effect) ? undefined : handlerKind(effect, type),
  )
  const { connector } = chosen.loaded
  if (by === 'merchant') admit(engine, connector)

  const id = newId()
  const startedMs = engine.clock.elapsedMs()
  const timeoutMs = Math.min(
    engine.connectorTimeoutMs,
    connector.supports.limits?.timeoutMs ?? Number.POSITIVE_INFINITY,
  )
  const numbers = chargesAnew(effect) ? await engine.vault.unseal(target.id) : undefined
  const sealed =
    numbers === undefined || effect !== 'replacement'
      ? null
      : engine.vault.seal(id, numbers, Object.values(numbers)[0] ?? '')
  const row: FollowUpRow = {
    id,
    channelId: target.channelId,
    entityId: textOf(fields, 'entityId') ?? target.channelId,
    rootId: effect === 'increase' ? target.rootId : null,
    parentId: effect === 'chargeback-reversal' ? target.parentId! : target.rootId,
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
    attemptKind: isLocal(effect) ? 'verify' : handlerKind(effect, type),
    leaseMs: timeoutMs + limits.flushBudgetMs + limits.leaseMarginMs,
    final: textOf(fields, 'sequence') === 'FINAL',
    dataKeyId: sealed?.dataKeyId ?? null,
    fingerprint: sealed?.fingerprint ?? null,
    sealed: sealed?.sealed ?? null,
    idempotencyKey: idempotency?.key ?? null,
    idempotencyFingerprint: idempotency?.fingerprint ?? null,
  }
  await faultPoint('before-T1', id)
  const written = await engine.lanes.inOrder(row.parentId, () =>
    write(engine, row, effect, (no) => attemptKey(engine, connector, id, idempotency, no)),
  )
  if (written === 'replay') return { replay: await replayed(engine, idempotency!) }
  if (written === 'refused') {
    // What took the rest may be this very request, sent twice at the same time.
    const twin = await findReplay(engine, idempotency)
    if (twin !== undefined) return { replay: twin }
    throw await refusal(engine, row.parentId, type, effect)
  }
  await faultPoint('after-T1', id)
  const payment = paymentOf(written.row, written.amountMinor)
  return {
    work: {
      payment,
      lease: 1,
      target: chosen,
      operation: await operationOf(engine, payment, kindOf(payment), target, numbers),
      accepted: null,
      undo: undoOf(payment, target),
      deadlineMs: startedMs + timeoutMs,
      sendByWallMs: engine.clock.realMs() + timeoutMs - (engine.clock.elapsedMs() - startedMs),
    },
  }
}

/** A rebill and a new authorisation charge the instrument again; all others go by reference. */
function chargesAnew(effect: Effect): boolean {
  return effect === 'sale' || effect === 'replacement' || effect === 'increase'
}

type Written = { row: FollowUpRow; amountMinor: bigint } | 'refused' | 'replay'

async function write(
  engine: Engine,
  first: FollowUpRow,
  effect: Effect,
  keyNumber: (no: number) => string,
): Promise<Written> {
  let row = first
  for (let no = 1; ; no += 1) {
    try {
      const [reserved] = await engine.lanes.single(reserve[effect]!(row))
      if (reserved !== undefined) return { row, amountMinor: reserved.amount_minor }
      // A reservation whose answer was lost stands in the way of its own repeat.
      const own = await ownRow(engine, row)
      return own === undefined ? 'refused' : { row, amountMinor: own.amount_minor }
    } catch (error) {
      if (sqlState(error) !== '23505') throw outcomeUnknown(error) ? unavailable() : error
      const own = await ownRow(engine, row)
      if (own !== undefined) return { row, amountMinor: own.amount_minor }
      if (violated(error) === 'idempotency_pkey') return 'replay'
      if (violated(error) !== 'attempt_pkey' || no > 8) throw error
      row = { ...row, attemptKey: keyNumber(no + 1) }
    }
  }
}

/** The row of this very request, when an earlier run of its commit went through. */
async function ownRow(engine: Engine, row: FollowUpRow) {
  const [attempt] = await engine.lanes.single(attemptByKey(row.attemptKey))
  if (attempt?.payment_id !== row.id) return undefined
  const [own] = await engine.lanes.single(paymentById(row.id, null))
  return own
}

/** Why the balance gave nothing. */
async function refusal(
  engine: Engine,
  balanceId: string,
  type: PaymentType,
  effect: Effect,
): Promise<GatewayError> {
  const [row] = await engine.lanes.single(balanceById(balanceId))
  const balance = row === undefined ? undefined : toBalance(row)
  return new GatewayError(refusalCode(balance, type, effect))
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
