/** Many processes claim due timers at once, beside others that change them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { Database } from '../../../core/db/database.ts'
import { claimDue, connectorsOf, type TimerRow } from '../../../core/timer/store.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'

describe('due timers', () => {
  let run: TestGateway
  let database: Database
  let pool: pg.Pool
  before(async () => {
    run = await startGateway({ role: 'api' })
    database = new Database({ url: run.database.url })
    pool = new pg.Pool({ connectionString: run.database.url, max: 10 })
    // A crash of the server also fails the query that caused it.
    pool.on('error', () => {})
  })
  after(async () => {
    await pool.end()
    await run.close()
  })
  const connected = async (work: (client: pg.PoolClient) => Promise<void>) => {
    const client = await pool.connect()
    client.on('error', () => {})
    await work(client).finally(() => client.release())
  }

  test('are claimed and put off by several processes, whatever changes them meanwhile', async () => {
    await run.sql(`insert into tollgate.timer (id, due_at, kind, ref)
      select gen_random_uuid(), now(), case when n % 2 = 0 then 'continue' else 'look' end,
        replace(gen_random_uuid()::text, '-', '')
      from generate_series(1, 300) as n`)
    await run.sql('analyze tollgate.timer')
    let claimed = 0
    const claiming = { ...database.config(claimDue(40, 3)), name: 'claim' }
    const claim = async (client: pg.PoolClient) => {
      for (let round = 0; round < 240; round += 1) {
        const { rows } = await client.query(claiming)
        claimed += rows.length
      }
    }
    const change = async (client: pg.PoolClient) => {
      for (let round = 0; round < 240; round += 1) {
        // One row at a time: two statements with several rows would wait for each other.
        await client.query(`update tollgate.timer set due_at = now() - interval '1 second' * random()
          where id = (select id from tollgate.timer order by random() limit 1)`)
      }
    }
    await Promise.all(
      [claim, claim, claim, claim, claim, change, change, change].map((work) => connected(work)),
    )
    const [row] = await run.sql<{ steps: bigint }>('select sum(step) as steps from tollgate.timer')
    assert.equal(Number(row!.steps), claimed)
    await run.sql('delete from tollgate.timer')
  })

  test('know the connector of their attempt, payment or account, and have none otherwise', async () => {
    const account = await run.gateway.entities.createAccount({
      channelId: run.channel,
      connector: 'simulator',
      mode: 'EXTERNAL',
      settings: {},
    })
    const { id } = await run.pay()
    const [paid] = await run.sql<{ key: string }>(
      'select attempt_key as key from tollgate.payment where id = $1',
      [id],
    )
    const timers = [
      ['look', paid!.key],
      ['expire', paid!.key],
      ['continue', id],
      ['settlement-fetch', account],
      ['report-cut', id],
      ['execution', `${id} 1`],
    ].map(([kind, ref]) => ({ id, kind, ref, step: 1 }) as TimerRow)
    await connected(async (client) => {
      const rows = await database.query(client, connectorsOf(timers))
      assert.deepEqual(
        rows.map(({ ref, connector }) => [ref, connector]).toSorted(),
        [paid!.key, id, account].map((ref) => [ref, 'simulator']).toSorted(),
      )
    })
  })
})
