/** The engine of a gateway, put together from its options and resources. */
import { limits } from '@tollgate/schemas'
import { alarms } from './audit/alarm.ts'
import { CardTesting } from './card-testing/card-testing.ts'
import { PluginPages } from './connector/plugin-pages.ts'
import type { Registry } from './connector/registry.ts'
import { TokenCache } from './connector/token-cache.ts'
import { Passwords } from './crypto/passwords.ts'
import type { Engine, Environment } from './engine.ts'
import { defaultThresholds, type Thresholds } from './entity/card-testing-settings.ts'
import { Directory } from './entity/directory.ts'
import { EventBus } from './event/bus.ts'
import { TwoPeople } from './four-eyes/two-people.ts'
import type { GatewayOptions } from './gateway-options.ts'
import { paymentJobs } from './jobs/payment-jobs.ts'
import { addressRules, checkUrl, type UrlCheck } from './net/address.ts'
import { checkedAddress } from './net/checked-address.ts'
import { withDefaults } from './option-forms.ts'
import { InFlight } from './process/in-flight.ts'
import { SetupChanges } from './process/setup-changes.ts'
import { ShopperQuestions } from './process/shopper-questions.ts'
import { ShortNumbers } from './process/short-numbers.ts'
import { WebhookSlots } from './process/webhook-slots.ts'
import { openAccounts } from './routing/accounts.ts'
import { Targets } from './routing/targets.ts'
import type { Resources } from './start-resources.ts'
import { timed } from './start-timed.ts'
import { StepLog } from './transcript/log.ts'
import { DistinctNumbers } from './vault/distinct-numbers.ts'
import { HeldSecrets } from './vault/held-secrets.ts'
import type { Vault } from './vault/vault.ts'
import { RootDocuments } from './wallet/root-documents.ts'
import { Wallets } from './wallet/wallets.ts'
import { WidgetFiles } from './widget-files/files.ts'

export async function assembleEngine(
  options: GatewayOptions,
  resources: Resources,
  registry: Registry,
  vault: Vault,
): Promise<{ engine: Engine; pages: PluginPages; passwords: Passwords }> {
  const { environment } = options
  const { name, clock, log, securityLog, lanes, outgoing, toMerchants } = resources
  const directory = new Directory(lanes, environment, clock, log)
  const alarm = alarms(securityLog, clock)
  const widgetFiles = new WidgetFiles(lanes)
  const { widget } = options
  if (widget !== undefined) {
    await timed(options, 'publishing the widget', () => widgetFiles.publish(widget))
  }
  const { targets, pages, wallets } = routesOf(options, resources, { registry, vault, directory })
  const passwords = passwordsOf(options)
  const engine: Engine = {
    ...{ name, environment, clock, lanes, vault, directory, registry, targets, wallets },
    ...{ log, securityLog, alarm, toMerchants, widgetFiles },
    services: {
      ...{ lanes, clock, outgoing, tokens: new TokenCache(clock), log },
      transfers: registry.transfers,
      addressOf: (host, port) => checkedAddress(resources.connectorRules, host, port),
    },
    two: new TwoPeople(lanes, clock, options.fourEyes ?? false, passwords),
    pod: numberOf(options),
    shortNumbers: new ShortNumbers(lanes, numberOf(options)),
    inFlight: new InFlight(),
    cardTesting: new CardTesting({
      ...{ lanes, clock, log, alarm, directory },
      thresholds: thresholdsAt(options),
    }),
    events: eventsOf(options, resources),
    steps: new StepLog(lanes, clock, log, options.stepDays ?? limits.stepDays),
    jobs: paymentJobs(resources.queue),
    checkUrl: (url) => merchantsUrl(url, resources, environment),
    merchantAddress: (host, port) => checkedAddress(resources.merchantUrlRules, host, port),
    showsAnswers: resources.showsAnswers,
    webhookTests: new WebhookSlots('test', limits.webhookTestsPerToken),
    reportTests: new WebhookSlots('test', limits.reportTestsPerToken, 'report destination'),
    setupChanges: new SetupChanges(clock),
    webhookReplays: new WebhookSlots('replay', limits.webhookReplaysPerToken),
    node: nodeOf(name),
    widget: widgetFiles.current,
    distinctNumbers: new DistinctNumbers(clock),
    fieldsUrl: options.fieldsUrl,
    shopperQuestions: new ShopperQuestions(clock),
    heldSecrets: new HeldSecrets(clock),
    returnUrl: (paymentId, attemptKey, where) =>
      publicUrlOf(options, `/v1/return/${paymentId}/${vault.returnTokens.of(attemptKey, where)}`),
    connectorTimeoutMs: options.connectorTimeoutMs ?? 30_000,
  }
  return { engine, pages, passwords }
}

