/**
 * A settlement file of a million lines beside ten million payments: the time of each step, the memory of the
 * host that works on it, payments at the same time, and the same records in a second file.
 */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { columns } from '../../../connectors/simulator/settlement/format.ts'
import { shortId } from '../../../core/ids.ts'
import { gatewayOf } from '../installation.ts'
import { paymentForm } from '../payment.ts'
import { printRows } from '../print.ts'
import { familyMs, processMs, residentBytes } from '../processor-time.ts'
import { startAcquirer } from './acquirer.ts'
import { fill } from './fill.ts'
import {
  assertAllApproved,
  type Ground,
  newHost,
  newInstallation,
  newTraffic,
  pay,
  peakMegabytes,
  type Scenario,
  type Target,
  type Traffic,
} from './ground.ts'
import type { StreamReport } from './traffic.ts'

const concurrent = 32
const configFile = 'test/bench/scenarios/slow-acquirer.config.js'

type Stored = {
  readonly id: string
  readonly reference: string
  readonly short_no: string
}

/** Of ten lines, the cell that names the payment. A name that no payment has stays unmatched. */
const namings: readonly ((payment: Stored) => Cells)[] = [
  ...Array.from(
    { length: 6 },
    () =>
      (payment: Stored): Cells => ({ Key: payment.id }),
  ),
  (payment) => ({ Order: payment.reference }),
  (payment) => ({ Order: payment.reference }),
  (payment) => ({ ShortId: shortId(Number(payment.short_no)) }),
  ({ id }) => ({ Order: `unknown-${id}` }),
]

type Cells = { readonly [Column in (typeof columns)[number]]?: string }

const merchant = 'bench'

const lineOf = (cells: Cells) => `${columns.map((column) => cells[column] ?? '').join(';')}\n`

/** The bytes of a file, in chunks. */
async function* fileOf(
  reference: string,
  payments: readonly Stored[],
  date: string,
): AsyncGenerator<Buffer> {
  let text = `FILE;${reference}\n${columns.join(';')}\n`
  for (const [index, payment] of payments.entries()) {
    text += lineOf({
      ...{ Type: 'SETTLED', Transaction: 'DEBIT', Merchant: merchant, Batch: date, Date: date },
      ...{ Cashflow: 'POS', Status: 'SUCCESS', Id: `line-${payment.short_no}`, Amount: '92.00' },
      ...{ Currency: 'EUR', Settled: '92.00', SettledCurrency: 'EUR', Fee: '1.39' },
      ...namings[index % namings.length]!(payment),
    })
    if (text.length < 1_000_000) continue
    yield Buffer.from(text)
    text = ''
  }
  yield Buffer.from(`${text}END;${payments.length};EUR=${payments.length * 9200}\n`)
}

type Steps = {
  /** Seconds from the import to each state. */
  readonly at: ReadonlyMap<string, number>
  /** Age of the oldest transaction with a number that was seen: readers of the event feed wait for it. */
  readonly longestSeconds: number
}

const lookMs = 50

async function stepsOf(client: pg.Client, fileId: string): Promise<Steps> {
  const startedMs = performance.now()
  const at = new Map<string, number>()
  let longestSeconds = 0
  for (;;) {
    const { rows } = await client.query<{ state: string; why: string | null; seconds: number }>(
      `select state, refused_why as why, (
         select coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float8
         from pg_stat_activity where datname = current_database() and backend_xid is not null) as seconds
       from tollgate.settlement_file where id = $1`,
      [fileId],
    )
    const { state, why, seconds } = rows[0]!
    if (state === 'refused') throw new Error(`the file was refused: ${why}`)
    longestSeconds = Math.max(longestSeconds, seconds)
    if (!at.has(state)) at.set(state, (performance.now() - startedMs) / 1000)
    if (state === 'done' || state === 'repeated') return { at, longestSeconds }
    await pause(lookMs)
  }
}

