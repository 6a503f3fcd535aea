/**
 * What became of an attempt whose answer nobody has. Safe to run any number of times and anywhere:
 * it asks before it acts, and only the holder of the lease can settle.
 */
import type { Found, Outcome, Refs, Reversed } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { addAttention, addAudit, resolveAttention } from '../operator/store.ts'
import { addTimer, removeTimer } from '../timer/store.ts'
import { provenNotCharged, ranOutOfTime } from './decide.ts'
import { storedInstrument } from './instrument.ts'
import { takeAttempt } from './lease.ts'
import { rebuild } from './rebuild.ts'
import { ask, checked, send } from './send.ts'
import { isForWhatWasAsked, settle } from './settle.ts'
import { attemptByKey, paymentByAttempt, toPayment } from './store-read.ts'
import { dropLease } from './store-settle.ts'
import type { Payment, Source } from './types.ts'
import type { Work } from './work.ts'

/**
 * Why the question is asked: an enquiry, the end of a pending payment's time, or an operator's
 * question, upon which nothing is sent again and nothing taken back.
 */
export type Reason = 'enquiry' | 'expiry' | 'question'

/** Operations that need no secret and no shopper: they may be sent again under the same key. */
const resendable = new Set(['capture', 'refund', 'reverse'])

/** @returns the payment as it is afterwards, or undefined when there is no such attempt. */
export async function resolve(
  engine: Engine,
  attemptKey: string,
  why: Reason,
): Promise<Payment | undefined> {
  const taken = await takeAttempt(engine, attemptKey)
  const [row] = await engine.lanes.single(paymentByAttempt(attemptKey))
  if (row === undefined) return undefined
  const payment = toPayment(row)
  if (taken === undefined) return payment
  await faultPoint('after-lease', payment.id)
  let work: Work
  try {
    work = await rebuild(engine, payment, taken.lease)
  } catch (error) {
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    await list(engine, payment, 'the connector that carried it out is not available')
    throw error
  }
  await faultPoint('before-enquiry', payment.id)
  const found = await enquire(engine, work)
  await faultPoint('after-enquiry', payment.id)
  const end = await conclude(engine, work, found, why)
  if (why === 'question' && payment.state === 'pending' && end.outcome.is === 'unknown') {
    // Its shopper may be on the way: a question that found nothing changes nothing.
    await engine.lanes.single(removeTimer('enquire', attemptKey))
    await engine.lanes.single(dropLease(attemptKey, taken.lease))
    return payment
  }
  // Listed while the lease still holds, so that it is never undecided without being listed.
  if (end.outcome.is === 'unknown') await list(engine, payment, 'undecided after an enquiry')
  const settled = await settle(engine, work, end.outcome, end.source, taken.enquiries)
  if (settled.payment.state === 'approved' && payment.chainId !== null) {
    // The second step need not wait for the end of a lease that nobody holds any more.
    await engine.lanes.single(addTimer(newId(), 'continue', payment.id, 0))
  }
  if (settled.payment.state !== 'unknown') {
    await engine.lanes.single(resolveAttention(payment.id, 'undecided', 'engine'))
  }
  return settled.payment
}

async function enquire(engine: Engine, work: Work): Promise<Found> {
  const handler = work.target.loaded.connector.resolve.enquire
  if (handler === undefined) return { is: 'notFound', why: 'the acquirer answers no enquiries' }
  const found = await ask(engine, work, 'enquire', handler)
  return found.is === 'notFound' ? found : checked(found)
}

type End = { readonly outcome: Outcome; readonly source: Source }

