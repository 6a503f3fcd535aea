import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { startGateway, until } from '../../support/gateway.ts'
import { lineTo } from '../../support/proxy.ts'

const statement = (text: string) => ({ strings: [text], values: [] })

test('a connection that breaks under a statement is an error of that statement and of nothing else', async () => {
  const run = await startGateway({ role: 'api' })
  const line = await lineTo(run.database.url)
  const database = new Database({ url: line.url })
  try {
    const pool = database.pool(1, 'broken')
    const breaks = async (cut: (pid: number) => unknown) => {
      // An error that nobody listens to would end the process, and this test with it.
      const failed = assert.rejects(database.run(pool, statement('select pg_sleep(60)')))
      const { pid } = await until(async () => {
        const [found] = await run.sql<{ pid: number }>(
          `select pid from pg_stat_activity where query = 'select pg_sleep(60)' and state = 'active'`,
        )
        return found
      })
      await cut(pid)
      await failed
      await run.sql('select pg_terminate_backend($1)', [pid])
      line.up()
      assert.deepEqual(await database.run(pool, statement('select 1 as one')), [{ one: 1 }])
    }
    await breaks((pid) => run.sql('select pg_terminate_backend($1)', [pid]))
    await breaks(() => line.down())
  } finally {
    await database.close()
    await line.close()
    await run.close()
  }
})

test('a plan that a migration broke is made anew, once, without an error to anybody', async () => {
  const run = await startGateway({ role: 'api' })
  const database = new Database({ url: run.database.url })
  try {
    const pool = database.pool(1, 'replanned')
    await run.sql('create table public.shape as select 1 as one')
    const all = statement('select * from public.shape')
    assert.deepEqual(await database.run(pool, all), [{ one: 1 }])
    await run.sql('alter table public.shape add column two integer')
    assert.deepEqual(await database.run(pool, all), [{ one: 1, two: null }])
  } finally {
    await database.close()
    await run.close()
  }
})

test('work under one key goes in order, other keys do not wait, and a failure stops nobody', async () => {
  const lanes = new Lanes(new Database({ url: 'postgres://unused' }), { single: 1, read: 1 })
  const done: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = lanes.inOrder('a', async () => {
    await gate.promise
    done.push('a1')
    throw new Error('a1 failed')
  })
  const second = lanes.inOrder('a', async () => void done.push('a2'))
  await lanes.inOrder('b', async () => void done.push('b1'))
  assert.deepEqual(done, ['b1'])
  gate.resolve()
  await assert.rejects(first, /a1 failed/)
  await second
  assert.deepEqual(done, ['b1', 'a1', 'a2'])
})
