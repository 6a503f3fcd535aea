/** The special rules for payments of schedules. */
import type { Engine } from '../engine.ts'
import { type Idempotency, unstored } from './idempotency.ts'
import { paymentOfOccurrence, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

/** The occurrence of a schedule behind a payment. */
export type Scheduled = {
  readonly scheduleId: string
  readonly occurrenceId: string
  /** The instant of the charge. */
  readonly at: Date
  /** The number of the payment within the occurrence, from 1. */
  readonly no: number
  /** The previous payment, which was declined for good. */
  readonly previousId: string | null
}

/**
 * The acquirer's key of a scheduled payment derives from its schedule and instant. After a failover
 * that lost the rows, the acquirer recognises the next payment of the same instant.
 */
export function idempotencyOfOccurrence(scheduled: Scheduled): Idempotency {
  const key = `${scheduled.at.toISOString()} ${scheduled.no}`
  return unstored(scheduled.scheduleId, key)
}

/** The payment of another process that took the slot first. */
export async function holderOf(
  engine: Pick<Engine, 'lanes'>,
  { occurrenceId }: Scheduled,
): Promise<Payment> {
  const [row] = await engine.lanes.single(paymentOfOccurrence(occurrenceId))
  if (row === undefined) throw new Error('the occurrence has no place for a payment any more')
  return toPayment(row)
}
