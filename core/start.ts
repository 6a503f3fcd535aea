import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import pRetry from 'p-retry'
import { alarms, marked } from './audit/alarm.ts'
import { buildNumber } from './caller/embedder.ts'
import { CardTesting } from './card-testing/card-testing.ts'
import { systemClock } from './clock.ts'
import { PluginPages } from './connector/plugin-pages.ts'
import { Registry } from './connector/registry.ts'
import { TokenCache } from './connector/token-cache.ts'
import { Passwords } from './crypto/passwords.ts'
import { Database, sqlState } from './db/database.ts'
import { digestIdempotencyKeys } from './db/digest-idempotency.ts'
import { durability, serverTime } from './db/durability.ts'
import { Lanes } from './db/lanes.ts'
import type { Engine, Environment } from './engine.ts'
import { defaultThresholds } from './entity/card-testing-settings.ts'
import { Directory } from './entity/directory.ts'
import { Entities } from './entity/entities.ts'
import { claimInstallation } from './entity/store.ts'
import { EventBus } from './event/bus.ts'
import { TwoPeople } from './four-eyes/two-people.ts'
import { Gateway } from './gateway.ts'
import type { GatewayOptions } from './gateway-options.ts'
import { Dispatcher } from './jobs/dispatcher.ts'
import { paymentJobs } from './jobs/payment-jobs.ts'
import { MigrationError, migrate } from './migrate.ts'
import { addressRules, checkUrl } from './net/address.ts'
import { createOutgoing } from './net/http.ts'
import { OperatorAccounts } from './operator-access/api.ts'
import { InFlight } from './process/in-flight.ts'
import { Presence } from './process/presence.ts'
import { SetupChanges } from './process/setup-changes.ts'
import { ShopperQuestions } from './process/shopper-questions.ts'
import { ShortNumbers } from './process/short-numbers.ts'
import { WebhookSlots } from './process/webhook-slots.ts'
import { Queue } from './queue/queue.ts'
import { warm } from './request/parse.ts'
import { openAccounts } from './routing/accounts.ts'
import { Targets } from './routing/targets.ts'
import { StepLog } from './transcript/log.ts'
import { DistinctNumbers } from './vault/distinct-numbers.ts'
import { HeldSecrets } from './vault/held-secrets.ts'
import { Vault } from './vault/vault.ts'
import { unfitFieldsUrl } from './widget-files/fields-url.ts'
import { WidgetFiles } from './widget-files/files.ts'

const silent: Log = { info() {}, warn() {} }

function refuseUnfitFields({ environment, fieldsUrl, publicUrl }: GatewayOptions): void {
  const url = typeof publicUrl === 'function' ? publicUrl() : publicUrl
  const origins = { environment, fieldsUrl, publicUrl: url }
  const unfit = unfitFieldsUrl(origins, { fieldsUrl: 'fieldsUrl', publicUrl: 'publicUrl' })
  if (unfit !== undefined) throw new Error(unfit)
}

