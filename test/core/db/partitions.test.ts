/**
 * Months get their partitions in spite of rows in the default one, and payments do not wait for
 * them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '@tollgate/schemas'
import pg from 'pg'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { idTimeMs, keepIdsNear, newId } from '../../../core/ids.ts'
import { makePartitions } from '../../../core/process/partitions.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { inScope } from '../../rig/scope.ts'

const tables = ['delivery', 'delivery_attempt', 'event', 'payment', 'payment_request', 'step']

/** The first day after the months that have partitions. */
const nextMonth = async (run: TestGateway) => {
  const [row] = await run.sql<{ at: Date }>(
    `select (date_trunc('month', now() at time zone 'UTC') + interval '3 months') at time zone 'UTC' as at`,
  )
  return row!.at
}
const suffix = (month: Date) => month.toISOString().slice(0, 7).replace('-', '_')

/** Housekeeping that creates one more month. */
const housekeeper = (url: string) => {
  const database = new Database({ url })
  const lanes = new Lanes(database, { single: 2, read: 1 })
  const warnings: { fields: unknown; message: string }[] = []
  const log = {
    info() {},
    warn: (fields: object, message: string) => void warnings.push({ fields, message }),
  }
  const make = () => makePartitions(lanes, log, limits.partitionMonths + 1)
  return { warnings, make, close: () => database.close() }
}

const addEvents = (run: TestGateway, ids: readonly string[]) =>
  run.sql(
    `insert into tollgate.event (id, resource, seq, channel_id, type, data)
     select id, id, 7, id, 'payment.approved', '{"kept": true}' from unnest($1::uuid[]) as ids (id)`,
    [ids],
  )
const lying = (run: TestGateway, table: string) =>
  run
    .sql<{ table: string; rows: number }>(
      `select c.relname as table, count(*)::integer as rows
       from tollgate.${table} t join pg_class c on c.oid = t.tableoid group by 1`,
    )
    .then((rows) => Object.fromEntries(rows.map((row) => [row.table, row.rows])))
const partitions = async (run: TestGateway, month: Date) =>
  (
    await run.sql<{ name: string }>(
      `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where c.relname like '%' || $1 and c.relkind = 'r' order by 1`,
      [`_${suffix(month)}`],
    )
  ).map(({ name }) => name)

test('rows that arrived months early move unchanged into their partition when it is created', async () => {
  const run = await startGateway({ role: 'api' })
  const month = await nextMonth(run)
  const housekeeping = housekeeper(run.database.url)
  try {
    await run.pay()
    const early = [1, 2, 3].map((day) => newId(month.getTime() + day * 86_400_000))
    const far = newId(month.getTime() + 200 * 86_400_000)
    await addEvents(run, [...early, far])
    await run.sql(
      `insert into tollgate.step (payment_id, id, at, name) select id, id, now(), 'debit' from unnest($1::uuid[]) as ids (id)`,
      [early],
    )
    const events = () =>
      run.sql(
        'select id, txid::text, resource, seq, type, at, data from tollgate.event order by id',
      )
    const before = await events()
    await housekeeping.make()
    assert.deepEqual(housekeeping.warnings, [])
    assert.deepEqual(
      await partitions(run, month),
      tables.map((table) => `${table}_${suffix(month)}`).sort(),
    )
    assert.deepEqual(await events(), before)
    const lie = await lying(run, 'event')
    assert.equal(lie[`event_${suffix(month)}`], 3)
    assert.equal(lie.event_default, 1)
    assert.equal((await lying(run, 'step'))[`step_${suffix(month)}`], 3)
    // The partition has its key, its indexes and the order of events.
    await assert.rejects(addEvents(run, [early[0]!]), { code: '23505' })
    const [indexes] = await run.sql<{ here: bigint; first: bigint; triggers: bigint }>(
      `select
         (select count(*) from pg_index where indrelid = to_regclass($1)) as here,
         (select count(*) from pg_index where indrelid = 'tollgate.event'::regclass) as first,
         (select count(*) from pg_trigger where tgrelid = to_regclass($1)) as triggers`,
      [`tollgate.event_${suffix(month)}`],
    )
    assert.deepEqual([indexes?.here, indexes?.triggers], [indexes?.first, 1n])
    await housekeeping.make()
  } finally {
    await housekeeping.close()
    await run.close()
  }
})

