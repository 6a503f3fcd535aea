/** Gives up notifications and disables endpoints. */

import { addAttention } from '../attention/store.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { givenUpAfterMs } from './backoff.ts'
import type { Untellable } from './notification.ts'
import type { Run } from './reader.ts'
import { type Buried, bury } from './store-delivery.ts'
import { disableEndpoint, type Health } from './store-queue.ts'
import type { Delivery, Endpoint, Verdict } from './types.ts'

const atOnce = 1000

/**
 * Gives up the waiting notifications of an endpoint: all of them by default.
 *
 * @param isOver Whether to leave the rest to another process.
 */
export async function giveUp(
  engine: Engine,
  run: Run,
  endpointId: string,
  reason: string,
  which: Partial<Buried> = {},
  isOver: () => boolean = () => false,
): Promise<void> {
  const all: Buried = { before: null, only: null, whileOff: false, ...which }
  while (!isOver()) {
    const now = new Date(engine.clock.realMs())
    const gone = await run(bury(endpointId, reason, all, now, atOnce))
    if (gone.length < atOnce) return
  }
}

/** Gives up notifications past their time limit. */
export function giveUpOld(engine: Engine, run: Run, endpointId: string): Promise<void> {
  const before = new Date(engine.clock.realMs() - givenUpAfterMs)
  return giveUp(engine, run, endpointId, 'not taken in time', { before })
}

/**
 * Disables an endpoint while the verdict holds, and tells its owner, the operators and the log. May
 * be repeated: what waits is given up whichever try switched the endpoint off.
 */
export async function disable(
  engine: Engine,
  run: Run,
  me: string,
  health: Health,
  verdict: Verdict,
): Promise<void> {
  const { endpointId: id } = health
  const { reason } = verdict
  const now = new Date(engine.clock.realMs())
  const [disabled] = await run(disableEndpoint(me, health, verdict, now, newId()))
  if (disabled !== undefined) {
    engine.log.warn({ endpoint: id, reason }, 'a webhook endpoint was disabled')
    engine.events.emit({
      id: newId(),
      type: 'webhook.disabled',
      resource: id,
      channelId: disabled.entity_id,
      sequence: 1,
      at: now,
      data: { reason },
    })
  }
  await giveUp(engine, run, id, `the endpoint was disabled: ${reason}`, { whileOff: true })
}

type Reason = Pick<Endpoint, 'removedAt' | 'disabledReason'>

/** Why a disabled endpoint gets no notifications. */
export function reasonOf(endpoint: Reason | undefined): string {
  if (endpoint?.removedAt != null) return 'the endpoint was removed'
  return endpoint?.disabledReason == null
    ? 'the endpoint was switched off'
    : `the endpoint was disabled: ${endpoint.disabledReason}`
}

/** The entry of the operators' list for a notification that cannot be built. */
export function untellable({ id, endpointId }: Delivery, { event }: Untellable) {
  const why = 'a notification cannot be told'
  const { id: eventId, resource, type } = event
  const detail = { why, endpoint: endpointId, event: eventId, resource, type }
  return addAttention(newId(), 'event', null, null, 0, detail, `notification ${id}`)
}
