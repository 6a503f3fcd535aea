/** The special rules for payments of schedules. */
import type { Engine } from '../engine.ts'
import { type Idempotency, unstored } from './idempotency.ts'
import { paymentOfExecution, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

/** The execution of a schedule behind a payment. */
export type Scheduled = {
  readonly scheduleId: string
  readonly executionId: string
  /** The due time of the charge. */
  readonly at: Date
  /** The number of the payment within the execution, from 1. */
  readonly no: number
  /** The previous payment, which was declined for good. */
  readonly previousId: string | null
}

/**
 * The acquirer's key of a scheduled payment derives from its schedule and due time. After a failover
 * that lost the rows, the acquirer recognises the next payment of the same due time.
 */
export function idempotencyOfExecution(scheduled: Scheduled): Idempotency {
  const key = `${scheduled.at.toISOString()} ${scheduled.no}`
  return unstored(scheduled.scheduleId, key)
}

/** The payment of another process that took the slot first. */
export async function holderOf(
  engine: Pick<Engine, 'lanes'>,
  { executionId }: Scheduled,
): Promise<Payment> {
  const [row] = await engine.lanes.single(paymentOfExecution(executionId))
  if (row === undefined) throw new Error('the execution has no place for a payment any more')
  return toPayment(row)
}
