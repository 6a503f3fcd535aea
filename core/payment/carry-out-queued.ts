/** Sends a payment that was accepted in a transaction of the embedding program, once it is committed. */
import { notSent } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { Places } from '../process/in-flight.ts'
import type { AttemptContext } from './attempt-context.ts'
import { callTime, endOf } from './call-time.ts'
import { execute } from './execute.ts'
import { storedFirstOperation } from './first-operation.ts'
import { placeOf } from './instrument.ts'
import { leaseMs } from './lease.ts'
import { rowsOfQueued } from './queued-rows.ts'
import { kindOf, operationOf, referencedBy, returnsOf } from './rebuild-attempt.ts'
import { chargesAnew } from './reserve-follow-up.ts'
import { resolve } from './resolve.ts'
import { settle } from './settle.ts'
import { stillStands } from './still-stands.ts'
import { beginQueued, endQueued, type QueuedRow, queuedFor } from './store-queued.ts'
import { paymentByAttempt, toPayment } from './store-read.ts'
import { continueChain } from './two-step.ts'
import type { Payment } from './types.ts'

const tooLate = 'it was not committed and sent within an hour after it was accepted'
const removed = 'its registration was removed before it was sent'
const fallen =
  'the payment that it follows was charged back (or a chargeback of it was reported), failed, was closed or was held before it was sent'

/**
 * Sends the payment if it is queued. Safe to run any number of times and anywhere: one process begins
 * it, and everything that can fail for a while comes before that.
 */
export async function carryOutQueued(engine: Engine, attemptKey: string): Promise<void> {
  const [queued] = await engine.lanes.single(queuedFor(attemptKey))
  const [row] = queued ? await engine.lanes.single(paymentByAttempt(attemptKey)) : []
  if (row === undefined || queued === undefined) {
    await engine.lanes.single(endQueued(attemptKey))
    return
  }
  const payment = toPayment(row)
  if (isTooOld(queued)) {
    // Its shopper may have paid in another way since.
    await engine.inFlight.track(begins(engine, payment, engine.connectorTimeoutMs))
    return
  }
  const { connector, channelId } = payment
  const merchantId = await engine.directory.merchantOf(channelId)
  const places = new Places()
  places.add(connector, engine.inFlight.admit(connector, { channelId, merchantId }))
  try {
    const work = await workOf(engine, payment, queued)
    await engine.inFlight.track(send(engine, { ...work, places }))
  } finally {
    places.free()
  }
}

const isTooOld = ({ age_ms }: { readonly age_ms: number }) => age_ms > limits.queuedPaymentMs

async function send(engine: Engine, prepared: Prepared): Promise<void> {
  const time = callTime(engine, prepared.target.loaded.connector)
  if (!(await begins(engine, prepared.payment, time.timeoutMs))) return
  const done = await execute(engine, { ...prepared, ...endOf(engine, time) })
  if (done.chainId !== null) await continueChain(engine, done)
}

/** @returns true when this process is to send the payment. */
async function begins(engine: Engine, payment: Payment, timeoutMs: number): Promise<boolean> {
  const [begun] = await engine.lanes.single(beginQueued(payment.attemptKey, leaseMs(timeoutMs)))
  if (begun === undefined) return false
  await faultPoint('after-lease', payment.id)
  if (begun.is_doubtful) {
    await resolve(engine, payment.attemptKey, 'look')
    return false
  }
  const why = begun.is_removed
    ? removed
    : isTooOld(begun)
      ? tooLate
      : payment.parentId === null || (await stillStands(engine, payment))
        ? undefined
        : fallen
  if (why === undefined) return true
  const work = { payment, lease: 1, begun: null, returns: null }
  await settle(engine, work, notSent(why), 'answer')
  return false
}

type Prepared = Omit<AttemptContext, 'deadlineMs' | 'sendByWallMs'>

async function workOf(engine: Engine, payment: Payment, queued: QueuedRow): Promise<Prepared> {
  const kind = kindOf(payment)
  const target = await engine.targets.of(payment, kind)
  const begun = rowsOfQueued(engine, payment, queued)
  const about = { payment, lease: 1, target, begun }
  const referenced = await referencedBy(engine, payment)
  if (referenced === undefined) {
    const numbers = (await engine.vault.unseal(placeOf(payment))) ?? {}
    return {
      ...about,
      operation: storedFirstOperation(engine, payment, kind, numbers),
      returns: null,
    }
  }
  const numbers = chargesAnew(payment.effect)
    ? await engine.vault.unseal(placeOf(referenced))
    : undefined
  const operation = await operationOf(engine, payment, kind, referenced, numbers)
  return { ...about, operation, returns: returnsOf(payment, referenced) }
}
