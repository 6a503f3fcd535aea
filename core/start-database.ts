/** The checks of a database before an engine uses it. */
import type { Log } from '@tollgate/plugin-kit'
import pRetry from 'p-retry'
import { type Database, sqlState } from './db/database.ts'
import { durability, serverTime } from './db/durability.ts'
import type { Lanes } from './db/lanes.ts'
import type { Environment } from './engine.ts'
import { claimInstallation } from './entity/store.ts'
import { MigrationError, migrate } from './migrate.ts'
import type { Resources } from './start-resources.ts'

/**
 * Migrates the database if wanted.
 *
 * @throws MigrationError when it has no tables or cannot be migrated.
 * @throws Error when it belongs to the other environment or is not durable.
 */
export async function prepareDatabase(
  { database, lanes, log }: Resources,
  environment: Environment,
  wantsMigration: boolean,
): Promise<void> {
  await reachable(database, lanes)
  if (wantsMigration) await migrate(database, lanes.pools.single)
  await checkDatabase(lanes, environment, log)
}

/** Waits a few seconds for a database that is starting. */
async function reachable(database: Database, lanes: Lanes): Promise<void> {
  await pRetry(() => database.run(lanes.pools.read, serverTime), {
    retries: 5,
    minTimeout: 200,
    shouldRetry: ({ error }) => sqlState(error) === '57P03',
  })
}

/**
 * A database belongs to one environment permanently, and a live one must not lose acknowledged
 * commits.
 */
async function checkDatabase(lanes: Lanes, environment: Environment, log: Log): Promise<void> {
  const [installation] = await lanes.single(claimInstallation(environment)).catch(needsMigration)
  if (installation!.environment !== environment) {
    throw new Error(
      `This database belongs to a ${installation!.environment} installation and cannot be used as ${environment}.`,
    )
  }
  await checkDurability(lanes, environment, log)
}

/** @throws MigrationError instead of Postgres' error for a missing table. */
function needsMigration(error: unknown): never {
  if (sqlState(error) !== '42P01' && sqlState(error) !== '3F000') throw error
  throw new MigrationError(
    'This database has no tables yet: run "tollgate migrate", or start with migrate on.',
  )
}

async function checkDurability(lanes: Lanes, environment: Environment, log: Log): Promise<void> {
  const problems = await durability(lanes)
  if (problems.length === 0) return
  if (environment === 'live') {
    throw new Error(`This database may lose acknowledged payments: ${problems.join('; ')}.`)
  }
  log.warn({ problems: problems.join('; ') }, 'this database may lose acknowledged payments')
}
