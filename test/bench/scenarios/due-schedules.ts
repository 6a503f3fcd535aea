/**
 * Schedules all due in the same second, over two hosts of which one is killed half-way:
 * measures their rate beside ordinary payments, and checks that each is charged exactly once.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { card } from '../payment.ts'
import { printRows } from '../print.ts'
import { charged, startAcquirer } from './acquirer.ts'
import {
  assertAllApproved,
  type Ground,
  newHost,
  newInstallation,
  newTraffic,
  type Scenario,
  type Target,
} from './ground.ts'

const registrations = 500
const concurrent = 64
/** Time to store all schedules before they are due. */
const aheadMs = 8_000

async function ask(
  { port, token, entityId }: Target,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams({ entityId, testMode: 'EXTERNAL', ...fields }),
  })
  const answer = (await response.json()) as { id: string }
  if (response.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer)}`)
  return answer.id
}

/** Copies of a schedule over the registrations, all due at one moment. */
const copy = `
insert into tollgate.schedule (id, channel_id, entity_id, merchant_id, registration_id, short_no, mode,
  payment_type, amount_minor, currency, zone, expression, job, request, created_at, next_at, seq)
select gen_random_uuid(), channel_id, entity_id, merchant_id, ($2::uuid[])[1 + no % cardinality($2::uuid[])],
  no, mode, payment_type, amount_minor, currency, zone, $3, job, request, created_at, $4, 1
from tollgate.schedule, generate_series(1, $5::integer) as no
where id = $1`

async function run(ground: Ground): Promise<void> {
  const wanted = ground.isSmall ? 300 : 50_000
  const acquirer = await startAcquirer(ground)
  const installation = await newInstallation(ground, 'due_schedules', acquirer)
  const options = {
    configFile: fileURLToPath(new URL('slow-acquirer.config.js', import.meta.url)),
    settings: { BENCH_ACQUIRER: acquirer },
  }
  const first = await newHost(ground, installation, { ...options, name: 'due_first' })
  const second = await newHost(ground, installation, { ...options, name: 'due_second' })
  const traffic = await newTraffic(ground)
  const client = new pg.Client({ connectionString: installation.url })
  await client.connect()
  ground.stop.defer(() => client.end())

  const rate = async (hosts: readonly Target[]) => {
    const reports = await traffic({
      streams: hosts.map((host, index) => ({
        ...host,
        name: `host ${index}`,
        kind: 'approved',
        delaysMs: [0, 0],
        pace: { concurrent: concurrent / hosts.length },
      })),
      durationMs: ground.isSmall ? 500 : 8_000,
    })
    Object.values(reports).forEach(assertAllApproved)
    return Object.values(reports).reduce((sum, { perSecond }) => sum + perSecond, 0)
  }
  await rate([first, second])
  const payments = await rate([first, second])

  const account = Object.fromEntries(
    Object.entries(card).map(([name, value]) => [`card.${name}`, value]),
  )
  const ids: string[] = []
  for (let no = 0; no < (ground.isSmall ? 10 : registrations); no += 1) {
    ids.push(await ask(first, '/v1/registrations', account))
  }
  const sample = await ask(first, '/scheduling/v1/schedules', {
    amount: '9.90',
    currency: 'EUR',
    paymentType: 'DB',
    registrationId: ids[0]!,
    'job.expression': '0 0 0 1 1 ? 2099',
  })
  const before = await charged(acquirer)
  const { rows: times } = await client.query<{ now: Date }>('select now()')
  const at = new Date(Math.ceil((times[0]!.now.getTime() + aheadMs) / 1000) * 1000)
  const [day, time] = at.toISOString().split(/[T.]/) as [string, string]
  const [year, month, date] = day.split('-').map(Number)
  const [hour, minute, inMinute] = time.split(':').map(Number)
  const expression = `${inMinute} ${minute} ${hour} ${date} ${month} ? ${year}`
  await client.query(copy, [sample, ids, expression, at, wanted])
  await client.query('vacuum (analyze) tollgate.schedule')

  const paid = async () => {
    const { rows } = await client.query<{ count: string }>(
      `select count(*) as count from tollgate.occurrence o
       join tollgate.payment p on p.id = o.payment_id where p.state = 'approved'`,
    )
    return Number(rows[0]?.count)
  }
  const since = at.getTime() - times[0]!.now.getTime() + performance.now()
  const begun = performance.now() + (at.getTime() - Date.now())
  const seconds: { share: number; at: number }[] = []
  let isKilled = false
  for (let done = 0; done < wanted; ) {
    await pause(200)
    done = await paid()
    const share = done / wanted
    for (const mark of [0.25, 0.5, 0.95, 1]) {
      if (share >= mark && !seconds.some((one) => one.share === mark)) {
        seconds.push({ share: mark, at: (performance.now() - begun) / 1000 })
      }
    }
    if (!isKilled && share >= 0.5) {
      isKilled = true
      process.kill(second.pid, 'SIGKILL')
    }
    if (performance.now() - since > 10 * 60_000) throw new Error(`only ${done} were charged`)
  }
  const after = await charged(acquirer)
  const timeOf = (share: number) => seconds.find((one) => one.share === share)!.at
  const half = wanted / 2 / timeOf(0.5)
  printRows(
    ['', 'figure'],
    [
      [`payments/s over two hosts, ${concurrent} concurrent`, payments.toFixed(0)],
      ['charges/s over two hosts, until half of them', half.toFixed(0)],
      ['ratio', (half / payments).toFixed(2)],
      ['seconds to 95 %, one host killed at half', timeOf(0.95).toFixed(1)],
      ['seconds to all', timeOf(1).toFixed(1)],
      ['schedules', String(wanted)],
      ['charged at the acquirer', String(after - before)],
    ],
  )
  if (after - before !== wanted) throw new Error('a schedule was charged twice or not at all')
}

export const dueSchedules: Scenario = {
  name: 'due-schedules',
  title: '50,000 schedules due in the same second, two hosts, one killed half-way',
  run,
}
