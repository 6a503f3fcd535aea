/** Merchants that refund while a chargeback or a return stands: their refunds must wait. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Scene } from './injections.ts'
import { ask } from './line.ts'
import type { Target } from './telling.ts'

const recordedWithinMs = 3_000

const standing = {
  chargeback: `select from tollgate.chargeback where payment_id = $1 and kind = 'chargeback'`,
  return: `select from tollgate.attention where payment_id = $1 and kind = 'return' and resolved_at is null`,
} as const

/** Requests a cent as soon as the record forbids it. */
export async function tryToRefund(
  { ground, crew, history }: Scene,
  { id }: Target,
  because: keyof typeof standing,
): Promise<void> {
  const until = performance.now() + recordedWithinMs
  while ((await ground.sql(standing[because], [id])).length === 0) {
    if (performance.now() > until) return
    await pause(50)
  }
  const host = crew.any(0)
  if (host === undefined) return
  const startedMs = Date.now()
  const answer = await ask(host, {
    method: 'POST',
    path: `/v1/payments/${id}`,
    token: host.token,
    key: `waits-${id}`,
    body: 'paymentType=RF&amount=0.01&currency=EUR',
  })
  history.add({
    reference: `waits-${id}`,
    type: 'RF',
    on: id,
    host: host.name,
    startedMs,
    endedMs: Date.now(),
    asks: 'waits',
    answer,
  })
}
