/** The work about one payment that is queued, runs, or failed for good. */
import type { Client } from '../db/database.ts'
import type { JobDefinition } from '../queue/define.ts'
import type { FoundJob, Queue } from '../queue/queue.ts'
import { capture } from './capture.ts'
import { charge } from './charge.ts'

export type PaymentJob = FoundJob & { readonly job: 'charge' | 'capture' }

/** What a job is about: an attempt to resolve, the steps of a payment that has two, or a schedule's instant. */
export type Subject =
  | { readonly attemptKey: string; readonly isFollowUp: boolean }
  | { readonly authorisationId: string }
  | { readonly merchantId: string; readonly occurrenceId: string }

/** The same as far as it is needed to find the work about it. */
export type SoughtSubject =
  | { readonly attemptKey: string }
  | { readonly authorisationId: string }
  | { readonly occurrenceId: string }

export type PaymentJobs = {
  /** Jobs about any of these that wait, run, ended lately, or ran out of tries. */
  find(subjects: readonly SoughtSubject[]): Promise<PaymentJob[]>
  /** Queues the job about this as a part of the caller's transaction; one that waits already stays the only one. */
  enqueueWithin(client: Client, subject: Subject): Promise<void>
  /** Removes jobs that failed for good: another one was queued in their place. */
  forget(jobs: readonly PaymentJob[]): Promise<void>
}

export function paymentJobs(queue: Queue): PaymentJobs {
  return {
    async find(subjects) {
      const found = await Promise.all(
        subjects.flatMap((subject) => {
          if ('occurrenceId' in subject) {
            const { occurrenceId } = subject
            return [queue.find(charge, occurrenceId, { occurrenceIds: [occurrenceId] })]
          }
          if ('authorisationId' in subject) {
            const { authorisationId } = subject
            return [queue.find(capture, authorisationId, { authorisationId })]
          }
          // A follow-up that was swept is finished by a capture job, one that is asked about by a charge job.
          const { attemptKey } = subject
          return [charge, capture].map((job) =>
            queue.find(job as JobDefinition<object>, attemptKey, { attemptKey }),
          )
        }),
      )
      return found.flat().map((job) => ({
        ...job,
        job: job.queue.startsWith('capture') ? 'capture' : 'charge',
      }))
    },
    async enqueueWithin(client, subject) {
      if ('occurrenceId' in subject) {
        const { merchantId, occurrenceId } = subject
        await queue.enqueueWithin(client, charge, [{ merchantId, occurrenceIds: [occurrenceId] }])
      } else if ('authorisationId' in subject) {
        await queue.enqueueWithin(client, capture, [subject])
      } else if (subject.isFollowUp) {
        await queue.enqueueWithin(client, capture, [{ attemptKey: subject.attemptKey }])
      } else {
        const { attemptKey } = subject
        await queue.enqueueWithin(client, charge, [{ attemptKey, why: 'look' }])
      }
    },
    forget: (jobs) => queue.forget(jobs),
  }
}
