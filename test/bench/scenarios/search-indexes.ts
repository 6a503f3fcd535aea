/**
 * The cost of the search indexes for each payment: two hosts, one of them without these indexes.
 */
import pg from 'pg'
import { printRows } from '../print.ts'
import { familyMs } from '../processor-time.ts'
import { median } from '../rounds.ts'
import { assertAllApproved, type Ground, newTarget, newTraffic, type Scenario } from './ground.ts'

const levels = [32, 64]
const indexes = [
  'payment_brand',
  'payment_channel',
  'payment_channel_brand',
  'payment_channel_type',
  'payment_clock',
  'payment_merchant_transaction',
  'payment_short_no',
  'payment_type',
]

type Round = { readonly perSecond: number; readonly walBytes: number; readonly postgresMs: number }

async function run(ground: Ground): Promise<void> {
  const { isSmall, server, stop } = ground
  const targets = {
    without: await newTarget(ground, 'without_indexes'),
    with: await newTarget(ground, 'with_indexes'),
  }
  const client = new pg.Client({ connectionString: targets.without.url })
  await client.connect()
  stop.defer(() => client.end())
  for (const index of indexes) await client.query(`drop index tollgate.${index}`)
  const traffic = await newTraffic(ground)
  const measure = async (name: keyof typeof targets, concurrent: number): Promise<Round> => {
    const [wal, ms] = [await server.walBytes(), familyMs(server.pid)]
    const { all } = await traffic({
      streams: [{ ...targets[name], name: 'all', kind: 'approved', pace: { concurrent } }],
      durationMs: isSmall ? 300 : 2000,
    })
    assertAllApproved(all!)
    return {
      perSecond: all!.perSecond,
      walBytes: ((await server.walBytes()) - wal) / all!.approved,
      postgresMs: (familyMs(server.pid) - ms) / all!.approved,
    }
  }
  const rows: (string | number)[][] = []
  for (const level of levels) {
    const rounds: Record<keyof typeof targets, Round[]> = { without: [], with: [] }
    for (const name of ['without', 'with'] as const) await measure(name, level)
    for (let round = 0; round < (isSmall ? 2 : 9); round += 1) {
      const order = ['without', 'with'] as const
      for (const name of round % 2 === 0 ? order : order.toReversed()) {
        rounds[name].push(await measure(name, level))
      }
    }
    for (const name of ['without', 'with'] as const) {
      const figure = (of: keyof Round) => median(rounds[name].map((round) => round[of]))
      const ratios = rounds[name].map(
        ({ perSecond }, round) => perSecond / rounds.without[round]!.perSecond,
      )
      rows.push([
        `${level} concurrent, ${name}`,
        figure('perSecond').toFixed(0),
        `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`,
        figure('walBytes').toFixed(0),
        figure('postgresMs').toFixed(3),
      ])
    }
  }
  printRows(['', 'payments/s', 'ratio', 'WAL bytes', 'Postgres ms'], rows)
}

export const searchIndexes: Scenario = {
  name: 'search-indexes',
  title: 'Payments with the indexes of searches against payments without',
  run,
}