async function conclude(engine: Engine, work: Work, found: Found, why: Reason): Promise<End> {
  switch (found.is) {
    case 'approved':
      if (await isForWhatWasAsked(engine, work.payment, found)) {
        return { outcome: found, source: 'enquiry' }
      }
      if (why === 'question') return left(found.refs, 'approved for another amount or currency')
      return undo(engine, work, found.refs, 'approved for another amount or currency')
    case 'accepted':
    case 'declined':
      return { outcome: found, source: 'enquiry' }
    case 'notSent':
    case 'notFound':
      // An enquiry cannot know what this installation sent; it can only say what is there.
      if (why === 'question') return left({}, 'the acquirer does not know it')
      return notFound(engine, work)
    case 'pending':
      if (why === 'expiry')
        return undo(engine, work, found.refs ?? {}, 'nobody completed it in time')
      return { outcome: found, source: 'enquiry' }
    case 'unknown':
      if (why === 'expiry' && work.payment.state === 'pending') {
        return undo(engine, work, found.refs ?? {}, 'nobody completed it in time')
      }
      return { outcome: found, source: 'enquiry' }
  }
}

const left = (refs: Refs, why: string): End => ({
  outcome: { is: 'unknown', refs, why },
  source: 'enquiry',
})

/**
 * The acquirer knows nothing of the key. That alone proves nothing: the request may still be on its
 * way. Once that can no longer be, operations without a secret are sent again under the same key;
 * of all others the key is made harmless first.
 */
async function notFound(engine: Engine, work: Work): Promise<End> {
  const { connector } = work.target.loaded
  const [attempt] = await engine.lanes.single(attemptByKey(work.payment.attemptKey))
  const visibleMs = engine.connectorTimeoutMs + connector.supports.enquiryVisibleAfterMs
  const isTooEarly =
    connector.resolve.enquire !== undefined && (attempt === undefined || attempt.age_ms < visibleMs)
  if (isTooEarly) {
    return { outcome: { is: 'unknown', why: 'not visible at the acquirer yet' }, source: 'enquiry' }
  }
  const { key } = connector.supports
  const ageMs = attempt?.age_ms ?? Number.POSITIVE_INFINITY
  if (key.by === 'key' && ageMs < key.ttlMs) {
    const again = await workToSend(engine, work)
    if (again !== undefined) {
      await faultPoint('before-resend', work.payment.id)
      const { outcome } = await send(engine, again)
      return { outcome, source: 'resend' }
    }
  }
  return undo(engine, work, {}, 'interrupted, and the acquirer knows nothing of it')
}

/** What may be sent again; a payment of a schedule with the numbers that were sealed with it. */
async function workToSend(engine: Engine, work: Work): Promise<Work | undefined> {
  const { payment, operation } = work
  if (resendable.has(operation.kind)) return work
  if (payment.scheduleId === null) return undefined
  const instrument = storedInstrument(payment, (await engine.vault.unseal(payment.id)) ?? {})
  return instrument === undefined ? undefined : { ...work, operation: { ...operation, instrument } }
}

/** Takes back whatever the key did and makes it harmless; what cannot be proven stays with the operators. */
async function undo(engine: Engine, work: Work, refs: Refs, why: string): Promise<End> {
  const handler = work.target.loaded.connector.resolve.reverseByKey
  const reversed: Reversed =
    handler === undefined
      ? { is: 'refused', why: 'the acquirer has no reversal by key' }
      : await ask(engine, work, 'reverseByKey', handler)
  await engine.lanes.single(
    addAudit(newId(), 'engine', 'reverse-by-key', work.payment.id, { why, result: reversed.is }),
  )
  if (reversed.is === 'reversed' || reversed.is === 'nothing') {
    const isPending = work.payment.state === 'pending'
    return {
      outcome: {
        is: 'declined',
        reason: isPending ? ranOutOfTime : provenNotCharged,
        refs: { ...refs, ...reversed.refs },
      },
      source: 'reversal',
    }
  }
  await list(engine, work.payment, why)
  return { outcome: { is: 'unknown', refs, why: reversed.why }, source: 'reversal' }
}

async function list(engine: Engine, payment: Payment, why: string): Promise<void> {
  await engine.lanes.single(
    addAttention(newId(), 'undecided', payment.id, payment.attemptKey, limits.unknownAlarmMs, {
      why,
    }),
  )
}
