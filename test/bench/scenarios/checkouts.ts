/** Checkouts: made by merchants' servers, then paid by shoppers and asked for. */
import { printRows } from '../print.ts'
import { assertAllApproved, type Ground, newTarget, newTraffic, type Scenario } from './ground.ts'
import type { Kind } from './traffic.ts'

const levels = [1, 32]
const kinds: readonly (readonly [kind: Kind, title: string])[] = [
  ['approved', 'payment of a server, to compare'],
  ['checkouts', 'prepare'],
  ['shoppers', 'prepare, pay, ask'],
]

async function run(ground: Ground): Promise<void> {
  const { isSmall } = ground
  const target = await newTarget(ground, 'checkouts')
  const traffic = await newTraffic(ground)
  const rows: (string | number)[][] = []
  const measure = async (kind: Kind, concurrent: number, durationMs: number) => {
    const { checkouts } = await traffic({
      streams: [{ ...target, name: 'checkouts', kind, pace: { concurrent } }],
      durationMs,
    })
    assertAllApproved(checkouts!)
    return checkouts!
  }
  for (const [kind] of kinds) await measure(kind, 32, isSmall ? 300 : 2000)
  for (const concurrent of levels) {
    for (const [kind, title] of kinds) {
      const { perSecond, p50Ms, p99Ms } = await measure(kind, concurrent, isSmall ? 300 : 4000)
      rows.push([title, concurrent, perSecond.toFixed(0), p50Ms.toFixed(2), p99Ms.toFixed(2)])
    }
  }
  printRows(['', 'concurrent', 'per second', 'p50 ms', 'p99 ms'], rows)
}

export const checkouts: Scenario = {
  name: 'checkouts',
  title: 'Checkouts: prepared, and prepared, paid and asked for',
  run,
}
