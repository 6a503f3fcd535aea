import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import {
  createGateway,
  localKeys,
  MigrationError,
  migrationFiles,
  onFaultPoint,
} from '../../../core/index.ts'
import { createDatabase, type TestDatabase } from '../../rig/database.ts'
import { freshSimulator, testKey } from '../../rig/gateway.ts'

const open = (database: TestDatabase, more: { migrate?: boolean } = {}) =>
  createGateway({
    database: { url: database.url },
    plugins: [freshSimulator()],
    environment: 'test',
    keys: localKeys(testKey),
    role: 'api',
    ...more,
  })

async function inEmptyDatabase(
  work: (
    database: TestDatabase,
    sql: (text: string) => Promise<Record<string, unknown>[]>,
  ) => Promise<void>,
): Promise<void> {
  const database = await createDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    await work(database, async (text) => (await client.query(text)).rows)
  } finally {
    await client.end()
    await database.drop()
  }
}

describe('migrations', () => {
  test('five processes that start at once run each migration file once, and all of them work', () =>
    inEmptyDatabase(async (database, sql) => {
      const gateways = await Promise.all([1, 2, 3, 4, 5].map(() => open(database)))
      try {
        const [migrations] = await sql(
          'select count(*)::integer as files, count(distinct name)::integer as names from tollgate.migration',
        )
        assert.equal(migrations?.files, migrations?.names)
        const [keys] = await sql(
          'select count(*)::integer as keys from tollgate.data_key where retired_at is null',
        )
        assert.equal(
          keys?.keys,
          2,
          'one key for sealing and one for digests, with any number of processes',
        )
        for (const gateway of gateways) assert.equal(await gateway.isReady(), true)
      } finally {
        await Promise.all(gateways.map((gateway) => gateway.close()))
      }
    }))

  test('no statistics are kept about requests, answers and events, in later partitions neither', () =>
    inEmptyDatabase(async (database, sql) => {
      await (await open(database)).close()
      const [made] = await sql(`select tollgate.create_partitions('2090-01-15', 1) as tables`)
      assert.ok(Number(made?.tables) >= 5)
      const columns = await sql(
        `select c.relname as table, a.attname as name, a.attstattarget as target
         from pg_attribute a join pg_class c on c.oid = a.attrelid
         where c.relnamespace = 'tollgate'::regnamespace and c.relkind in ('r', 'p')
           and (a.atttypid = 'jsonb'::regtype or a.attname = 'sealed') and not a.attisdropped`,
      )
      assert.ok(columns.some(({ table }) => table === 'event_2090_01'))
      assert.deepEqual(
        columns.filter(({ target }) => target !== 0),
        [],
      )
    }))

  test('a migration file that changed after it ran is refused by name, and nothing is touched', () =>
    inEmptyDatabase(async (database, sql) => {
      await (await open(database)).close()
      await sql(`update tollgate.migration set checksum = 'other' where name like '0001%'`)
      await assert.rejects(open(database), (error) => {
        assert.ok(error instanceof MigrationError)
        assert.match(error.message, /0001\S*\.sql was changed after it ran/)
        return true
      })
    }))

  test('a database of a newer version is refused', () =>
    inEmptyDatabase(async (database, sql) => {
      await (await open(database)).close()
      await sql(`insert into tollgate.migration (name, checksum) values ('9999_later.sql', 'x')`)
      await assert.rejects(open(database), /newer version of Tollgate \(9999_later\.sql\)/)
    }))

  test('an interrupted migration leaves nothing half done, and the next start completes it', () =>
    inEmptyDatabase(async (database, sql) => {
      onFaultPoint((point) => {
        if (point === 'in-migration') throw new Error('the process died')
      })
      try {
        await assert.rejects(open(database), /the process died/)
      } finally {
        onFaultPoint(undefined)
      }
      const tables = await sql(`select tablename from pg_tables where schemaname = 'tollgate'`)
      assert.deepEqual(tables, [])
      const gateway = await open(database)
      assert.equal(await gateway.isReady(), true)
      await gateway.close()
    }))

  test('with migrate: false an empty database stays empty and is refused as not migrated', () =>
    inEmptyDatabase(async (database, sql) => {
      await assert.rejects(open(database, { migrate: false }), /migrat/i)
      assert.deepEqual(
        await sql(`select nspname from pg_namespace where nspname like 'tollgate%'`),
        [],
      )
    }))

  test('with migrate: false older tables are refused, whichever are missing, with the ways to migrate', () =>
    inEmptyDatabase(async (database, sql) => {
      await (await open(database)).close()
      const refused = async (expected: RegExp) => {
        const error = await open(database, { migrate: false }).then(
          () => assert.fail('it started'),
          (thrown: unknown) => thrown,
        )
        assert.ok(error instanceof MigrationError, String(error))
        assert.match(error.message, expected)
        assert.match(error.message, /call migrateDatabase\(\).*run "tollgate migrate"/)
      }
      await (await open(database, { migrate: false })).close()
      await sql(`create table kept as select * from tollgate.migration`)
      const [third, , last] = (await migrationFiles()).slice(-3).map(({ name }) => name)
      await sql(`delete from tollgate.migration where name = '${last}'`)
      await refused(new RegExp(`of an older version and lacks ${last}:`))
      await sql(`drop table tollgate.server_place`)
      await sql(`delete from tollgate.migration where name >= '${third}'`)
      await refused(new RegExp(`lacks ${third} and 2 more:`))
      await sql(`insert into tollgate.migration select * from kept on conflict do nothing`)
      await sql(`update tollgate_boss.version set version = version - 1`)
      await refused(/^The job queue of this database is of another version:/)
      await sql(`drop schema tollgate_boss cascade`)
      await refused(/has no schema tollgate_boss of the job queue:/)
    }))

  test('each month is a partition of its ids, and creating it twice changes nothing', () =>
    inEmptyDatabase(async (database, sql) => {
      await (await open(database)).close()
      const [first] = await sql(
        `select tollgate.create_partitions('2031-01-15T00:00:00Z', 2) as made`,
      )
      const [again] = await sql(
        `select tollgate.create_partitions('2031-01-31T23:59:59Z', 2) as made`,
      )
      const [found] = await sql(
        `select count(*)::int as tables
          from pg_partitioned_table p join pg_class c on c.oid = p.partrelid
          where p.partstrat = 'r' and c.relnamespace = 'tollgate'::regnamespace`,
      )
      const tables = Number(found?.tables)
      assert.ok(tables >= 4)
      assert.deepEqual([first?.made, again?.made], [2 * tables, 0])
      // The first millisecond of February 2031, UTC, and the one before it.
      const february = Date.UTC(2031, 1, 1)
      const at = (ms: number) => `${ms.toString(16).padStart(12, '0')}70008000000000000000`
      const partitionOf = async (id: string) => {
        await sql(`insert into tollgate.payment_request (id, request) values ('${id}', '{}')`)
        const [row] = await sql(
          `select relname as name from pg_class
            where oid = (select tableoid from tollgate.payment_request where id = '${id}')`,
        )
        return row?.name
      }
      assert.equal(await partitionOf(at(february)), 'payment_request_2031_02')
      assert.equal(await partitionOf(at(february - 1)), 'payment_request_2031_01')
      assert.equal(await partitionOf(at(Date.UTC(2040, 0, 1))), 'payment_request_default')
    }))
})