/**
 * Starts an engine on a Postgres database: migrates, opens the vault, loads the plugins, starts the
 * jobs.
 *
 * @throws PluginError when a plugin or its settings are wrong.
 * @throws MissingKeyError when the database needs other keys.
 * @throws KeyProviderError when the key provider is unavailable.
 * @throws MigrationError when the database has no tables or cannot be migrated.
 * @throws Error when the database belongs to the other environment or is not durable, and when card
 * fields would share their origin.
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const log = options.log ?? silent
  const securityLog = options.securityLog ?? marked(log)
  const name = options.name ?? 'tollgate'
  const clock = options.clock ?? systemClock
  const role = options.role ?? 'all'
  refuseUnfitFields(options)
  const registry = new Registry(options.plugins, options.connectors ?? {})
  const database = new Database(options.database)
  const lanes = new Lanes(database, {
    single: options.database.singleConnections ?? 6,
    read: options.database.readConnections ?? 4,
  })
  const mayReachLoopback = options.environment === 'test' && options.allowLoopback !== false
  const outgoing = createOutgoing({ name, allowLoopback: mayReachLoopback, clock })
  const forMerchants =
    options.environment === 'test' && (options.allowLoopbackForMerchants ?? false)
  const rules = addressRules({ allowLoopback: forMerchants })
  const toMerchants = createOutgoing({ name, allowLoopback: forMerchants, clock })
  const isWorker = role !== 'api'
  const queue = new Queue(database, {
    migrate: options.migrate !== false,
    supervise: isWorker,
    log,
  })
  let vault: Vault | undefined
  try {
    await reachable(database, lanes)
    if (options.migrate !== false) await migrate(database, lanes.pools.single)
    await checkDatabase(lanes, options.environment, log)
    vault = await Vault.start(lanes, options.keys, {
      clock,
      log,
      ...(options.keyCacheMs !== undefined && { keepMs: options.keyCacheMs }),
    })
    const opened = vault
    await digestIdempotencyKeys(database, lanes.pools.single, (entityId, key) =>
      opened.idempotencyKey(entityId, key),
    )
    const directory = new Directory(lanes, options.environment, clock, log)
    const alarm = alarms(securityLog, clock)
    const events = new EventBus(log)
    for (const plugin of options.plugins) if (plugin.on !== undefined) events.on(plugin.on)
    const { publicUrl } = options
    const below = (path: string) => {
      const base = typeof publicUrl === 'function' ? publicUrl() : publicUrl
      return base === undefined ? undefined : `${base.replace(/\/$/, '')}${path}`
    }
    const { environment, plugins } = options
    const pages = new PluginPages({ plugins, environment, lanes, clock })
    const targets = new Targets(registry, directory, openAccounts(vault, registry), {
      notify: (connector, account) => below(`/connectors/${connector}/${account}/events`),
      pages: (plugin) => (pages.serves(plugin) ? below(`/v1/pages/${plugin}`) : undefined),
    })
    const widgetFiles = new WidgetFiles(lanes)
    if (options.widget !== undefined) await widgetFiles.publish(options.widget)
    const engine: Engine = {
      name,
      environment: options.environment,
      clock,
      lanes,
      vault,
      directory,
      registry,
      targets,
      services: { lanes, clock, outgoing, tokens: new TokenCache(clock), log },
      shortNumbers: new ShortNumbers(lanes),
      inFlight: new InFlight(),
      cardTesting: new CardTesting({
        lanes,
        clock,
        log,
        alarm,
        directory,
        thresholds: { ...defaultThresholds(options.environment), ...options.cardTesting },
      }),
      events,
      steps: new StepLog(lanes, clock, log, options.stepDays ?? limits.stepDays),
      jobs: paymentJobs(queue),
      log,
      securityLog,
      alarm,
      checkUrl: (url) => checkUrl(url, rules),
      toMerchants,
      showsAnswers: forMerchants === false,
      webhookTests: new WebhookSlots('test', limits.webhookTestsPerToken),
      setupChanges: new SetupChanges(clock),
      webhookReplays: new WebhookSlots('replay', limits.webhookReplaysPerToken),
      node: nodeOf(name),
      widget: widgetFiles.current,
      distinctNumbers: new DistinctNumbers(clock),
      widgetFiles,
      fieldsUrl: options.fieldsUrl,
      shopperQuestions: new ShopperQuestions(clock),
      heldSecrets: new HeldSecrets(clock),
      returnUrl: (paymentId, attemptKey, where) =>
        below(`/v1/return/${paymentId}/${opened.returnTokens.of(attemptKey, where)}`),
      connectorTimeoutMs: options.connectorTimeoutMs ?? 30_000,
    }
    await queue.start()
    const own = [...(options.jobs ?? []), ...options.plugins.flatMap((plugin) => plugin.jobs ?? [])]
    for (const job of own) await queue.declareOwn(job)
    const presence = new Presence(lanes, buildNumber, role)
    await presence.start()
    await engine.cardTesting.start()
    warm(['payments.create', 'payments.followUp', 'payments.get'])
    // Last, because jobs run from here on.
    const dispatcher = isWorker ? new Dispatcher(engine, queue) : undefined
    if (dispatcher === undefined) await Dispatcher.declare(queue)
    else await dispatcher.start(own)
    const logRounds = options.environment === 'test' ? options.passwordLogRounds : undefined
    const passwords = new Passwords({
      ...limits.passwordHash,
      ...(logRounds !== undefined && { logRounds }),
    })
    const twoPeople = new TwoPeople(lanes, clock, options.fourEyes ?? false, passwords)
    return new Gateway({
      engine,
      database,
      queue,
      dispatcher,
      outgoing,
      presence,
      pages,
      entities: new Entities(lanes, vault, registry, options.environment, clock, twoPeople),
      people: (operator, audit) =>
        new OperatorAccounts(engine, passwords, twoPeople, operator, audit),
      graceMs: options.shutdownGraceMs ?? 40_000,
    })
  } catch (error) {
    await queue.stop(1000).catch(() => {})
    await vault?.close()
    await outgoing.close()
    await toMerchants.close()
    await database.close()
    throw error
  }
}

/** The name of an engine as a part of ids. */
const nodeOf = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9-]/g, '-').slice(0, 15) || 'node'

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
