/** Calls of URLs from shoppers' requests. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { addCallback, cancelCallback } from './store-replay.ts'

/**
 * Calls a checkout's `shopperResultUrl` when no request reads its result within 29 minutes: GET
 * with `id` and `resourcePath`, under the guard and the ladder of webhooks.
 *
 * @param checkout its id, and `resourcePath`: `/v1/checkouts/{id}/payment` or `…/registration`.
 * @returns id for the cancellation.
 */
export async function scheduleShopperResult(
  engine: Engine,
  checkout: {
    readonly channelId: string
    readonly id: string
    readonly resourcePath: string
    readonly shopperResultUrl: string
  },
): Promise<string> {
  const { channelId, shopperResultUrl: url, resourcePath } = checkout
  const id = newId()
  const now = engine.clock.businessAt(channelId)
  await engine.lanes.single(
    addCallback({
      id,
      channelId,
      origin: new URL(url).origin,
      dueAt: new Date(now.getTime() + limits.shopperResultCallbackMs),
      now,
      callback: JSON.stringify({ url, id: checkout.id, resourcePath }),
    }),
  )
  return id
}

/** Cancels the call after a request read the result. A call under way continues. */
export async function cancelShopperResult(engine: Engine, id: string): Promise<void> {
  await engine.lanes.single(cancelCallback(id, new Date(engine.clock.realMs())))
}
