/** The work about one payment that is queued, runs, or failed for good. */
import type { Queue } from '../queue/queue.ts'
import type { PaymentJobs } from '../queue/types.ts'
import { capture } from './capture.ts'
import { charge } from './charge.ts'

export function paymentJobs(queue: Queue): PaymentJobs {
  return {
    async find(subjects) {
      const found = await Promise.all(
        subjects.flatMap((subject) => {
          if ('executionId' in subject) {
            const { executionId } = subject
            return [queue.find(charge, executionId, { occurrenceIds: [executionId] })]
          }
          if ('authorisationId' in subject) {
            const { authorisationId } = subject
            return [queue.find(capture, authorisationId, { authorisationId })]
          }
          // After the sweep, a capture job finishes a follow-up. A charge job enquires about it.
          const { attemptKey } = subject
          return [charge, capture].map((job) => queue.find(job, attemptKey, { attemptKey }))
        }),
      )
      return found.flat().map((job) => ({
        ...job,
        job: job.queue.startsWith('capture') ? 'capture' : 'charge',
      }))
    },
    async enqueueWithin(client, subject) {
      if ('executionId' in subject) {
        const { merchantId, executionId } = subject
        await queue.enqueueWithin(client, charge, [{ merchantId, occurrenceIds: [executionId] }])
      } else if ('authorisationId' in subject) {
        await queue.enqueueWithin(client, capture, [subject])
      } else if (subject.isFollowUp) {
        await queue.enqueueWithin(client, capture, [{ attemptKey: subject.attemptKey }])
      } else {
        const { attemptKey } = subject
        await queue.enqueueWithin(client, charge, [{ attemptKey, why: 'look' }])
      }
    },
    sendWithin: (client, attemptKey, connector) =>
      queue.enqueueWithin(client, charge, [{ attemptKey, why: 'queued', connector }]),
    forget: (jobs) => queue.forget(jobs),
  }
}
