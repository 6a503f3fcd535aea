/**
 * PA.CP, two steps in one. The answer is the capture's; when the capture fails the authorisation is
 * reversed. A timer stands for the rest of the work from the moment the first step is written, so
 * that it goes on in another process if this one dies.
 */
import { paymentTypes } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { formatAmount } from '../money.ts'
import { addAttention } from '../operator/store.ts'
import { addTimer, removeTimer } from '../timer/store.ts'
import { undecidedCode } from './decide.ts'
import { execute } from './execute.ts'
import { acceptFollowUp } from './follow-up.ts'
import { idempotencyForStep } from './idempotency.ts'
import { leaseMs } from './lease.ts'
import { referringTo, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

const typeOf = (code: string) => paymentTypes.find((type) => type.code === code)!

/**
 * Makes sure that the second step happens even if this process does not live to take it.
 *
 * @returns false when that could not be written: then nothing is sent, and the sweep ends the payment.
 */
export async function announceChain(engine: Engine, authorisation: Payment): Promise<boolean> {
  const afterMs = leaseMs(2 * engine.connectorTimeoutMs)
  try {
    await engine.lanes.single(addTimer(newId(), 'continue', authorisation.id, afterMs))
    return true
  } catch {
    engine.log.warn({ payment: authorisation.id }, 'a two-step payment could not be begun')
    return false
  }
}

/**
 * Takes whatever step is missing. Safe to run twice: each step is keyed by the authorisation, so a
 * second one finds the first.
 *
 * @returns the record that answers the request: the capture, or the authorisation while it is open.
 */
export async function continueChain(engine: Engine, authorisation: Payment): Promise<Payment> {
  try {
    return await takeSteps(engine, authorisation)
  } catch (error) {
    // The authorisation stands, the timer takes the next step: until then the sale is open.
    const kind = error instanceof Error ? error.name : 'unknown'
    engine.log.warn({ payment: authorisation.id, error: kind }, 'the second step has to wait')
    return { ...authorisation, state: 'processing', resultCode: undecidedCode }
  }
}

/** @throws whatever keeps the next step from being taken; a job that sees it is tried again. */
export async function takeSteps(engine: Engine, authorisation: Payment): Promise<Payment> {
  if (authorisation.state !== 'approved') {
    if (authorisation.state === 'declined' || authorisation.state === 'expired') {
      await engine.lanes.single(removeTimer('continue', authorisation.id))
    }
    return authorisation
  }
  const capture = await step(engine, authorisation, 'CP')
  if (capture.state === 'declined' || capture.state === 'expired') {
    const reversal = await step(engine, authorisation, 'RV')
    if (reversal.state === 'declined') {
      await engine.lanes.single(
        addAttention(newId(), 'unreversed', authorisation.id, reversal.attemptKey, 0, {
          why: 'the capture failed and so did the reversal of its authorisation',
        }),
      )
    }
    if (reversal.state === 'unknown' || reversal.state === 'processing') return capture
  }
  if (
    capture.state !== 'processing' &&
    capture.state !== 'unknown' &&
    capture.state !== 'pending'
  ) {
    await engine.lanes.single(removeTimer('continue', authorisation.id))
  }
  return capture
}

/** The capture or the reversal of this chain: the one there is, or a new one. */
async function step(engine: Engine, authorisation: Payment, code: 'CP' | 'RV'): Promise<Payment> {
  const records = await engine.lanes.single(referringTo(authorisation.id))
  const found = records.map(toPayment).find((record) => record.paymentType === code)
  if (found !== undefined) return found
  const { minor, currency } = authorisation.amount
  const accepted = await acceptFollowUp(
    engine,
    authorisation,
    typeOf(code),
    {
      fields: {
        paymentType: code,
        amount: formatAmount(authorisation.approvedMinor ?? minor, currency),
        currency,
        ...carried(authorisation),
      },
      names: [],
    },
    idempotencyForStep(engine, authorisation.id, code),
    'engine',
  )
  return 'replay' in accepted ? accepted.replay : execute(engine, accepted.work)
}

/** What the merchant sent about the sale belongs to the capture, which is what it reads afterwards. */
function carried(authorisation: Payment): Record<string, string> {
  const names = ['merchantTransactionId', 'descriptor', 'merchantInvoiceId', 'merchantMemo']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = authorisation.request[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}
