/** Statements that take turns by a name: a lost connection, a deadlock or a long wait costs a try, and no answer. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { sql } from '../../../core/db/sql.ts'
import { newId } from '../../../core/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'

const note = (id: string) => sql<{ id: string }>`
  insert into public.note (id)
  values (${id}::uuid)
  on conflict do nothing
  returning id`

describe('a statement that runs alone', () => {
  let run: TestGateway
  let line: Line
  let database: Database
  let lanes: Lanes
  before(async () => {
    run = await startGateway({ role: 'api' })
    await run.sql('create table public.note (id uuid primary key)')
    line = await lineTo(run.database.url)
    database = new Database({ url: line.url })
    lanes = new Lanes(database, { single: 3 })
  })
  after(async () => {
    await database.close()
    await line.close()
    await run.close()
  })
  const count = async (id: string) =>
    (await run.sql('select 1 from public.note where id = $1', [id])).length

  for (const statement of ['begin', 'pg_advisory_xact_lock', 'public.note', 'commit'])
    for (const when of ['before', 'after'] as const) {
      test(`runs once when its connection breaks ${when} ${statement}`, async () => {
        const id = newId()
        const cut = line.cut(statement, when)
        const rows = await lanes.alone('a turn', note(id))
        await cut
        const isDone = statement === 'commit' && when === 'after'
        assert.deepEqual([rows, await count(id)], [isDone ? [] : [{ id }], 1])
      })
    }

  test('waits again for a turn that is taken for longer than a wait for a lock', async () => {
    const holder = new pg.Client({ connectionString: run.database.url })
    await holder.connect()
    try {
      await holder.query(`select pg_advisory_lock(hashtextextended('long', 0))`)
      const id = newId()
      const waiting = lanes.alone('long', note(id))
      const tries = new Set<string>()
      await until(async () => {
        const rows = await run.sql<{ since: string }>(
          `select query_start::text as since from pg_stat_activity
           where datname = current_database() and wait_event = 'advisory' and query like '%pg_advisory_xact_lock%'`,
        )
        for (const { since } of rows) tries.add(since)
        return tries.size === 2 || undefined
      })
      await holder.query(`select pg_advisory_unlock(hashtextextended('long', 0))`)
      assert.deepEqual(await waiting, [{ id }])
    } finally {
      await holder.end()
    }
  })
})
