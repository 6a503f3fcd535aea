/** A process's cache of entities: its age, and its re-reads after changes only. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { systemClock } from '../../../core/clock.ts'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import type { Sql } from '../../../core/db/sql.ts'
import { FreshCache } from '../../../core/entity/cache.ts'
import { Directory } from '../../../core/entity/directory.ts'
import { configurationVersion } from '../../../core/entity/store.ts'
import { limits } from '../../../schemas/index.ts'
import { startGateway, until } from '../../rig/gateway.ts'

/** A source with a version and a count of its reads. */
function source() {
  const at = { ms: 0, version: 'one', value: 'a', reads: 0, fails: false }
  const cache = new FreshCache<string>({
    freshMs: () => 4_000,
    failClosedMs: 5_000,
    rereadMs: 60_000,
    max: 10,
    nowMs: () => at.ms,
    version: async () => {
      if (at.fails) throw new Error('the database is away')
      return { id: at.version, at: at.ms }
    },
  })
  const get = (during?: () => void) =>
    cache.get('key', async () => {
      at.reads += 1
      const { value } = at
      during?.()
      return value
    })
  return { at, get }
}

describe('values with a version', () => {
  test('a value under an unchanged version stays fresh without a read', async () => {
    const { at, get } = source()
    for (let round = 0; round < 10; round += 1) {
      assert.equal(await get(), 'a')
      at.ms += 4_000
    }
    assert.equal(at.reads, 1)
  })

  test('a value under a new version is read again', async () => {
    const { at, get } = source()
    await get()
    Object.assign(at, { ms: 4_000, version: 'two', value: 'b' })
    assert.equal(await get(), 'b')
  })

  test('a change during the read is seen at the next look', async () => {
    const { at, get } = source()
    assert.equal(await get(() => Object.assign(at, { version: 'two', value: 'b' })), 'a')
    at.ms += 4_000
    assert.equal(await get(), 'b')
  })

  test('a value is read again after a while, whatever its version', async () => {
    const { at, get } = source()
    await get()
    at.ms = 59_999
    await get()
    assert.equal(at.reads, 1)
    at.ms = 64_000
    await get()
    assert.equal(at.reads, 2)
  })

  test('without its version a value serves for five seconds and no longer', async () => {
    const { at, get } = source()
    await get()
    at.fails = true
    at.ms = 4_999
    assert.equal(await get(), 'a')
    at.ms = 5_000
    await assert.rejects(get(), /the database is away/)
  })
})

test('a channel is read again only after an entity or an account changed', async () => {
  const run = await startGateway({ role: 'api' })
  const database = new Database({ url: run.database.url })
  try {
    const lanes = new Lanes(database, { single: 1, read: 2 })
    let reads = 0
    const counting = new Proxy(lanes, {
      get: (target, name) => {
        if (name !== 'read') return Reflect.get(target, name)
        return (statement: Sql) => {
          if (statement.strings !== configurationVersion.strings) reads += 1
          return target.read(statement)
        }
      },
    })
    let ms = 0
    const directory = new Directory(counting, 'test', { ...systemClock, elapsedMs: () => ms })
    /** The reads of a channel after all cached values are old. */
    const readsAfter = async (change: () => Promise<unknown>) => {
      await change()
      ms += limits.tokenCacheMs
      reads = 0
      const [settings] = await Promise.all([
        directory.settings(run.channel),
        directory.accounts(run.channel),
      ])
      return { reads, descriptor: settings.descriptor }
    }
    await readsAfter(async () => {})
    const unchanged = { reads: 0, descriptor: undefined }
    assert.deepEqual(await readsAfter(async () => {}), unchanged)
    assert.deepEqual(await readsAfter(() => run.pay()), unchanged)

    const { entities } = run.gateway
    const changes: Record<string, () => Promise<unknown>> = {
      'a channel that is new': () =>
        entities.create({ kind: 'channel', name: 'New', parentId: run.merchant }),
      'a node that is closed': () => entities.close(run.division),
      'a node that is open again': () => entities.open(run.division),
      'an account': () =>
        run.sql(`insert into tollgate.merchant_account (id, channel_id, connector, mode)
          values (gen_random_uuid(), '${run.channel}', 'simulator', 'EXTERNAL')`),
      'an account that is changed': () =>
        run.sql(`update tollgate.merchant_account set active = false`),
      'an account that is gone': () => run.sql('delete from tollgate.merchant_account'),
      'settings by hand': () =>
        run.sql(`update tollgate.entity set settings = '{"descriptor": "new"}' where id = $1`, [
          run.channel,
        ]),
    }
    for (const [what, change] of Object.entries(changes)) {
      const found = await readsAfter(change)
      assert.equal(found.reads, 2, what)
      if (what === 'settings by hand') assert.equal(found.descriptor, 'new')
      assert.equal((await readsAfter(async () => {})).reads, 0, `after ${what}`)
    }
  } finally {
    await database.close()
    await run.close()
  }
})

test('simultaneous changes of one entity and of two do not deadlock', async () => {
  const run = await startGateway({ role: 'api' })
  const clients = [0, 1].map(() => new pg.Client({ connectionString: run.database.url }))
  try {
    await Promise.all(clients.map((client) => client.connect()))
    const [both, one] = clients as [pg.Client, pg.Client]
    const rename = (client: pg.Client, id: string) =>
      client.query('update tollgate.entity set name = $1 where id = $2', ['Renamed', id])
    await both.query('begin')
    await rename(both, run.channel)
    const waiting = rename(one, run.merchant)
    await until(async () => {
      const [found] = await run.sql(
        `select from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and query like 'update tollgate.entity%'`,
      )
      return found
    })
    // The statement waits before it locks the merchant's row.
    await rename(both, run.merchant)
    await both.query('commit')
    assert.equal((await waiting).rowCount, 1)
  } finally {
    await Promise.all(clients.map((client) => client.end()))
    await run.close()
  }
})
