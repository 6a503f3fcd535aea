/** The engine behind a real connection pooler. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { examinePooler } from '../../../core/db/pooler.ts'
import { sql } from '../../../core/db/sql.ts'
import {
  createGateway,
  type GatewayOptions,
  localKeys,
  migrateDatabase,
  PoolerError,
} from '../../../core/index.ts'
import { createDatabase, type TestDatabase } from '../../rig/database.ts'
import { freshSimulator, startGateway, testKey, until } from '../../rig/gateway.ts'
import { type PgBouncer, startPgBouncer, withoutPgBouncer } from '../../rig/pgbouncer.ts'

const optionsAt = (url: string, prepare: boolean): GatewayOptions => ({
  database: { url, prepare },
  plugins: [freshSimulator()],
  environment: 'test',
  keys: localKeys(testKey),
  shutdownGraceMs: 2_000,
})

const settings = sql<{ name: string; setting: string; source: string }>`
  select name, setting, source
  from pg_settings
  where name in ('statement_timeout', 'lock_timeout', 'plan_cache_mode')
  order by name`

/** Opens connections like the engine's, for `examinePooler`. */
const opener = (url: string) => async () => {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}

test('a direct connection has settings of its session, and named statements', async () => {
  const run = await startGateway({ pool: {}, role: 'api' })
  const database = new Database({ url: run.database.url })
  try {
    const lanes = new Lanes(database, { single: 1, read: 1 })
    const rows = await lanes.single(settings)
    assert.deepEqual(
      rows.map(({ name, setting, source }) => [name, setting, source]),
      [
        ['lock_timeout', '2000', 'session'],
        ['plan_cache_mode', 'force_generic_plan', 'session'],
        ['statement_timeout', '2250', 'session'],
      ],
    )
    const prepared = sql<{ names: number }>`
      select count(*)::integer as names from pg_prepared_statements where name = ${database.prepared(settings.strings).name}::text`
    assert.deepEqual(await lanes.single(prepared), [{ names: 1 }])
    assert.deepEqual(await examinePooler(opener(run.database.url)), {
      sharesSessions: false,
      keepsStatements: true,
    })
  } finally {
    await database.close()
    await run.close()
  }
})

test('where a pooler may stand, settings last for one transaction, and no statement has a name', async () => {
  const run = await startGateway({ pool: {}, role: 'api' })
  const database = new Database({ url: run.database.url, prepare: false })
  try {
    const lanes = new Lanes(database, { single: 1, read: 1 })
    const within = await lanes.single(settings)
    assert.deepEqual(
      within.map(({ setting }) => setting),
      ['2000', 'force_generic_plan', '2250'],
    )
    // The same connection, beside the lane's own way.
    const { rows } = await lanes.pools.single.query(
      `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
         (select count(*) from pg_prepared_statements)::integer as names`,
    )
    assert.deepEqual(rows, [{ statement: '0', lock: '0', names: 0 }])
    // A failed statement leaves the connection usable, and takes its transaction with it.
    await assert.rejects(lanes.single(sql`select 1 / 0 as none`), { code: '22012' })
    assert.deepEqual(await lanes.single(sql<{ one: number }>`select 1 as one`), [{ one: 1 }])
  } finally {
    await database.close()
    await run.close()
  }
})

