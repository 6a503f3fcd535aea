import { createHash } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import pRetry from 'p-retry'
import { grantRunning } from './database-grants.ts'
import { Database, type DatabaseOptions, patience } from './db/database.ts'
import type * as pg from './db/pg-types.ts'
import { PoolerError } from './db/pooler.ts'
import { faultPoint } from './fault-point.ts'
import { alive } from './process/store.ts'
import { migrateQueues } from './queue/queue.ts'

/** One lock for all processes that migrate the same database; the number is arbitrary but fixed. */
export const lockNumber = 7_042_026

export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/** What to do about tables that are missing or older than this version. */
export const howToMigrate =
  'call migrateDatabase() of @tollgate/core or run "tollgate migrate", or start with migrate on'

/** First line of a migration with which running processes of the previous version cannot work. */
const breakingMark = '-- breaking'

async function refuseWhileOthersRun(database: Database, client: pg.PoolClient): Promise<void> {
  // A first start that was interrupted, or that another process continues, has no processes yet.
  const table = await client.query('select to_regclass($1) is not null as is_there', [
    `${database.schema}.process`,
  ])
  if (table.rows[0].is_there !== true) return
  const { text, values } = database.config(alive(3 * limits.heartbeatMs))
  const { rows } = await client.query(text, values)
  if (rows.length === 0) return
  const versions = [...new Set(rows.map((row) => row.version))].join(', ')
  throw new MigrationError(
    `${rows.length} process(es) of ${versions} still run on this database, and the migration would break them. Stop them first.`,
  )
}

/** The migrations of this version of the code, in order. Only a start needs their texts. */
export async function migrationFiles(): Promise<
  { name: string; text: string; checksum: string }[]
> {
  const { migrations } = await import('./db/generated/migrations.ts')
  return migrations.map(({ name, text }) => {
    return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
  })
}

/**
 * Runs pending migrations. Safe when several processes start at once: they take turns. Files commit together with
 * their rows in the list of migrations, or not at all: one by one, so that each holds its locks only for its own
 * time, and in an empty database all at once, because nobody waits there but the one who starts it.
 *
 * @throws MigrationError when a file that ran before has changed, or the database is newer than the code.
 */
export async function migrate(database: Database, pool: pg.Pool): Promise<string[]> {
  const files = await migrationFiles()
  const client = await pRetry(() => pool.connect(), {
    retries: 5,
    minTimeout: 200,
    // A time limit has no code. A busy server opens connections slowly.
    shouldRetry: ({ error }) => !('code' in error) && !(error instanceof PoolerError),
  })
  const ran: string[] = []
  try {
    for (;;) {
      const names = await migrateNext(database, client, files)
      if (names.length === 0) return ran
      ran.push(...names)
    }
  } finally {
    // A migration may leave settings behind, and a failed one its transaction.
    client.release(true)
  }
}

type MigrationFile = { readonly name: string; readonly text: string; readonly checksum: string }

/**
 * Runs the first pending file, or all in an empty database. The turn is a lock of the transaction, and not of the session: behind a pooler in
 * transaction mode, the next statement may run in another session.
 *
 * @returns the names of those that ran; none when none is pending.
 */
async function migrateNext(
  database: Database,
  client: pg.PoolClient,
  files: readonly MigrationFile[],
): Promise<string[]> {
  const { rows } = await client.query<{ lock_timeout: string }>('show lock_timeout')
  // The time limits apply to statements of payments. A migration may run longer, and wait for its turn.
  await client.query(
    'begin isolation level read committed; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; set local lock_timeout = 0',
  )
  await client.query('select pg_advisory_xact_lock($1)', [lockNumber])
  await client.query(`set local lock_timeout = '${rows[0]!.lock_timeout}'`)
  const next = await nextFiles(database, client, files)
  for (const { name, checksum, text } of next) {
    await client.query(
      `insert into ${database.schema}.migration (name, checksum) values ($1, $2)`,
      [name, checksum],
    )
    await client.query(database.rewrite(text))
    await faultPoint('in-migration', name)
  }
  await client.query('commit')
  return next.map(({ name }) => name)
}

type Able = { readonly may_create: boolean }

async function refuseUnlessMayCreate(client: pg.PoolClient, schema: string): Promise<void> {
  const { rows } = await client.query<Record<'user' | 'encoding' | 'quoted', string> & Able>(
    `select current_user as user, has_database_privilege(current_database(), 'create') as may_create,
       current_setting('server_encoding') as encoding, quote_ident($1) as quoted`,
    [schema],
  )
  const { user, may_create, encoding, quoted } = rows[0]!
  if (quoted !== schema) {
    throw new MigrationError(
      `The schema ${schema} has a name that is a word of SQL: choose another one, such as ${schema}_pay.`,
    )
  }
  if (encoding !== 'UTF8') {
    throw new MigrationError(
      `The encoding of this database is ${encoding}, which cannot hold every name: create it with the encoding UTF8.`,
    )
  }
  if (may_create) return
  throw new MigrationError(
    `The schema ${schema} is missing, and the user ${user} lacks the right CREATE on this database. The rights of a database are in no dump: run "tollgate migrate --roles" as an administrator of the server, which grants them again, or make the schema as one: create schema ${schema} authorization ${user}.`,
  )
}

