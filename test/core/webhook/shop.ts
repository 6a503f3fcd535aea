/** A shop with one webhook endpoint. */
import { limits } from '@tollgate/schemas'
import { systemClock } from '../../../core/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import {
  type Receiver,
  type ReceiverOptions,
  startReceiver,
} from '../../rig/notification-receiver.ts'

/** What a test of one webhook endpoint works with. */
export type Shop = {
  readonly run: TestGateway
  readonly receiver: Receiver
  readonly endpointId: string
  /** Advances the engine's clock. */
  later(ms: number): void
  deliveries(): ReturnType<TestGateway['gateway']['webhooks']['deliveries']>
}

/** One plain endpoint for all types, and a clock that the test moves. */
export async function inShop(
  work: (shop: Shop) => Promise<void>,
  mode: ReceiverOptions['mode'] = 'ok',
): Promise<void> {
  // The clock stands still, so that a slow machine makes no attempt due.
  let nowMs = systemClock.realMs()
  const clock = { ...systemClock, realMs: () => nowMs, businessAt: () => new Date(nowMs) }
  const run = await startGateway({ clock })
  const receiver = await startReceiver({ mode, toleranceSeconds: Number.POSITIVE_INFINITY })
  try {
    const { id: endpointId, signingSecret } = await run.gateway.webhooks.create({
      entityId: run.merchant,
      url: receiver.url,
      wrapper: 'NONE',
      types: 'PAYMENT,REGISTRATION,SCHEDULE',
    } as never)
    receiver.trust({ secrets: [signingSecret!] })
    const later = (ms: number) => {
      nowMs += ms
    }
    const deliveries = () => run.gateway.webhooks.deliveries(endpointId)
    await work({ run, receiver, endpointId, later, deliveries })
  } finally {
    await run.close()
    await receiver.close()
  }
}

/** Waits until the attempt's outcome is written, which starts its pause. */
export const triedOften = (run: TestGateway, times: number) =>
  until(async () => {
    const [row] = await run.sql<{ attempts: number }>(
      'select max(attempts) as attempts from tollgate.delivery',
    )
    return row?.attempts === times ? true : undefined
  })

/** Waits until the endpoint counts as down and no process has it. */
export const isDown = (run: TestGateway) =>
  until(async () => {
    const [row] = await run.sql<{ failures: number; owner: string | null }>(
      'select failures, owner from tollgate.webhook_queue',
    )
    const isOver = row !== undefined && row.failures >= limits.webhookFailures
    return isOver && row.owner === null ? true : undefined
  })
