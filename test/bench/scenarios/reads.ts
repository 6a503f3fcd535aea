/** GET /v1/payments/{id} over a few thousand payments in turn. */
import { paymentForm } from '../payment.ts'
import { printRows } from '../print.ts'
import {
  assertAllApproved,
  type Ground,
  newTarget,
  newTraffic,
  pay,
  type Scenario,
} from './ground.ts'

const levels = [1, 8, 64]

async function run(ground: Ground): Promise<void> {
  const { isSmall } = ground
  const target = await newTarget(ground, 'reads')
  const traffic = await newTraffic(ground)
  const ids: string[] = []
  for (let no = 0; no < (isSmall ? 50 : 2000); no += 1) {
    const fields = Object.fromEntries(new URLSearchParams(paymentForm(target.entityId, no)))
    ids.push(await pay(target, fields))
  }
  const rows: (string | number)[][] = []
  // Once through to warm up, then for the figures.
  for (const concurrent of [64, ...levels]) {
    const { reads } = await traffic({
      streams: [{ ...target, name: 'reads', kind: 'reads', ids, pace: { concurrent } }],
      durationMs: isSmall ? 500 : 5000,
    })
    assertAllApproved(reads!)
    const { perSecond, p50Ms, p99Ms } = reads!
    rows.push([concurrent, perSecond.toFixed(0), p50Ms.toFixed(2), p99Ms.toFixed(2)])
  }
  printRows(['concurrent', 'reads/s', 'p50 ms', 'p99 ms'], rows.slice(1))
}

export const reads: Scenario = { name: 'reads', title: 'Reads: GET /v1/payments/{id}', run }
