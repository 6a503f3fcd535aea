/**
 * A transaction left open for the whole measurement: rows updated by payments cannot be vacuumed,
 * and the sweep for interrupted attempts reads past all of them.
 */
import pg from 'pg'
import { somethingDue } from '../../../core/jobs/store-due.ts'
import { overdue } from '../../../core/payment/store-settle.ts'
import { printRows } from '../print.ts'
import { median } from '../rounds.ts'
import { type Ground, newTarget, newTraffic, type Scenario, type Target } from './ground.ts'
import { type Pair, printPair, type Rounds, runRound } from './two-databases.ts'

const concurrent = 32
const sweeps = [
  { title: 'is anything due', statement: somethingDue },
  { title: 'overdue attempts', statement: overdue(500) },
]

async function connected({ stop }: Ground, { url }: Target): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  stop.defer(() => client.end())
  return client
}

type Sweep = { readonly ms: number; readonly buffers: number; readonly plan: readonly string[] }

/** Explains a query of the sweep with the settings of the engine's connections. */
async function sweep(
  client: pg.Client,
  { strings, values }: (typeof sweeps)[number]['statement'],
): Promise<Sweep> {
  const text = strings.reduce((all, part, index) => `${all}$${index}${part}`)
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, buffers, timing off, costs off) ${text}`,
    [...values],
  )
  const plan = rows.map((row) => row['QUERY PLAN'])
  const all = plan.join('\n')
  const [, first = '0'] = /Buffers: shared hit=(\d+)/.exec(all) ?? []
  return { ms: Number(/Execution Time: ([0-9.]+)/.exec(all)?.[1]), buffers: Number(first), plan }
}

async function run(ground: Ground): Promise<void> {
  const { isSmall } = ground
  const free = await newTarget(ground, 'no_snapshot')
  const held = await newTarget(ground, 'snapshot')
  const traffic = await newTraffic(ground)
  const pair: Pair = {
    plain: { title: 'nothing open', target: free },
    other: { title: 'open snapshot', target: held },
  }
  const durationMs = isSmall ? 400 : 5000
  await runRound(traffic, pair, { plain: [], other: [] }, concurrent, durationMs)
  const holder = await connected(ground, held)
  await holder.query('begin isolation level repeatable read')
  await holder.query('select count(*) from tollgate.attempt')
  const clients = { plain: await connected(ground, free), other: await connected(ground, held) }
  const rounds: Rounds = { plain: [], other: [] }
  const rows: string[][] = []
  for (let round = 0; round < (isSmall ? 2 : 12); round += 1) {
    await runRound(traffic, pair, rounds, concurrent, durationMs)
    for (const { title, statement } of sweeps) {
      const cells: string[] = []
      for (const client of [clients.plain, clients.other]) {
        const measured: Sweep[] = []
        for (let time = 0; time < 5; time += 1) measured.push(await sweep(client, statement))
        cells.push(
          median(measured.map(({ ms }) => ms)).toFixed(2),
          String(median(measured.map(({ buffers }) => buffers))),
        )
      }
      const payments = rounds.other.reduce((sum, { approved }) => sum + approved, 0)
      rows.push([title, String(payments), ...cells])
    }
  }
  printRows(
    ['sweep', 'payments since', 'nothing open: ms', 'buffers', 'open snapshot: ms', 'buffers'],
    isSmall
      ? rows
      : rows.filter(
          (_, index) => index % 6 < sweeps.length || index >= rows.length - sweeps.length,
        ),
  )
  const { plan } = await sweep(clients.other, sweeps[1]!.statement)
  console.log(plan.map((line) => `    ${line}`).join('\n'))
  await holder.query('rollback')
  printPair(pair, new Map([[concurrent, rounds]]))
}

export const openSnapshot: Scenario = {
  name: 'open-snapshot',
  title: 'A transaction left open: the cost of the sweep and of payments',
  run,
}
