import { defineJob } from './define.ts'

/**
 * Looks after a webhook endpoint that nobody sends to: whose process died, or whose next try is due.
 * Safe to run twice: it sends only under the endpoint's lease, and only what no answer was written for.
 */
export const webhookRetry = (adopt: (endpointId: string) => Promise<void>) =>
  defineJob<{ endpointId: string }>({
    name: 'webhook-retry',
    retry: { limit: 0, delaySeconds: 1 },
    concurrency: 4,
    keyOf: ({ endpointId }) => endpointId,
    async run({ endpointId }) {
      await adopt(endpointId)
    },
  })
