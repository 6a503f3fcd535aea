/**
 * Sends an operation again under its key, after an enquiry that found nothing. Safe to run twice: the
 * acquirer carries out a key once, and only the lease holder sends.
 */
import { type Kind, keyPromise, type Outcome } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import type { AttemptContext } from './attempt-context.ts'
import type { End } from './requested-reversal.ts'
import { send } from './send.ts'

/** Operations without secrets and shoppers: the engine may send them again under the same key. */
const resendable = new Set<Kind>(['capture', 'refund', 'reverse'])

/** Whether the acquirer still recognises the key. */
export function mayRepeat({ operation, target }: AttemptContext, ageMs: number): boolean {
  const key = keyPromise(target.loaded.connector.supports, operation.kind, target.account)
  const isKnownByKey = key.by === 'key' && ageMs < key.ttlMs - limits.keyMemoryMarginMs
  return isKnownByKey && resendable.has(operation.kind)
}

export async function sendAgain(engine: Engine, work: AttemptContext): Promise<End> {
  await faultPoint('before-resend', work.payment.id)
  const { outcome } = await send(engine, work)
  return { outcome: ofBoth(outcome), source: 'resend' }
}

/**
 * What the answer to a repeat says about the first request, which may have been carried out. An acquirer
 * checks credentials and forms before it looks for a key, so a refusal can be about the repeat alone.
 */
function ofBoth(outcome: Outcome): Outcome {
  if (outcome.is === 'notSent') return { is: 'unknown', why: outcome.why }
  if (outcome.is !== 'declined' || outcome.ofKey === true) return outcome
  return { is: 'unknown', why: repeatRefused }
}

export const repeatRefused =
  'the acquirer refused the repeat, and did not say what became of the first request'