function passwordsOf({ environment, passwordLogRounds }: GatewayOptions): Passwords {
  const logRounds = environment === 'test' ? passwordLogRounds : undefined
  return new Passwords({
    ...limits.passwordHash,
    ...(logRounds !== undefined && { logRounds }),
  })
}

/** The limits of failures where no entity sets its own. */
export const thresholdsAt = ({ environment, cardTesting }: GatewayOptions): Thresholds =>
  withDefaults(defaultThresholds(environment), cardTesting)

/** In test, the check says which option lets a URL lead to this machine, unless it is on. */
function merchantsUrl(text: string, resources: Resources, environment: Environment): UrlCheck {
  const check = checkUrl(text, resources.merchantUrlRules)
  const mayBe = environment === 'test' && resources.showsAnswers
  if (check.ok || !mayBe || !checkUrl(text, onThisMachine).ok) return check
  const { why } = check
  return { ...check, why: `${why}; the option allowLoopbackForMerchants also takes this machine` }
}

const onThisMachine = addressRules({ allowLoopback: true })

function eventsOf({ plugins }: GatewayOptions, { log }: Resources): EventBus {
  const events = new EventBus(log)
  for (const plugin of plugins) if (plugin.on !== undefined) events.on(plugin.on)
  return events
}

/** The way to acquirers: their accounts, and the URLs at which they and shoppers reach plugins. */
function routesOf(
  options: GatewayOptions,
  { lanes, clock, outgoing, log }: Resources,
  { registry, vault, directory }: Pick<Engine, 'registry' | 'vault' | 'directory'>,
): { targets: Targets; pages: PluginPages; wallets: Wallets } {
  const { environment, plugins } = options
  const pages = new PluginPages({ plugins, environment, pod: numberOf(options), lanes, clock })
  const open = openAccounts(vault, registry)
  const urls = {
    notify: (connector: string, account: string) =>
      publicUrlOf(
        options,
        `/connectors/${connector}/${account}/events${account === 'internal' ? podQuery(options) : ''}`,
      ),
    pages: (plugin: string) =>
      pages.serves(plugin) ? publicUrlOf(options, `/v1/pages/${plugin}${pages.prefix}`) : undefined,
  }
  const targets = new Targets(registry, directory, open, urls, environment === 'live')
  const documents = new RootDocuments({ clock, outgoing, log })
  const wallets = new Wallets({
    ...{ registry, directory, open, documents, outgoing, clock, environment, log },
  })
  return { targets, pages, wallets }
}

/** Every pod has the account of mode INTERNAL, so its address names the pod. */
const podQuery = (options: GatewayOptions): string =>
  numberOf(options) === 0 ? '' : `?pod=${numberOf(options)}`

const numberOf = ({ pod }: GatewayOptions): number => pod?.number ?? 0

/** The public URL of a path; undefined while the gateway has none. */
function publicUrlOf({ publicUrl }: GatewayOptions, path: string): string | undefined {
  const base = typeof publicUrl === 'function' ? publicUrl() : publicUrl
  return base === undefined ? undefined : `${base.replace(/\/$/, '')}${path}`
}

/** The name of an engine as a part of ids. */
const nodeOf = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9-]/g, '-').slice(0, 15) || 'node'