test('a month with too many early rows keeps them in the default partition, and the report says so', async () => {
  const run = await startGateway({ role: 'api' })
  const month = await nextMonth(run)
  const housekeeping = housekeeper(run.database.url)
  try {
    const many = Array.from({ length: 1_001 }, (_, no) => newId(month.getTime() + no))
    await addEvents(run, many)
    await housekeeping.make()
    const told = 'a month stays in the default partition: it holds too many rows to be moved'
    const fields = { table: 'event', month: month.toISOString().slice(0, 7) }
    assert.deepEqual(housekeeping.warnings, [{ fields, message: told }])
    assert.equal((await lying(run, 'event')).event_default, 1_001)
    assert.equal((await partitions(run, month)).length, tables.length - 1)
    // The following month is created, also by SQL, and the default partition accepts more rows.
    const [made] = await run.sql(
      `select tollgate.create_partitions(now() + interval '3 months', 2) as made`,
    )
    assert.equal(made?.made, tables.length)
    await addEvents(run, [newId(month.getTime() + 1_001)])
    assert.equal((await lying(run, 'event')).event_default, 1_002)
  } finally {
    await housekeeping.close()
    await run.close()
  }
})

test('a reader of the default partition delays the creation of a month, and no payment', async () => {
  const run = await startGateway({ role: 'api' })
  const month = await nextMonth(run)
  const housekeeping = housekeeper(run.database.url)
  const reader = new pg.Client({ connectionString: run.database.url })
  try {
    await run.pay()
    await addEvents(run, [newId(month.getTime() + 5)])
    await reader.connect()
    await reader.query('begin')
    await reader.query('select count(*) from tollgate.payment_default')
    let isOver = false
    const making = housekeeping.make().finally(() => {
      isOver = true
    })
    const waits = () =>
      run.sql(
        `select 1 from pg_locks where not granted and relation = 'tollgate.payment_default'::regclass`,
      )
    await until(async () => ((await waits()).length > 0 ? true : undefined))
    let paid = 0
    let longestMs = 0
    while (!isOver) {
      const since = performance.now()
      const { result } = await run.pay()
      assert.equal(result.code, '000.100.110')
      longestMs = Math.max(longestMs, performance.now() - since)
      paid += 1
    }
    await making
    // Each statement of a payment may wait 100 ms once.
    assert.ok(
      paid > 10 && longestMs < inScope(20_000, 1_000),
      `${paid} payments, the longest took ${longestMs} ms`,
    )
    assert.deepEqual(
      housekeeping.warnings.map(({ fields }) => fields),
      [{ table: 'payment', month: month.toISOString().slice(0, 7) }],
    )
    assert.ok((await partitions(run, month)).includes(`event_${suffix(month)}`))
    await reader.query('rollback')
    await housekeeping.make()
    assert.equal((await partitions(run, month)).length, tables.length)
  } finally {
    await reader.end()
    await housekeeping.close()
    await run.close()
  }
})

test("a machine whose clock is months ahead makes ids of the database's present month", async () => {
  const run = await startGateway({ role: 'api' })
  const now = Date.now
  try {
    const before = now()
    Date.now = () => now() + 120 * 86_400_000
    assert.ok(idTimeMs(newId()) - before < 3_700_000)
    const { id } = await run.pay()
    assert.ok(idTimeMs(id) - before < 3_700_000)
    assert.equal((await lying(run, 'payment')).payment_default, undefined)
    const ids = Array.from({ length: 5_000 }, () => newId())
    assert.deepEqual(ids.toSorted(), ids)
  } finally {
    Date.now = now
    keepIdsNear(Number.POSITIVE_INFINITY)
    await run.close()
  }
})
