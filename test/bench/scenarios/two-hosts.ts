/** Two host processes on one Postgres against one, with the same number of clients. */
import { printRows } from '../print.ts'
import { median } from '../rounds.ts'
import {
  assertAllApproved,
  type Ground,
  newHost,
  newInstallation,
  newTraffic,
  type Scenario,
  type Target,
} from './ground.ts'

const levels = [8, 64]

async function run(ground: Ground): Promise<void> {
  const { isSmall } = ground
  const installation = await newInstallation(ground, 'two_hosts')
  const first = await newHost(ground, installation, { name: 'two_hosts_first' })
  const second = await newHost(ground, installation, { name: 'two_hosts_second' })
  const traffic = await newTraffic(ground)
  const rate = async (hosts: readonly Target[], concurrent: number) => {
    const reports = await traffic({
      streams: hosts.map((host, index) => ({
        ...host,
        name: `host ${index}`,
        kind: 'approved',
        pace: { concurrent: concurrent / hosts.length },
      })),
      durationMs: isSmall ? 500 : 4000,
    })
    Object.values(reports).forEach(assertAllApproved)
    return Object.values(reports).reduce((sum, { perSecond }) => sum + perSecond, 0)
  }
  await rate([first, second], 64)
  const rows = []
  for (const concurrent of levels) {
    const rounds: { one: number; two: number }[] = []
    for (let round = 0; round < (isSmall ? 2 : 7); round += 1) {
      // The order alternates, unlike the machine's slow moments.
      const twoFirst = round % 2 === 1 ? await rate([first, second], concurrent) : undefined
      const one = await rate([first], concurrent)
      rounds.push({ one, two: twoFirst ?? (await rate([first, second], concurrent)) })
    }
    rows.push([
      concurrent,
      median(rounds.map(({ one }) => one)).toFixed(0),
      median(rounds.map(({ two }) => two)).toFixed(0),
      median(rounds.map(({ one, two }) => two / one)).toFixed(2),
    ])
  }
  printRows(['concurrent in all', 'one host /s', 'two hosts /s', 'two/one'], rows)
}

export const twoHosts: Scenario = {
  name: 'two-hosts',
  title: 'Two hosts on one Postgres against one',
  run,
}