async function refuseUnlessMayChange(
  { schema }: Database,
  client: pg.PoolClient,
  migration: string,
): Promise<void> {
  const { rows } = await client.query<{ user: string; owner: string; may_change: boolean }>(
    `select current_user as user, pg_get_userbyid(nspowner) as owner,
       has_schema_privilege(oid, 'create') as may_change
     from pg_namespace
     where nspname = $1`,
    [schema],
  )
  const { user, owner, may_change } = rows[0]!
  if (may_change) return
  throw new MigrationError(
    `Migration ${migration} has not run, and the user ${user} may not change the schema ${schema}: run "tollgate migrate" as its owner ${owner}. Processes of ${user} start with TOLLGATE_MIGRATE=false.`,
  )
}

/**
 * Makes the schemas, also that of the queues, because pg-boss makes it before it takes turns, and the list of
 * migrations. Says nothing to a server that has them: PostgreSQL asks for the right to make even what exists.
 */
async function makeMissing({ schema }: Database, client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select name from unnest($1::text[]) as name where to_regnamespace(name) is null',
    [[schema, `${schema}_boss`]],
  )
  if (rows.length > 0) await refuseUnlessMayCreate(client, rows[0]!.name)
  for (const { name } of rows) await client.query(`create schema if not exists ${name}`)
  const table = await client.query('select to_regclass($1) is not null as is_there', [
    `${schema}.migration`,
  ])
  if (table.rows[0].is_there === true) return
  await client.query(`create table if not exists ${schema}.migration
    (name text primary key, checksum text not null, at timestamptz not null default now())`)
}

/** @throws MigrationError */
async function nextFiles(
  database: Database,
  client: pg.PoolClient,
  files: readonly MigrationFile[],
): Promise<readonly MigrationFile[]> {
  const { schema } = database
  await makeMissing(database, client)
  const { rows } = await client.query(`select name, checksum from ${schema}.migration`)
  const done = new Map<string, string>(rows.map((row) => [row.name, row.checksum]))
  const newer = [...done.keys()].filter((name) => !files.some((file) => file.name === name))
  if (newer.length > 0) {
    throw new MigrationError(
      `The database was migrated by a newer version of Tollgate (${newer.join(', ')}). Update this one; after a way back to this version, start it with TOLLGATE_MIGRATE=false.`,
    )
  }
  const changed = files.find(({ name, checksum }) => (done.get(name) ?? checksum) !== checksum)
  if (changed !== undefined) {
    throw new MigrationError(`Migration ${changed.name} was changed after it ran here. Restore it.`)
  }
  const pending = files.filter((file) => !done.has(file.name))
  if (pending.length > 0) await refuseUnlessMayChange(database, client, pending[0]!.name)
  if (done.size > 0 && pending.some((file) => file.text.startsWith(breakingMark))) {
    await refuseWhileOthersRun(database, client)
  }
  return done.size === 0 ? pending : pending.slice(0, 1)
}

/**
 * For a process that does not migrate. Tables of a newer version are allowed: processes of the previous version run
 * on while an update replaces them, and after a way back.
 *
 * @throws MigrationError when tables or queues are missing, or older than this version.
 */
export async function refuseOlder(database: Database, pool: pg.Pool): Promise<void> {
  const { schema } = database
  const files = await migrationFiles()
  const problem = await database.connected(
    pool,
    patience(limits.statementTryMs),
    async (client): Promise<string | undefined> => {
      const { rows } = await client.query<{ tables: boolean; queues: boolean }>(
        `select to_regclass('${schema}.migration') is not null as tables,
           to_regclass('${schema}_boss.version') is not null as queues`,
      )
      if (rows[0]!.tables !== true) return 'has no tables yet'
      const ran = await client.query<{ name: string }>(`select name from ${schema}.migration`)
      const done = new Set(ran.rows.map(({ name }) => name))
      const [first, ...more] = files.filter(({ name }) => !done.has(name))
      if (first !== undefined) {
        const others = more.length === 0 ? '' : ` and ${more.length} more`
        return `is of an older version and lacks ${first.name}${others}`
      }
      return rows[0]!.queues === true ? undefined : `has no schema ${schema}_boss of the job queue`
    },
  )
  if (problem !== undefined) throw new MigrationError(`This database ${problem}: ${howToMigrate}.`)
}

/**
 * Migrates a database without an engine, so without keys and plugins.
 *
 * @returns the migrations that ran now. @throws MigrationError, or the database's own error.
 */
export async function migrateDatabase(options: DatabaseOptions): Promise<string[]> {
  const database = new Database(options)
  try {
    return await migrateAll(database)
  } finally {
    await database.close()
  }
}

/** Migrates tables and queues, and grants the running user's rights. */
export async function migrateAll(database: Database): Promise<string[]> {
  const pool = database.pool(2, 'migration')
  const ran = await migrate(database, pool)
  await migrateQueues(database)
  await grantRunning(database, pool)
  return ran
}
