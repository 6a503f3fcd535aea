/**
 * Five million schedules without a due one: the cost of looking for work, beside an empty table.
 */
import pg from 'pg'
import { somethingDue } from '../../../core/jobs/store-due.ts'
import { lockDue } from '../../../core/schedule/store-fire.ts'
import { printRows } from '../print.ts'
import { median } from '../rounds.ts'
import { type Ground, newInstallation, type Scenario } from './ground.ts'

const looks = [
  { title: 'is anything due', statement: somethingDue },
  { title: 'schedules that are due', statement: lockDue(500) },
]

/** Due at any moment of the coming year. */
const fill = `
insert into tollgate.schedule (id, channel_id, entity_id, merchant_id, registration_id, short_no, mode,
  payment_type, amount_minor, currency, zone, expression, job, request, created_at, next_at, seq)
select gen_random_uuid(), md5((no % 1000)::text)::uuid, md5((no % 1000)::text)::uuid, md5((no % 1000)::text)::uuid,
  md5(no::text)::uuid, no, 'INTERNAL', 'DB', 990, 'EUR', 'UTC', '0 0 6 1 * ? *', '{}', '{}', now(),
  now() + interval '1 hour' + random() * interval '365 days', 1
from generate_series($1::integer, $2::integer) as no`

const batch = 250_000

async function run(ground: Ground): Promise<void> {
  const wanted = ground.isSmall ? 10_000 : 5_000_000
  const { url } = await newInstallation(ground, 'idle_schedules')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  ground.stop.defer(() => client.end())
  const look = async ({ strings, values }: (typeof looks)[number]['statement']) => {
    const text = strings.reduce((all, part, index) => `${all}$${index}${part}`)
    const times: number[] = []
    let plan: string[] = []
    for (let no = 0; no < 21; no += 1) {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `explain (analyze, buffers, timing off, costs off) ${text}`,
        [...values],
      )
      plan = rows.map((row) => row['QUERY PLAN'])
      times.push(Number(/Execution Time: ([0-9.]+)/.exec(plan.join('\n'))?.[1]))
    }
    return { ms: median(times), plan }
  }
  const empty = []
  for (const { statement } of looks) empty.push(await look(statement))
  await client.query('set synchronous_commit = off')
  const startedMs = performance.now()
  for (let no = 1; no <= wanted; no += batch) {
    await client.query(fill, [no, Math.min(no + batch - 1, wanted)])
  }
  await client.query('vacuum (analyze) tollgate.schedule')
  console.log(`  ${wanted} stored in ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
  const rows: string[][] = []
  const plans: string[] = []
  for (const [index, { title, statement }] of looks.entries()) {
    const { ms, plan } = await look(statement)
    rows.push([title, empty[index]!.ms.toFixed(3), ms.toFixed(3)])
    plans.push(...plan)
  }
  printRows(['look', 'none: ms', `${wanted}: ms`], rows)
  console.log(plans.map((line) => `    ${line}`).join('\n'))
}

export const idleSchedules: Scenario = {
  name: 'idle-schedules',
  title: 'Five million schedules that are not due: the cost of looking',
  run,
}
