import type { ExporterContext, RunningExporter } from '@tollgate/plugin-kit'
import { buildNumber } from './caller/embedder.ts'
import { checkOptions } from './check-options.ts'
import type { PluginPages } from './connector/plugin-pages.ts'
import { Registry } from './connector/registry.ts'
import type { Passwords } from './crypto/passwords.ts'
import { digestIdempotencyKeys } from './db/digest-idempotency.ts'
import type { Engine } from './engine.ts'
import { Entities } from './entity/entities.ts'
import { Gateway } from './gateway.ts'
import { namesOfOptions } from './gateway-calls.ts'
import { type End, guarded } from './gateway-guard.ts'
import type { GatewayOptions } from './gateway-options.ts'
import { Dispatcher } from './jobs/dispatcher.ts'
import { engineJobs } from './jobs/engine-jobs.ts'
import { Accounts } from './merchant-account/accounts.ts'
import { closeExporters, startExporters } from './observation/exporters.ts'
import { EngineState } from './observation/state.ts'
import { OperatorAccounts } from './operator-access/api.ts'
import { restoreOutcomes } from './payment/restore-outcomes.ts'
import { retryWrite } from './payment/retry-write.ts'
import { Leadership } from './process/leadership.ts'
import { Presence } from './process/presence.ts'
import { queuedAs } from './queue/queue.ts'
import { warm } from './request/parse.ts'
import { prepareDatabase, startQueue } from './start-database.ts'
import { assembleEngine, thresholdsAt } from './start-engine.ts'
import { closeResources, openResources, type Resources } from './start-resources.ts'
import { timed } from './start-timed.ts'
import { Vault } from './vault/vault.ts'
import { unfitFieldsUrl } from './widget-files/fields-url.ts'

/**
 * Starts an engine on a Postgres database: waits for it, migrates, opens the vault, loads the plugins,
 * starts the jobs.
 *
 * @throws OptionsError naming every option that is missing, unknown or wrong.
 * @throws PluginError when a plugin or its settings are wrong.
 * @throws MissingKeyError when the database needs other keys.
 * @throws KeyProviderError when the key provider is unavailable.
 * @throws MigrationError when the database cannot be migrated, or with `migrate: false` lacks tables of this version.
 * @throws PoolerError when a connection pooler stands before the database that cannot do what is asked.
 * @throws Error when the database stays away, belongs to the other environment, to another pod or
 * installation, or is not durable, and when card fields would share their origin.
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  checkOptions(options)
  refuseUnfitFields(options)
  const registry = new Registry(options.plugins, options.connectors ?? {}, options)
  const resources = openResources(options)
  let vault: Vault | undefined
  let exporters: readonly RunningExporter[] = []
  try {
    await Promise.all([
      prepareDatabase(resources, options),
      // It computes while the database works.
      options.warm !== false && timed(options, 'compiling checks of requests', compileChecks),
    ])
    vault = await timed(options, 'opening the vault', () => openVault(resources, options))
    const assembled = await assembleEngine(options, resources, registry, vault)
    const { engine } = assembled
    const context = exporterContext(engine, resources, options)
    if (options.exporters !== false) {
      exporters = await timed(options, 'starting exporters', () =>
        startExporters(options.plugins, context),
      )
    }
    const work = await startWork(engine, resources, options)
    return assembleGateway(options, resources, { ...assembled, exporters, ...work })
  } catch (error) {
    await resources.queue.stop(1000).catch(() => {})
    await closeExporters(exporters, resources)
    await vault?.close()
    await closeResources(resources)
    throw error
  }
}

/**
 * Compiles the checks of the most common requests, which takes a fifth of a second. A start does it otherwise; a
 * program that waits for its database before can do it meanwhile.
 */
export async function compileChecks(): Promise<void> {
  warm(['payments.create', 'payments.followUp', 'payments.get'])
}

function refuseUnfitFields({ environment, fieldsUrl, publicUrl }: GatewayOptions): void {
  const url = typeof publicUrl === 'function' ? publicUrl() : publicUrl
  const origins = { environment, fieldsUrl, publicUrl: url }
  const unfit = unfitFieldsUrl(origins, { fieldsUrl: 'fieldsUrl', publicUrl: 'publicUrl' })
  if (unfit !== undefined) throw new Error(unfit)
}

async function openVault(resources: Resources, options: GatewayOptions): Promise<Vault> {
  const { database, lanes, clock, log } = resources
  const { keyCacheMs, pod } = options
  const vault = await Vault.start(lanes, options.keys, {
    clock,
    log,
    ...(keyCacheMs !== undefined && { keepMs: keyCacheMs }),
    ...(pod !== undefined && { pod }),
  })
  try {
    await digestIdempotencyKeys(database, lanes.pools.single, (entityId, key) =>
      vault.idempotencyKey(entityId, key),
    )
    return vault
  } catch (error) {
    await vault.close()
    throw error
  }
}

/** Starts everything that works beside requests. Jobs come last, because they run from then on. */
async function startWork(
  engine: Engine,
  { database, lanes, queue, isWorker }: Resources,
  options: GatewayOptions,
): Promise<Pick<Started, 'presence' | 'leadership' | 'dispatcher'>> {
  await timed(options, 'starting the job queue', () => startQueue(queue))
  const presence = new Presence(lanes, buildNumber, options.role ?? 'all')
  const leadership = new Leadership(database, engine.log)
  await timed(options, 'joining the other processes', async () => {
    await presence.start()
    await leadership.start(lanes, () =>
      engine.inFlight.track(retryWrite(engine, () => restoreOutcomes(engine))),
    )
    await engine.cardTesting.start()
  })
  const own = [...(options.jobs ?? []), ...options.plugins.flatMap((plugin) => plugin.jobs ?? [])]
  const dispatcher = isWorker ? new Dispatcher(engine, queue) : undefined
  await timed(options, 'starting jobs', async () => {
    await queue.declare([...engineJobs(), ...own.map(queuedAs)])
    await dispatcher?.start(own)
  })
  return { presence, leadership, dispatcher }
}

function exporterContext(
  engine: Engine,
  { queue, log }: Resources,
  { environment, role = 'all' }: GatewayOptions,
): ExporterContext {
  const state = new EngineState(engine, queue)
  return {
    engine: engine.name,
    ...{ environment, role, log },
    version: buildNumber,
    process: () => state.process(),
    shared: () => state.shared(),
  }
}

type Started = {
  readonly exporters: readonly RunningExporter[]
  readonly engine: Engine
  readonly pages: PluginPages
  readonly passwords: Passwords
  readonly presence: Presence
  readonly leadership: Leadership
  readonly dispatcher: Dispatcher | undefined
}

function assembleGateway(
  options: GatewayOptions,
  { database, lanes, queue, outgoing, clock, log }: Resources,
  started: Started,
): Gateway {
  const { engine, passwords } = started
  const { vault, registry, two } = engine
  const usual = { environment: options.environment, cardTesting: thresholdsAt(options) }
  const entities = new Entities(lanes, vault, registry, usual, clock, two)
  const accounts = new Accounts(engine, entities, two)
  const end: End = { isClosed: false }
  const gateway = new Gateway({
    ...started,
    end,
    database,
    queue,
    outgoing,
    entities,
    accounts,
    people: (operator, audit) =>
      new OperatorAccounts(engine, passwords, two, { operator, audit, accounts }),
    graceMs: options.shutdownGraceMs ?? 40_000,
    closeExporters: () => closeExporters(started.exporters, { log }),
  })
  return guarded(gateway, end, namesOfOptions)
}
