import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { limits } from '@tollgate/schemas'
import type pg from 'pg'
import { grantRunning } from './database-grants.ts'
import { Database, type DatabaseOptions } from './db/database.ts'
import { faultPoint } from './fault-point.ts'
import { alive } from './process/store.ts'
import { migrateQueues } from './queue/queue.ts'

/** The folder of the numbered .sql files, in the repository and in the published package. */
const folder = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@tollgate/core/package.json')),
  'db/migrations',
)

/** One lock for all processes that migrate the same database; the number is arbitrary but fixed. */
const lockNumber = 7_042_026

export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/** First line of a migration with which running processes of the previous version cannot work. */
const breakingMark = '-- breaking'

async function refuseWhileOthersRun(database: Database, client: pg.PoolClient): Promise<void> {
  const { text, values } = database.config(alive(3 * limits.heartbeatMs))
  const { rows } = await client.query(text, values)
  if (rows.length === 0) return
  const versions = [...new Set(rows.map((row) => row.version))].join(', ')
  throw new MigrationError(
    `${rows.length} process(es) of ${versions} still run on this database, and the migration would break them. Stop them first.`,
  )
}

/** The migrations of this version of the code, in order. */
export async function migrationFiles(): Promise<
  { name: string; text: string; checksum: string }[]
> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(path.join(folder, name), 'utf8')
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

/**
 * Runs pending migrations. Safe when several processes start at once: they take turns, and only the first
 * one migrates. Each file commits together with its row in the list of migrations, or not at all.
 *
 * @throws MigrationError when a file that ran before has changed, or the database is newer than the code.
 */
export async function migrate(database: Database, pool: pg.Pool): Promise<string[]> {
  const client = await pool.connect()
  const ran: string[] = []
  try {
    // The time limit applies to statements of payments. A migration may run and wait longer.
    await client.query('set statement_timeout = 0')
    await client.query('set idle_in_transaction_session_timeout = 0')
    await client.query('set lock_timeout = 0')
    await client.query('select pg_advisory_lock($1)', [lockNumber])
    await client.query('reset lock_timeout')
    const schema = database.schema
    await client.query(`create schema if not exists ${schema}`)
    await client.query(`create table if not exists ${schema}.migration
      (name text primary key, checksum text not null, at timestamptz not null default now())`)
    const done = new Map<string, string>()
    const rows = await client.query(`select name, checksum from ${schema}.migration`)
    for (const row of rows.rows) done.set(row.name, row.checksum)
    const all = await migrationFiles()
    const newer = [...done.keys()].filter((name) => !all.some((file) => file.name === name))
    if (newer.length > 0) {
      throw new MigrationError(
        `The database was migrated by a newer version of Tollgate (${newer.join(', ')}). Update this one.`,
      )
    }
    const pending = all.filter((file) => !done.has(file.name))
    if (done.size > 0 && pending.some((file) => file.text.startsWith(breakingMark))) {
      await refuseWhileOthersRun(database, client)
    }
    for (const file of all) {
      const before = done.get(file.name)
      if (before === file.checksum) continue
      if (before !== undefined) {
        throw new MigrationError(
          `Migration ${file.name} was changed after it ran here. Restore it.`,
        )
      }
      await client.query('begin')
      try {
        await client.query(`insert into ${schema}.migration (name, checksum) values ($1, $2)`, [
          file.name,
          file.checksum,
        ])
        await client.query(database.rewrite(file.text))
        await faultPoint('in-migration', file.name)
        await client.query('commit')
      } catch (error) {
        await client.query('rollback').catch(() => {})
        throw error
      }
      ran.push(file.name)
    }
    return ran
  } finally {
    await client.query('select pg_advisory_unlock_all()').catch(() => {})
    client.release(true)
  }
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
