/** A line to Postgres that stays open and forwards nothing: every caller gets an answer in time. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { Database, outcomeUnknown, patience } from '../../../core/db/database.ts'
import { grouped, text } from '../../../core/db/group-statement.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { sql } from '../../../core/db/sql.ts'
import { newId } from '../../../core/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'
import { inScope } from '../../rig/scope.ts'

/** Additional time for a busy machine. */
const toleratedMs = inScope(20_000, 700)

const noted = grouped(
  'note',
  { id: 'uuid', word: 'text' },
  'id',
  text(
    ' insert into public.note (id, word) select id, word from given on conflict do nothing returning id',
  ),
)
const note = (id: string) => sql<{ id: string }>`
  insert into public.note (id, word)
  values (${id}::uuid, 'single')
  returning id`
const one = sql<{ one: number }>`select 1 as one`

describe('a database connection that swallows everything', () => {
  let run: TestGateway
  let line: Line
  let database: Database
  let lanes: Lanes
  before(async () => {
    run = await startGateway({ pool: {}, role: 'api' })
    await run.sql('create table public.note (id uuid primary key, word text not null)')
    line = await lineTo(run.database.url)
    database = new Database({ url: line.url })
    lanes = new Lanes(database, { single: 3, read: 2 })
  })
  after(async () => {
    await database.close()
    await line.close()
    await run.close()
  })

  const inTransaction = (id: string) =>
    database.transaction(lanes.pools.single, (client) => database.query(client, note(id)))
  const ways = {
    group: (id: string) => lanes.group(noted, { id, word: 'group' }),
    single: (id: string) => lanes.single(note(id)),
    together: (id: string) => lanes.together(note(id), [one]),
    read: () => lanes.read(one),
  }
  /** Every lane has connections in use. */
  const warm = async () => {
    const three = [1, 2, 3]
    await Promise.all(three.flatMap(() => Object.values(ways).map((way) => way(newId()))))
  }
  /** Nothing is answered meanwhile, so that no work can be too slow for a short budget. */
  const shortly = async (work: () => Promise<void>) => {
    const usualMs: number = limits.flushBudgetMs
    Object.assign(limits, { flushBudgetMs: 2_000 })
    try {
      await work()
    } finally {
      Object.assign(limits, { flushBudgetMs: usualMs })
    }
  }
  const words = async (id: string) =>
    (await run.sql<{ word: string }>('select word from public.note where id = $1', [id])).length
  const backends = async () =>
    (
      await run.sql(
        `select 1 from pg_stat_activity where application_name in ('tollgate group', 'tollgate single', 'tollgate read')
           and datname = current_database()`,
      )
    ).length

  test('callers hear within the flush budget that the outcome is unknown; later work goes on at once', async () => {
    await warm()
    line.stall()
    await shortly(async () => {
      const since = performance.now()
      const all = Object.values(ways).flatMap((way) => Array.from({ length: 8 }, () => way))
      const tries = all.map(async (way) => {
        const error = await way(newId()).then(
          () => assert.fail('no statement can run'),
          (thrown: unknown) => thrown,
        )
        assert.ok(outcomeUnknown(error), String(error))
        return performance.now() - since
      })
      for (const tookMs of await Promise.all(tries)) {
        assert.ok(tookMs < limits.flushBudgetMs + toleratedMs, `it took ${tookMs} ms`)
      }
    })
    line.resume()
    const backMs = performance.now()
    await warm()
    assert.ok(
      performance.now() - backMs < limits.connectMs + toleratedMs,
      'a slot or a connection is still held',
    )
    assert.equal(lanes.waiting, 0)
  })

  test('rows beyond the capacity of the flushes fail in time as well', async () => {
    await warm()
    line.stall()
    await shortly(async () => {
      const since = performance.now()
      const rows = Array.from({ length: 5_000 }, () => ways.group(newId()))
      const told = await Promise.allSettled(rows)
      const tookMs = performance.now() - since
      assert.ok(told.every(({ status }) => status === 'rejected'))
      assert.ok(tookMs < limits.flushBudgetMs + toleratedMs, `it took ${tookMs} ms`)
    })
    line.resume()
    await warm()
  })

  test('when only the old connections are lost, waiting work runs on fresh ones within the budget', async () => {
    await warm()
    line.stall()
    const ids = Array.from({ length: 4 }, () => newId())
    const [group, single] = [newId(), newId()]
    const waiting = [
      ways.read(),
      ways.single(single),
      ways.group(group),
      ...ids.map((id) => ways.group(id)),
    ]
    line.resume('those that were open')
    await Promise.all(waiting)
    for (const id of [group, single, ...ids]) assert.equal(await words(id), 1)
    // Connections that were silent meanwhile are not handed out again.
    const since = performance.now()
    await warm()
    assert.ok(performance.now() - since < limits.groupTryMs + toleratedMs)
  })

  test('a first copy that arrives after the second changes nothing', async () => {
    await warm()
    const [inserted, moved] = [newId(), newId()]
    await run.sql(`insert into public.note (id, word) values ($1, 'old')`, [moved])
    const move = sql<{ id: string }>`
      update public.note
      set word = word || ' and new'
      where id = ${moved}::uuid and word = 'old'
      returning id`
    line.stall()
    const done = [ways.group(inserted), lanes.single(move)]
    line.resume('those that were open')
    assert.deepEqual(await Promise.all(done), [{ id: inserted }, [{ id: moved }]])
    const lost = await backends()
    // The data of lost connections arrives now, and then Postgres sees them closed.
    line.resume()
    await until(async () => ((await backends()) < lost ? true : undefined))
    assert.equal(await words(inserted), 1)
    const [row] = await run.sql('select word from public.note where id = $1', [moved])
    assert.deepEqual(row, { word: 'old and new' })
  })

  test('a transaction is given up with its locks, and its outcome is unknown', async () => {
    const id = newId()
    const other = newId()
    await run.sql(`insert into public.note (id, word) values ($1, 'old')`, [id])
    const rename = sql`update public.note set word = 'new' where id = ${id}::uuid returning id`
    const since = performance.now()
    await assert.rejects(
      database.transaction(
        lanes.pools.single,
        async (client) => {
          await database.query(client, rename)
          line.stall()
          await database.query(client, note(other))
        },
        patience(limits.statementTryMs),
      ),
      outcomeUnknown,
    )
    assert.ok(performance.now() - since < limits.statementTryMs + toleratedMs)
    line.resume('those that were open')
    // Postgres still has the line open and ends idle transactions by itself.
    await lanes.single(rename)
    assert.equal(await words(other), 0)
    await assert.doesNotReject(inTransaction(other))
    await until(async () => ((await backends()) <= 3 + 2 + limits.groupFlushes ? true : undefined))
  })

  test('a long statement is ended by Postgres, run again, and its connection stays', async () => {
    const before = (
      await run.sql<{ pid: number }>(
        `select pid from pg_stat_activity where application_name = 'tollgate single' and datname = current_database() order by pid`,
      )
    ).map(({ pid }) => pid)
    const since = performance.now()
    const sleep = sql`select pg_sleep(20) as slept`
    await assert.rejects(lanes.single(sleep), { code: '57014' })
    assert.ok(performance.now() - since < limits.flushBudgetMs + toleratedMs)
    const after = await run.sql<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'tollgate single' and datname = current_database()`,
    )
    assert.ok(before.some((pid) => after.some((row) => row.pid === pid)))
    assert.deepEqual(await lanes.upkeep(sql`select 1 as done from pg_sleep(3)`), [{ done: 1 }])
  })
})