async function run(ground: Ground): Promise<void> {
  const { isSmall, part } = ground
  const sized = (full: number, small: number) => (isSmall ? small : Math.round(part * full))
  const wanted = sized(10_000_000, 5_000)
  const lines = sized(1_000_000, 1_000)
  const besideLines = sized(300_000, 500)
  const url = await startAcquirer(ground)
  const installation = await newInstallation(ground, 'settlement', url)
  const target = await newHost(ground, installation, {
    name: 'settlement',
    configFile,
    settings: { BENCH_ACQUIRER: url },
  })
  const client = new pg.Client({ connectionString: target.url })
  await client.connect()
  ground.stop.defer(() => client.end())
  const fields = { ...Object.fromEntries(new URLSearchParams(paymentForm(target.entityId, 0))) }
  const sample = await pay(target, { ...fields, testMode: 'EXTERNAL' })
  const startedMs = performance.now()
  const megabytes = await fill(client, sample, wanted, { months: 1, only: ['payment', 'attempt'] })
  const filledSeconds = ((performance.now() - startedMs) / 1000).toFixed(0)
  console.log(`  ${wanted} payments of this month in ${filledSeconds} s, ${megabytes} MB`)
  const { rows: payments } = await client.query<Stored>(
    `select replace(id::text, '-', '') as id, merchant_transaction_id as reference,
       short_no::text as short_no
     from tollgate.payment order by id desc limit $1`,
    [lines + besideLines],
  )
  const date = new Date().toISOString().slice(0, 10)
  const gateway = await gatewayOf(installation, url)
  ground.stop.defer(() => gateway.close())
  const { rows: accounts } = await client.query<{ id: string }>(
    `select replace(id::text, '-', '') as id from tollgate.merchant_account
     where connector = 'simulator-http'`,
  )
  const imported = async (reference: string, from = 0, to = lines) => {
    const begun = performance.now()
    const bytes = fileOf(reference, payments.slice(from, to), date)
    const file = await gateway.settlement.import(bytes, { accountId: accounts[0]!.id })
    return { ...file, seconds: (performance.now() - begun) / 1000 }
  }
  const traffic = await newTraffic(ground)
  const rateMs = isSmall ? 300 : 5_000
  const idle = residentBytes(target.pid) / 2 ** 20
  const used = () => ({ host: processMs(target.pid), server: familyMs(ground.server.pid) })
  const first = await imported('first')
  const start = used()
  const { value: steps, megabytes: peak } = await peakMegabytes(target.pid, () =>
    stepsOf(client, first.id),
  )
  const afterFirst = used()
  const repeat = await imported('first')
  if (!repeat.isRepeat) throw new Error('the same bytes are a repeat')
  const second = await imported('second')
  const beforeSecond = used()
  const secondSteps = await stepsOf(client, second.id)
  const afterSecond = used()

  const seconds = (value: number | undefined) => (value ?? Number.NaN).toFixed(1)
  const since = ({ at }: Steps, from: string, to: string) =>
    seconds(at.get(to)! - (at.get(from) ?? 0))
  // A run of half an hour shows what it has.
  printRows(
    [`${lines} lines`, 's'],
    [
      ['import: seal and store the bytes', seconds(first.seconds)],
      ['read, check and stage', since(steps, 'arrived', 'staged')],
      ['match and store the records', since(steps, 'staged', 'decided')],
      ['effects', since(steps, 'decided', 'done')],
      ['the same bytes again', seconds(repeat.seconds)],
      ['the same records in other bytes', seconds(secondSteps.at.get('done'))],
    ],
  )

  const round = () => rate(traffic, target, rateMs)
  await round()
  const before = [await round(), await round(), await round()]
  const third = await imported('third', lines, lines + besideLines)
  const working = stepsOf(client, third.id)
  const beside = await roundsDuring(working, round)
  const thirdSteps = await working
  const alone = summaryOf([...before, await round(), await round(), await round()])
  const { rows: matched } = await client.query<{ status: string; count: string }>(
    'select match_status as status, count(*) from tollgate.settlement_record group by 1 order by 1',
  )
  printRows(
    [`${besideLines} other lines`, 's'],
    [['beside payments', seconds(thirdSteps.at.get('done'))]],
  )
  printRows(
    ['longest transaction with a number', 's'],
    [
      ['the file alone', steps.longestSeconds.toFixed(2)],
      ['the same records in other bytes', secondSteps.longestSeconds.toFixed(2)],
      ['the file beside payments', thirdSteps.longestSeconds.toFixed(2)],
    ],
  )
  const processors = (name: string, from: Used, to: Used) => [
    name,
    seconds((to.host - from.host) / 1000),
    seconds((to.server - from.server) / 1000),
  ]
  printRows(
    ['processor seconds', 'host', 'PostgreSQL'],
    [
      processors('the file alone', start, afterFirst),
      processors('the same records in other bytes', beforeSecond, afterSecond),
    ],
  )
  console.log(`  ${matched.map(({ status, count }) => `${status} ${count}`).join(', ')}`)
  console.log(`  memory of the host: idle ${idle.toFixed(0)} MB, at its peak ${peak.toFixed(0)} MB`)
  printRows(
    ['payments', 'per second', 'p99 ms', 'rounds'],
    [
      ['alone, before and after', ...cellsOf(alone)],
      ['beside a file', ...cellsOf(beside)],
      ['ratio', (beside.perSecond / alone.perSecond).toFixed(2), '', ''],
    ],
  )
}

/** Milliseconds of the processor. */
type Used = { readonly host: number; readonly server: number }

/** Rounds of payments until `work` ends. A file that ends early leaves a round that it shares. */
async function roundsDuring(
  work: Promise<unknown>,
  round: () => Promise<StreamReport>,
): Promise<Summary> {
  const rounds: StreamReport[] = []
  let isOver = false
  const end = () => {
    isOver = true
  }
  work.then(end, end)
  while (!isOver) {
    const report = await round()
    if (!isOver || rounds.length === 0) rounds.push(report)
  }
  return summaryOf(rounds)
}

type Summary = { readonly perSecond: number; readonly p99Ms: number; readonly rounds: number }

/** The mean rate of rounds, and the median of their 99th percentiles. */
function summaryOf(rounds: readonly StreamReport[]): Summary {
  const p99s = rounds.map(({ p99Ms }) => p99Ms).sort((a, b) => a - b)
  return {
    perSecond: rounds.reduce((sum, { perSecond }) => sum + perSecond, 0) / rounds.length,
    p99Ms: p99s[Math.floor(p99s.length / 2)]!,
    rounds: rounds.length,
  }
}

const cellsOf = ({ perSecond, p99Ms, rounds }: Summary) => [
  perSecond.toFixed(0),
  p99Ms.toFixed(1),
  String(rounds),
]

async function rate(traffic: Traffic, target: Target, durationMs: number) {
  const { all } = await traffic({
    streams: [{ ...target, name: 'all', kind: 'approved', pace: { concurrent } }],
    durationMs,
  })
  assertAllApproved(all!)
  return all!
}

export const settlementFile: Scenario = {
  name: 'settlement-file',
  title: 'A settlement file of a million lines beside ten million payments',
  run,
}
