/** The health of an endpoint, and the limit that disables it. */
import { limits } from '@tollgate/schemas'
import { givenUpAfterMs } from './backoff.ts'
import type { EndpointQueue } from './endpoint-queue.ts'
import type { Health } from './store-queue.ts'
import type { Endpoint, Tried } from './types.ts'

export const healthOf = (queue: EndpointQueue): Health => ({
  endpointId: queue.endpointId,
  failures: queue.failures,
  failingSince: queue.failingSince,
  probeAt: queue.probeAt,
})

/** Why this attempt disables the endpoint; undefined while the endpoint stays enabled. */
export function disabling(
  queue: EndpointQueue,
  endpoint: Endpoint,
  tried: Tried,
  nowMs: number,
): string | undefined {
  if (endpoint.kind === 'callback') return undefined
  if (tried.status === 410) return 'it answered 410 Gone'
  const sinceMs = nowMs - (queue.failingSince?.getTime() ?? nowMs)
  return sinceMs >= givenUpAfterMs
    ? `nothing but failures for ${limits.webhookDays} days`
    : undefined
}
