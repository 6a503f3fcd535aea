/** Jobs, and their state in the queue. */
import type { TransactionClient } from '../db/program-client.ts'

/** How a job is queued and tried again. Payloads hold ids, and the name of the connector that the work waits for. */
export type QueuedJob<Payload extends object> = {
  readonly name: string
  /** Tries after the first, and the pause before each, doubling. */
  readonly retry: { readonly limit: number; readonly delaySeconds: number }
  /** How many run at once in one process. */
  readonly concurrency: number
  /** At most one job of a key is queued or running. */
  readonly keyOf: (payload: Payload) => string
  /** Jobs of one group share a limit, so that one merchant's jobs do not delay the others. */
  readonly groupOf?: (payload: Payload) => string | undefined
  /** How many jobs of one group run at once in one process. */
  readonly concurrencyOfGroup?: number
  /** A job that may run for longer than others: its place is free for the next one only after its end. */
  readonly expireSeconds?: number
}

export type Enqueue = <Payload extends object>(
  job: QueuedJob<Payload>,
  payloads: readonly Payload[],
) => Promise<void>

export type EnqueueWithin = <Payload extends object>(
  client: TransactionClient,
  job: QueuedJob<Payload>,
  payloads: readonly Payload[],
) => Promise<void>

/** A job as operators see it. */
export type FoundJob = {
  readonly id: string
  readonly queue: string
  readonly state: 'created' | 'retry' | 'active' | 'completed' | 'cancelled' | 'failed'
  /** All retries failed. */
  readonly isDead: boolean
  readonly retries: number
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly endedAt: Date | null
}

export type QueueCounts = {
  readonly job: string
  readonly queued: number
  readonly active: number
  /** Jobs that ran out of tries. */
  readonly dead: number
}

export type PaymentJob = FoundJob & { readonly job: 'charge' | 'capture' }

/** The subject of a job: an attempt to resolve, a two-step payment, or a schedule's due time. */
export type JobSubject =
  | { readonly attemptKey: string; readonly isFollowUp: boolean }
  | { readonly authorisationId: string }
  | { readonly merchantId: string; readonly executionId: string }

/** The parts of a subject that find its jobs. */
export type SoughtSubject =
  | { readonly attemptKey: string }
  | { readonly authorisationId: string }
  | { readonly executionId: string }

export type PaymentJobs = {
  /** Jobs about any of these that wait, run, ended lately, or ran out of tries. */
  find(subjects: readonly SoughtSubject[]): Promise<PaymentJob[]>
  /** Queues the job in the caller's transaction, unless one waits already. */
  enqueueWithin(client: TransactionClient, subject: JobSubject): Promise<void>
  /** Queues the job that sends a queued payment, in the transaction that accepts it. */
  sendWithin(client: TransactionClient, attemptKey: string, connector: string): Promise<void>
  /** Removes jobs that used up their retries, after another one was queued instead. */
  forget(jobs: readonly PaymentJob[]): Promise<void>
}
