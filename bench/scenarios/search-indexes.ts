/** What the indexes of searches cost each payment: two hosts, on one of whose databases they are dropped. */
import pg from 'pg'
import { type Ground, newTarget, newTraffic, type Scenario } from './ground.ts'
import { type Pair, printPair, type Rounds, runRound } from './two-databases.ts'

const levels = [32, 64]
const indexes = [
  'payment_channel',
  'payment_clock',
  'payment_merchant_transaction',
  'payment_short_no',
]

async function run(ground: Ground): Promise<void> {
  const { isSmall, stop } = ground
  const without = await newTarget(ground, 'without_indexes')
  const with_ = await newTarget(ground, 'with_indexes')
  const client = new pg.Client({ connectionString: without.url })
  await client.connect()
  stop.defer(() => client.end())
  for (const index of indexes) await client.query(`drop index tollgate.${index}`)
  const traffic = await newTraffic(ground)
  const pair: Pair = {
    plain: { title: 'without', target: without },
    other: { title: 'with', target: with_ },
  }
  const durationMs = isSmall ? 300 : 2000
  const warmUp: Rounds = { plain: [], other: [] }
  await runRound(traffic, pair, warmUp, Math.max(...levels), durationMs)
  const measured = new Map(
    levels.map((level): [number, Rounds] => [level, { plain: [], other: [] }]),
  )
  for (let round = 0; round < (isSmall ? 2 : 9); round += 1) {
    for (const [level, rounds] of measured) {
      await runRound(traffic, pair, rounds, level, durationMs)
    }
  }
  printPair(pair, measured)
}

export const searchIndexes: Scenario = {
  name: 'search-indexes',
  title: 'Payments with the indexes of searches against payments without',
  run,
}
