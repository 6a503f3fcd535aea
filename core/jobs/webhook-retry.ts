import { defineJob } from './define.ts'

/**
 * Serves a webhook endpoint without a process: after a process's death, or for its next attempt.
 * Safe to run twice: the job sends only under the endpoint's lease, and only deliveries without a
 * result.
 */
export const webhookRetry = (adopt: (endpointId: string) => Promise<void>) =>
  defineJob<{ endpointId: string }>({
    name: 'webhook-retry',
    retry: { limit: 0, delaySeconds: 1 },
    concurrency: 4,
    sharedBecause: 'a job takes the queue of an endpoint, and does not wait for its server',
    keyOf: ({ endpointId }) => endpointId,
    async run({ endpointId }) {
      await adopt(endpointId)
    },
  })
