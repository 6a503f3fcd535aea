/** Payments on a database of five million, beside an empty one. */
import pg from 'pg'
import { paymentForm } from '../payment.ts'
import { fill } from './fill.ts'
import { type Ground, newTarget, newTraffic, pay, type Scenario } from './ground.ts'
import { type Pair, printPair, type Rounds, runRound } from './two-databases.ts'

const levels = [1, 32]

async function run(ground: Ground): Promise<void> {
  const { isSmall } = ground
  const wanted = isSmall ? 20_000 : 5_000_000
  const empty = await newTarget(ground, 'empty')
  const filled = await newTarget(ground, 'filled')
  const fields = Object.fromEntries(new URLSearchParams(paymentForm(filled.entityId, 0)))
  const sample = await pay(filled, fields, undefined, { 'idempotency-key': 'sample' })
  const client = new pg.Client({ connectionString: filled.url })
  await client.connect()
  ground.stop.defer(() => client.end())
  const startedMs = performance.now()
  const megabytes = await fill(client, sample, wanted)
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
  console.log(
    `  ${wanted} payments of six months stored in ${seconds} s, ${megabytes} MB with indexes`,
  )
  const traffic = await newTraffic(ground)
  const pair: Pair = {
    plain: { title: 'empty', target: empty },
    other: { title: 'filled', target: filled },
  }
  const durationMs = isSmall ? 300 : 4000
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

export const storedPayments: Scenario = {
  name: 'stored-payments',
  title: 'Five million stored payments against none',
  run,
}
