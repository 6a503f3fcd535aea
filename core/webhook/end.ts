/** What an endpoint does not get any more. */
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { givenUpAfterMs } from './ladder.ts'
import type { Run } from './reader.ts'
import { disableEndpoint } from './store.ts'
import { bury } from './store-delivery.ts'
import type { Endpoint } from './types.ts'

const atOnce = 1000

/** Gives up what waits for an endpoint: all, what is older than `before`, or one. */
export async function giveUp(
  engine: Engine,
  run: Run,
  endpointId: string,
  reason: string,
  { before = null, only = null }: { before?: Date | null; only?: string | null } = {},
): Promise<void> {
  for (;;) {
    const now = new Date(engine.clock.realMs())
    const gone = await run(bury(endpointId, reason, before, now, only, atOnce))
    if (gone.length < atOnce) return
  }
}

/** Gives up what nobody took in time. */
export function giveUpOld(engine: Engine, run: Run, endpointId: string): Promise<void> {
  const before = new Date(engine.clock.realMs() - givenUpAfterMs)
  return giveUp(engine, run, endpointId, 'not taken in time', { before })
}

/** Stops sending to an endpoint, and says so everywhere: to its owner, to operators, in the log. */
export async function disable(
  engine: Engine,
  run: Run,
  endpointId: string,
  reason: string,
): Promise<void> {
  const now = new Date(engine.clock.realMs())
  const [disabled] = await run(disableEndpoint(endpointId, reason, now, newId()))
  if (disabled !== undefined) {
    engine.log.warn({ endpoint: endpointId, reason }, 'a webhook endpoint was disabled')
    engine.events.emit({
      id: newId(),
      type: 'webhook.disabled',
      resource: endpointId,
      channelId: disabled.entity_id,
      sequence: 1,
      at: now,
      data: { reason },
    })
  }
  await giveUp(engine, run, endpointId, `the endpoint was disabled: ${reason}`)
}

/** Why an endpoint that is switched off gets nothing. */
export function reasonOf(endpoint: Endpoint | undefined): string {
  return endpoint?.disabledReason == null
    ? 'the endpoint was removed or switched off'
    : `the endpoint was disabled: ${endpoint.disabledReason}`
}