describe('behind PgBouncer in transaction mode', { skip: withoutPgBouncer }, () => {
  let database: TestDatabase
  let pooler: PgBouncer
  let direct: pg.Client
  before(async () => {
    database = await createDatabase()
    pooler = await startPgBouncer(database.url, { mode: 'transaction', size: 30 })
    direct = new pg.Client({ connectionString: database.url })
    await direct.connect()
  })
  after(async () => {
    await direct?.end()
    await pooler?.close()
    await database?.drop()
  })

  test('two first starts take turns, and both take payments', async () => {
    const gateways = await Promise.all([
      createGateway(optionsAt(pooler.url, false)),
      createGateway(optionsAt(pooler.url, false)),
    ])
    try {
      const { rows } = await direct.query(
        'select count(*)::integer as files, count(distinct name)::integer as names from tollgate.migration',
      )
      assert.ok(rows[0].files > 10)
      assert.equal(rows[0].files, rows[0].names)
      const [{ entities }] = gateways as [(typeof gateways)[0], (typeof gateways)[0]]
      const psp = await entities.create({ kind: 'psp', name: 'Demo' })
      const division = await entities.create({ kind: 'division', name: 'Demo', parentId: psp })
      const merchant = await entities.create({ kind: 'merchant', name: 'Demo', parentId: division })
      const channel = await entities.create({ kind: 'channel', name: 'Demo', parentId: merchant })
      const payments = await Promise.all(
        Array.from({ length: 20 }, (_, no) =>
          gateways[no % 2]!.payments.create({
            ...{ entityId: channel, amount: '92.00', currency: 'EUR', paymentType: 'DB' },
            paymentBrand: 'VISA',
            card: { number: '4200000000000000', expiryMonth: '05', expiryYear: '2034', cvv: '123' },
          }),
        ),
      )
      for (const { result } of payments) assert.equal(result.code, '000.100.110')
      const refunded = await gateways[1]!.payments.refund(payments[0]!.id, {
        amount: '92.00',
        currency: 'EUR',
      })
      assert.equal(refunded.result.code, '000.100.110')
      for (const gateway of gateways) {
        await until(async () => ((await gateway.isReady()) ? true : undefined))
      }
    } finally {
      await Promise.all(gateways.map((gateway) => gateway.close()))
    }
    await assertNothingLeaked()
  })

  /** Every connection of the pooler to its server has the settings that it was opened with. */
  async function assertNothingLeaked(): Promise<void> {
    const size = 10
    const clients = await Promise.all(Array.from({ length: size }, opener(pooler.url)))
    try {
      for (const client of clients) await client.query('begin')
      for (const client of clients) {
        const { rows } = await client.query(
          `select name from pg_settings where source = 'session' and name not in ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings')
           union all select name from pg_prepared_statements`,
        )
        assert.deepEqual(rows, [])
      }
      const { rows } = await direct.query(
        "select pid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
      )
      assert.deepEqual(rows, [])
    } finally {
      await Promise.all(clients.map((client) => client.end()))
    }
  }

  test('a new leader is welcomed without settings that outlive the welcome', async () => {
    await migrateDatabase({ url: pooler.url, prepare: false })
    await direct.query(
      `insert into tollgate.server_timeline (timeline, system)
       select 0, system_identifier::text from pg_control_system() on conflict do nothing`,
    )
    await direct.query('delete from tollgate.server_timeline where timeline > 0')
    const { rows: before } = await direct.query(
      'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
    )
    const gateway = await createGateway(optionsAt(pooler.url, false))
    await gateway.close()
    const { rows: now } = await direct.query(
      'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
    )
    assert.ok(BigInt(now[0].next) >= BigInt(before[0].next) + 100_000n)
    await assertNothingLeaked()
  })

  test('named statements that the pooler does not keep are found at the start', async () => {
    await assert.rejects(createGateway(optionsAt(pooler.url, true)), (error: unknown) => {
      assert.ok(error instanceof PoolerError)
      assert.match(
        error.message,
        /transaction mode.*set prepare to false \(TOLLGATE_PREPARE=false\)/,
      )
      return true
    })
  })

  test('a pooler with one connection to its server is recognised, too', async () => {
    const narrow = await startPgBouncer(database.url, { mode: 'transaction', size: 1 })
    try {
      await assert.rejects(createGateway(optionsAt(narrow.url, true)), PoolerError)
    } finally {
      await narrow.close()
    }
  })
})

describe('behind PgBouncer in session mode', { skip: withoutPgBouncer }, () => {
  test('a start with named statements needs no setting', async () => {
    const run = await startGateway({ pool: {}, role: 'api' })
    const pooler = await startPgBouncer(run.database.url, { mode: 'session', size: 60 })
    try {
      assert.deepEqual(await examinePooler(opener(pooler.url)), {
        sharesSessions: false,
        keepsStatements: true,
      })
      const gateway = await createGateway(optionsAt(pooler.url, true))
      try {
        const payment = await run.pay({}, { on: gateway })
        assert.equal(payment.result.code, '000.100.110')
      } finally {
        await gateway.close()
      }
    } finally {
      await pooler.close()
      await run.close()
    }
  })

  test('a wrong password ends a start at once', async () => {
    const run = await startGateway({ pool: {}, role: 'api' })
    const pooler = await startPgBouncer(run.database.url, { mode: 'session', password: true })
    try {
      const url = new URL(pooler.url)
      url.password = 'wrong'
      await assert.rejects(createGateway(optionsAt(url.href, true)), /password|authentication/i)
    } finally {
      await pooler.close()
      await run.close()
    }
  })
})
