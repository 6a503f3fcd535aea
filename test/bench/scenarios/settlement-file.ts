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

/** Seconds from the import to each state. */
async function stepsOf(client: pg.Client, fileId: string): Promise<Map<string, number>> {
  const startedMs = performance.now()
  const steps = new Map<string, number>()
  for (;;) {
    const { rows } = await client.query<{ state: string; refused_why: string | null }>(
      'select state, refused_why from tollgate.settlement_file where id = $1',
      [fileId],
    )
    const { state, refused_why: why } = rows[0]!
    if (state === 'refused') throw new Error(`the file was refused: ${why}`)
    if (!steps.has(state)) steps.set(state, (performance.now() - startedMs) / 1000)
    if (state === 'done' || state === 'repeated') return steps
    await pause(100)
  }
}

async function run(ground: Ground): Promise<void> {
  const { isSmall } = ground
  const [wanted, lines, besideLines] = isSmall
    ? [5_000, 1_000, 500]
    : [10_000_000, 1_000_000, 300_000]
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
  const rateMs = isSmall ? 300 : 15_000
  await rate(traffic, target, rateMs)
  const alone = await rate(traffic, target, rateMs)

  const first = await imported('first')
  const { value: steps, megabytes: peak } = await peakMegabytes(target.pid, () =>
    stepsOf(client, first.id),
  )
  const repeat = await imported('first')
  if (!repeat.isRepeat) throw new Error('the same bytes are a repeat')
  const second = await imported('second')
  const secondSteps = await stepsOf(client, second.id)
  const third = await imported('third', lines, lines + besideLines)
  const [thirdSteps, beside] = await Promise.all([
    stepsOf(client, third.id),
    rate(traffic, target, rateMs),
  ])
  const { rows: matched } = await client.query<{ status: string; count: string }>(
    'select match_status as status, count(*) from tollgate.settlement_record group by 1 order by 1',
  )
  const seconds = (value: number | undefined) => (value ?? Number.NaN).toFixed(1)
  const since = (map: Map<string, number>, from: string, to: string) =>
    seconds(map.get(to)! - (map.get(from) ?? 0))
  printRows(
    [`${lines} lines`, 's'],
    [
      ['import: seal and store the bytes', seconds(first.seconds)],
      ['read, check and stage', since(steps, 'arrived', 'staged')],
      ['match and store the records', since(steps, 'staged', 'decided')],
      ['effects', since(steps, 'decided', 'done')],
      ['the same bytes again', seconds(repeat.seconds)],
      ['the same records in other bytes', seconds(secondSteps.get('done'))],
      [`${besideLines} other lines, beside payments`, seconds(thirdSteps.get('done'))],
    ],
  )
  console.log(`  ${matched.map(({ status, count }) => `${status} ${count}`).join(', ')}`)
  console.log(`  peak memory of the host ${peak.toFixed(0)} MB`)
  printRows(
    ['payments', 'per second', 'p99 ms'],
    [
      ['alone', alone.perSecond.toFixed(0), alone.p99Ms.toFixed(1)],
      ['beside a file', beside.perSecond.toFixed(0), beside.p99Ms.toFixed(1)],
      ['ratio', (beside.perSecond / alone.perSecond).toFixed(2), ''],
    ],
  )
}

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
