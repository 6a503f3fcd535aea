/** Memory of a host that takes payments for a long time, which must stay level. */
import { printRows } from '../print.ts'
import { residentBytes } from '../processor-time.ts'
import { assertAllApproved, type Ground, newTarget, newTraffic, type Scenario } from './ground.ts'

const concurrent = 32
const steps = 10
/** A slower machine reports its measurements up to this time. */
const longestMs = 15 * 60_000

async function run(ground: Ground): Promise<void> {
  const wanted = ground.isSmall ? 1000 : 500_000
  const target = await newTarget(ground, 'memory')
  const traffic = await newTraffic(ground)
  const startedMs = performance.now()
  const rows: (string | number)[][] = []
  let payments = 0
  while (payments < wanted && performance.now() - startedMs < longestMs) {
    const { all } = await traffic({
      streams: [{ ...target, name: 'all', kind: 'approved', pace: { concurrent } }],
      durationMs: ground.isSmall ? 200 : 2000,
    })
    assertAllApproved(all!)
    payments += all!.approved
    if (payments < ((rows.length + 1) * wanted) / steps && payments < wanted) continue
    rows.push([payments, `${(residentBytes(target.pid) / 2 ** 20).toFixed(0)} MB`])
  }
  printRows(['payments', 'RSS'], rows)
}

export const memory: Scenario = {
  name: 'memory',
  title: `Memory of a host over 500,000 payments, ${concurrent} concurrent`,
  run,
}
