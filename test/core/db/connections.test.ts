import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database, neverReached, outcomeUnknown } from '../../../core/db/database.ts'
import { asNeverReached, graver } from '../../../core/db/failures.ts'
import { grouped, text } from '../../../core/db/group-statement.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { startGateway, until } from '../../rig/gateway.ts'
import { lineTo } from '../../rig/proxy.ts'

const statement = (text: string) => ({ strings: [text], values: [] })

test('a connection that breaks under a statement fails that statement alone', async () => {
  const run = await startGateway({ role: 'api' })
  const line = await lineTo(run.database.url)
  const database = new Database({ url: line.url })
  try {
    const pool = database.pool(1, 'broken')
    const breaks = async (cut: (pid: number) => unknown) => {
      // An unhandled error would end the process and this test.
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

test('a plan that a migration broke is prepared again, once, and no caller sees an error', async () => {
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

test('work under one key keeps its order, other keys do not wait, and a failure stops no other work', async () => {
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

test('an error tells over all tries whether any connection received the statement', async () => {
  const run = await startGateway({ role: 'api' })
  const line = await lineTo(run.database.url)
  const database = new Database({ url: line.url })
  try {
    await run.sql('create table public.said (id uuid primary key, word text)')
    const insert = 'insert into public.said (id, word) select id, word from given returning id'
    const said = grouped('said', { id: 'uuid', word: 'text' }, 'id', text(` ${insert}`))
    const id = 'a'.repeat(32)
    const row = { id, word: 'yes' }
    const lanes = new Lanes(database, { single: 2, read: 1 })
    const calls = {
      group: () => lanes.group(said, row),
      single: () => lanes.single(said.one(row)),
      together: () => lanes.together(said.one(row), []),
      read: () => lanes.read(statement('select 1 as one')),
    }
    const failure = (call: () => Promise<unknown>) =>
      call().then(
        () => assert.fail('the database is away'),
        (error: unknown) => error,
      )
    line.down()
    const away = await Promise.all(Object.values(calls).map(failure))
    for (const error of away) assert.ok(neverReached(error) && outcomeUnknown(error), String(error))
    assert.deepEqual(await run.sql('select id from public.said'), [])
    for (const call of [calls.group, calls.single, calls.together]) {
      line.up()
      await run.sql('delete from public.said')
      // A transaction's statement has no name, so its text identifies it.
      const what = call === calls.together ? insert : database.prepared(said.one(row).strings).name
      const cut = line.cut(what, call === calls.together ? 'before' : 'after')
      const failed = failure(call)
      await cut
      line.down()
      const error = await failed
      assert.ok(!neverReached(error) && outcomeUnknown(error), String(error))
    }
    assert.equal((await run.sql('select id from public.said')).length, 0)
  } finally {
    await database.close()
    await line.close()
    await run.close()
  }
})

test('of two failures the graver one is reported: the one whose statement may have been carried out', () => {
  const coded = (code: string | undefined) => Object.assign(new Error(String(code)), { code })
  const away = asNeverReached(coded('ECONNREFUSED'))
  const lost = coded(undefined)
  const locked = coded('55P03')
  assert.equal(graver(away, lost), lost)
  assert.equal(graver(away, locked), locked)
  assert.equal(graver(lost, away), lost)
  assert.equal(graver(lost, locked), lost)
  const after = graver(locked, away)
  assert.ok(outcomeUnknown(after) && !neverReached(after), String(after))
  const later = asNeverReached(coded('ECONNREFUSED'))
  assert.ok(neverReached(graver(away, later)))
})

test('a broken pipe leaves the outcome unknown', () => {
  for (const code of ['EPIPE', 'ECONNRESET', undefined]) {
    assert.equal(outcomeUnknown(Object.assign(new Error('broken'), { code })), true)
  }
  assert.equal(outcomeUnknown(Object.assign(new Error('refused'), { code: '23505' })), false)
})
