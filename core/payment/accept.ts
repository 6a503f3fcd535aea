/** From a valid request to its first commit: which channel, which acquirer, which rows. */
import type { Request } from '../call.ts'
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import { faultPoint } from '../fault-point.ts'
import type { Target } from '../routing/targets.ts'
import type { AttemptContext } from './attempt-context.ts'
import { applyBackPressure } from './back-pressure.ts'
import { callTime, endOf } from './call-time.ts'
import { firstOperation } from './first-operation.ts'
import { type Asked, checkFirst, type Use } from './first-request.ts'
import { attemptKeys, firstPayment, firstRow, sealFirst } from './first-rows.ts'
import { findEarlier, type Idempotency, replayed } from './idempotency.ts'
import { leaseMs } from './lease.ts'
import { holderOf } from './scheduled.ts'
import { beginTrial } from './trial.ts'
import type { Payment } from './types.ts'
import { writeFirst } from './write-first.ts'

/** A first payment that may be sent, or the earlier one that the same idempotency key made. */
export type Accepted = { readonly work: AttemptContext } | { readonly replay: Payment }

/** Checks what is asked for, chooses who carries it out, and writes the payment. Nothing is sent before it committed. */
export async function acceptFirst(
  engine: Engine,
  channel: Channel,
  request: Request,
  idempotency: Idempotency | null,
  use: Use = {},
): Promise<Accepted> {
  const asked = await checkFirst(engine, channel, request, use)
  // Numbers are counted by now: whether a key knows a request tells whether its number is the right one.
  const earlier = await findEarlier(engine, idempotency)
  if (earlier !== undefined) return { replay: earlier }
  const target = await chooseTarget(engine, channel, asked)
  const time = callTime(engine, target.loaded.connector)
  const keyOf = attemptKeys(engine, target, use.scheduled, idempotency)
  const payment = await firstPayment(engine, channel, asked, target, keyOf)
  const sealed = sealFirst(engine, channel, payment, asked.numbers)
  const row = await firstRow(engine, asked, payment, sealed, leaseMs(time.timeoutMs), idempotency)
  const { id } = payment
  const trial = beginTrial(engine, channel, id, request, asked.account, asked.numbers, sealed, use)
  await faultPoint('before-T1', id)
  const written = await writeFirst(engine, row, (no) => keyOf(id, no)).catch((error: unknown) => {
    engine.cardTesting.end(trial)
    throw error
  })
  if (written === null) {
    engine.cardTesting.end(trial)
    return { replay: await writtenBefore(engine, use, idempotency) }
  }
  await faultPoint('after-T1', id)
  const sent = { ...payment, attemptKey: written.attempt_key }
  return {
    work: {
      payment: sent,
      lease: 1,
      target,
      operation: firstOperation(engine, sent, asked),
      begun: { is: 'first', row: written },
      returns: null,
      trial,
      ...endOf(engine, time),
    },
  }
}

/** @throws GatewayError 600.200.* when no acquirer takes it, 429 when there is too much to do. */
async function chooseTarget(engine: Engine, channel: Channel, asked: Asked): Promise<Target> {
  const { isVerification, isChained, mode, kind, method, brand, amount } = asked
  const target = await engine.targets.choose(channel, {
    mode,
    kind: isVerification ? null : kind,
    method,
    brand,
    currency: isVerification ? null : amount.currency,
  })
  const { connector } = target.loaded
  // Its second step is a capture: a connector that has none could only authorise and let go.
  if (isChained && connector.capture === undefined) throw new GatewayError('600.200.400')
  applyBackPressure(engine, connector)
  return target
}

/** What stands where this payment was to be written: in the slot of its occurrence, or under its key. */
function writtenBefore(
  engine: Engine,
  { scheduled }: Use,
  idempotency: Idempotency | null,
): Promise<Payment> {
  return scheduled === undefined ? replayed(engine, idempotency!) : holderOf(engine, scheduled)
}
