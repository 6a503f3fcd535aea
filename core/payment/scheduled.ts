/** What is particular to payments of schedules. */
import type { Engine } from '../engine.ts'
import { type Idempotency, unstored } from './idempotency.ts'
import { paymentOfOccurrence, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

/** The occurrence of a schedule that a payment is for. */
export type Scheduled = {
  readonly scheduleId: string
  readonly occurrenceId: string
  /** The instant that it is charged for. */
  readonly at: Date
  /** Which payment of the occurrence it is, from 1. */
  readonly no: number
  /** The payment before it, which was declined for good. */
  readonly previousId: string | null
}

/**
 * The acquirer's key of a scheduled payment follows from its schedule and instant: should a failover
 * lose the rows, the next one of the same instant is recognised there.
 */
export function idempotencyOfOccurrence(scheduled: Scheduled): Idempotency {
  const key = `${scheduled.at.toISOString()} ${scheduled.no}`
  return unstored(scheduled.scheduleId, key)
}

/** The payment that another process put into the slot first. */
export async function holderOf(
  engine: Pick<Engine, 'lanes'>,
  { occurrenceId }: Scheduled,
): Promise<Payment> {
  const [row] = await engine.lanes.single(paymentOfOccurrence(occurrenceId))
  if (row === undefined) throw new Error('the occurrence has no place for a payment any more')
  return toPayment(row)
}
