/** A connection that the engine lends to the embedding program serves one transaction and no other. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { lend, type ProgramClient } from '../../../core/db/program-client.ts'
import { createDatabase, type TestDatabase } from '../../rig/database.ts'
import { until } from '../../rig/gateway.ts'

const over = { name: 'TransactionOver' }

describe('a client that is lent to the program', () => {
  let made: TestDatabase
  let database: Database
  let lanes: Lanes
  let admin: pg.Client

  before(async () => {
    made = await createDatabase()
    database = new Database({ url: made.url })
    lanes = new Lanes(database, { single: 1, read: 1 })
    admin = new pg.Client({ connectionString: made.url })
    await admin.connect()
    await admin.query('create table note (text text)')
  })
  after(async () => {
    await admin.end()
    await database.close()
    await made.drop()
  })

  /** A transaction that ends as soon as `work` does. */
  const lent = <T>(work: (client: ProgramClient) => Promise<T> | T): Promise<T> =>
    lanes.ofProgram(async (connection) => {
      const loan = lend(connection)
      try {
        return await work(loan.client)
      } finally {
        loan.end()
      }
    })

  const note = (client: ProgramClient, text: string) =>
    client.query('insert into note values ($1)', [text])
  const pidOf = async (client: ProgramClient): Promise<number> =>
    (await client.query('select pg_backend_pid() as pid')).rows[0].pid
  const notes = async () => (await admin.query('select text from note order by text')).rows

  test('statements that a failure leaves behind never commit, under way or waiting', async () => {
    const failure = new Error('the time of the handler is over')
    let left: Promise<PromiseSettledResult<unknown>[]> | undefined
    const failing = Promise.withResolvers<void>()
    let pid = 0
    await admin.query('begin')
    await admin.query('lock table note in exclusive mode')
    const failed = lent(async (client) => {
      pid = await pidOf(client)
      left = Promise.allSettled([note(client, 'under way'), note(client, 'waits')])
      await until(async () => {
        const { rows } = await admin.query('select from pg_locks where pid = $1 and not granted', [
          pid,
        ])
        return rows[0]
      })
      failing.resolve()
      throw failure
    })
    const told = assert.rejects(failed, failure)
    await failing.promise
    await admin.query('commit')
    await told
    const [underWay, waits] = (await left) as PromiseSettledResult<unknown>[]
    assert.equal(underWay?.status, 'fulfilled')
    assert.equal(waits?.status === 'rejected' && waits.reason.name, over.name)
    assert.deepEqual(await notes(), [])
    // The connection is closed.
    await until(async () => {
      const { rows } = await admin.query('select from pg_stat_activity where pid = $1', [pid])
      return rows.length === 0 ? true : undefined
    })
  })

  test('a branch that goes on after a failure writes into no later transaction', async () => {
    const go = Promise.withResolvers<void>()
    let branch: Promise<unknown> | undefined
    await assert.rejects(
      lent(async (client) => {
        branch = go.promise.then(() => note(client, 'of the failed one'))
        branch.catch(() => {})
        // With the code of an error that leaves connections usable.
        throw Object.assign(new Error('duplicate key'), { code: '23505' })
      }),
    )
    await lent(async (client) => {
      go.resolve()
      await assert.rejects(branch!, over)
      await note(client, 'of the next one')
    })
    assert.deepEqual(await notes(), [{ text: 'of the next one' }])
    await admin.query('truncate note')
  })

  test('statements with callbacks, as query builders send them, are answered through these', async () => {
    const answers = await lent(async (client) => {
      const told: unknown[] = []
      const asked = (
        ask: (done: (error: Error | null, result: { rows: unknown[] }) => void) => void,
      ) =>
        new Promise<void>((resolve) => {
          ask((error, result) => {
            told.push(error === null ? result.rows[0] : error.message)
            resolve()
          })
        })
      await asked((done) => client.query('select 1 as one', done))
      await asked((done) => client.query('select $1::int as two', [2], done))
      await asked((done) => client.query({ text: 'select 3 as three' }, done))
      await asked((done) => client.query({ text: 'select $1::int as four' }, [4], done))
      await asked((done) => client.query('select 5 as five', undefined, done))
      await asked((callback) => client.query({ text: 'select 6 as six', callback } as never))
      await asked((done) => client.query('commit', done))
      const stream = { submit() {}, text: 'select 1' }
      await assert.rejects(client.query(stream), /takes no cursors and streams/)
      await asked((done) => client.query(stream, done))
      await client.query('savepoint before')
      await asked((done) => client.query('select no_column', done))
      await client.query('rollback to savepoint before')
      return told
    })
    const [ended, streamed, failed] = answers.splice(6)
    assert.deepEqual(answers, [
      { one: 1 },
      { two: 2 },
      { three: 3 },
      { four: 4 },
      { five: 5 },
      { six: 6 },
    ])
    assert.match(String(ended), /send no BEGIN, COMMIT or ROLLBACK/)
    assert.match(String(streamed), /takes no cursors/)
    assert.match(String(failed), /no_column/)
  })

  test('a callback after the commit gets the error', async () => {
    let kept: ProgramClient | undefined
    await lent((client) => {
      kept = client
    })
    const error = await new Promise((resolve) => kept!.query('select 1', resolve))
    assert.equal((error as Error).name, over.name)
  })

  test('a client is of no use after the commit', async () => {
    let kept: ProgramClient | undefined
    await lent(async (client) => {
      kept = client
      await note(client, 'before the commit')
    })
    await assert.rejects(note(kept!, 'after the commit'), over)
    assert.deepEqual(await notes(), [{ text: 'before the commit' }])
  })

  test('types are those of pg, or those of the statement', async () => {
    const text = `select 1::int8 as number, '00000000-0000-0000-0000-00000000000a'::uuid as id`
    const id = '00000000-0000-0000-0000-00000000000a'
    const types = { getTypeParser: () => (value: string) => `own ${value}` }
    const [usual, own] = await lent(async (client) => [
      await client.query(text),
      await client.query({ text, types } as { text: string }),
    ])
    assert.deepEqual(usual?.rows, [{ number: '1', id }])
    assert.deepEqual(own?.rows, [{ number: 'own 1', id: `own ${id}` }])
  })
})
