/** Jobs as pg-boss stores them. */
import type { QueuedJob } from './types.ts'

/** How often a job was tried, and how often it may be tried again. */
export type Tries = {
  readonly id: string
  readonly retryCount: number
  readonly retryLimit: number
}

/** A job of the engine without tries is queued again while its work is due. */
export const renewed = ({ id, retryCount, retryLimit }: Tries): Tries => ({
  id,
  retryCount,
  retryLimit: retryLimit === 0 ? Number.POSITIVE_INFINITY : retryLimit,
})

/** Rows of new jobs. */
export function jobsOf<Payload extends object>(
  job: QueuedJob<Payload>,
  payloads: readonly Payload[],
) {
  return payloads.map((data) => {
    const group = job.groupOf?.(data)
    return {
      data,
      singletonKey: job.keyOf(data),
      ...(group === undefined ? {} : { group: { id: group } }),
    }
  })
}
