/** The checks of a database before an engine uses it. */
import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { patience } from './db/database.ts'
import { lossesOf, serverTime, standbysOf } from './db/durability.ts'
import type { Lanes } from './db/lanes.ts'
import type { Environment } from './engine.ts'
import { claimInstallation } from './entity/store.ts'
import type { GatewayOptions } from './gateway-options.ts'
import { howToMigrate, MigrationError, migrate, refuseOlder } from './migrate.ts'
import type { Resources } from './start-resources.ts'
import { timed } from './start-timed.ts'
import { whenReachable } from './start-wait.ts'

/**
 * Waits for the database, and migrates it if wanted.
 *
 * @throws MigrationError when it has no tables or older ones and is not to be migrated, or cannot be.
 * @throws PoolerError when a pooler stands before it that cannot do what the options ask for.
 * @throws Error when it belongs to the other environment or to another pod, or is not durable.
 */
export async function prepareDatabase(
  { database, lanes, log }: Resources,
  options: Pick<
    GatewayOptions,
    'environment' | 'migrate' | 'startWait' | 'database' | 'pod' | 'onStage'
  >,
): Promise<void> {
  const { environment, startWait = limits.startWaitMs / 1000 } = options
  const ask = () => database.run(lanes.pools.read, serverTime, patience(limits.statementTryMs))
  await timed(options, 'reaching the database', () =>
    whenReachable(ask, { seconds: startWait, log }),
  )
  database.outage.watch()
  await timed(options, 'migrating tables', async () => {
    if (options.migrate === false) await refuseOlder(database, lanes.pools.single)
    else await migrate(database, lanes.pools.single)
  })
  await checkInstallation(lanes, environment, options.pod?.number ?? 0)
  await checkDurability(lanes, environment, log, options.database.synchronousCommit ?? 'on')
}

/** A database belongs to one environment and to one pod permanently. */
async function checkInstallation(
  lanes: Lanes,
  environment: Environment,
  pod: number,
): Promise<void> {
  const [installation] = await lanes.single(claimInstallation(environment, pod))
  if (installation!.environment !== environment) {
    throw new Error(
      `This database belongs to a ${installation!.environment} installation and cannot be used as ${environment}.`,
    )
  }
  if (installation!.pod !== pod) {
    throw new Error(
      `This database belongs to pod ${installation!.pod} and cannot be used as pod ${pod}: a database keeps its number, so name this one for pod ${installation!.pod}, and another database for pod ${pod}.`,
    )
  }
}

/** @throws MigrationError when the tables of pg-boss are of another version, which it does not migrate. */
export async function startQueue(queue: Resources['queue']): Promise<void> {
  await queue.start().catch((error: unknown) => {
    // pg-boss has no code for it.
    if (!(error instanceof Error) || !/requires migrations$/.test(error.message)) throw error
    throw new MigrationError(
      `The job queue of this database is of another version: ${howToMigrate}.`,
    )
  })
}

/** A live database must not lose acknowledged commits, unless its owner accepted that by name. */
async function checkDurability(
  lanes: Lanes,
  environment: Environment,
  log: Log,
  accepted: 'on' | 'local' | 'off',
): Promise<void> {
  const { refused, told } = await lossesOf(lanes, accepted)
  if (refused.length > 0 && environment === 'live') {
    throw new Error(`This database may lose acknowledged payments: ${refused.join('; ')}.`)
  }
  const problems = [...refused, ...told, ...(await standbysOf(lanes))]
  if (problems.length === 0) return
  log.warn({ problems: problems.join('; ') }, 'this database may lose acknowledged payments')
}
