import {
  type Authenticator,
  type Connector,
  contractVersion,
  impossibleFact,
  type Plugin,
  PluginError,
  type Server,
  type Transfer,
  type Wallet,
  type WalletField,
} from '@tollgate/plugin-kit'
import { suggest, vocabularyOf } from '../near-name.ts'
import { asConnector } from './authenticator.ts'
import type { ConnectorReach } from './reach.ts'
import { checkSettings, refuseUnreachable } from './settings.ts'
import { checkSettlement } from './settlement-facts.ts'
import { walletAsConnector } from './wallet.ts'

/**
 * The party that carries an operation out: the simulator, an acquirer's test system, or its live
 * one.
 */
export type Mode = 'INTERNAL' | 'EXTERNAL' | 'LIVE'

export type Loaded = {
  readonly connector: Connector
  readonly config: Readonly<Record<string, unknown>>
  /** The plugin that brought it. */
  readonly plugin: string
  /** Of an authenticator, which the engine treats as a connector that moves no money. */
  readonly authenticator?: Authenticator
  /** Of a wallet, which the engine treats as a connector that moves no money. */
  readonly wallet?: Wallet
}

/** An authenticator among the loaded parts. */
export type LoadedAuthenticator = Loaded & { readonly authenticator: Authenticator }

export type LoadedWallet = Loaded & { readonly wallet: Wallet }

export const isAuthenticator = (loaded: Loaded): loaded is LoadedAuthenticator =>
  loaded.authenticator !== undefined

export const isWallet = (loaded: Loaded): loaded is LoadedWallet => loaded.wallet !== undefined

/** Whether it carries out payments. */
export const isAcquirer = (loaded: Loaded): boolean => !isAuthenticator(loaded) && !isWallet(loaded)

const money = [
  'authorize',
  'debit',
  'credit',
  'capture',
  'refund',
  'reverse',
  'increment',
  'verify',
] as const

type Configs = Readonly<Record<string, Record<string, unknown>>>

/**
 * Checks plugins and their settings as a start does, without a database.
 *
 * @param reach With it, also whether a request can go to each URL of the settings.
 * @throws PluginError
 */
export function checkPlugins(
  plugins: readonly Plugin[],
  configs: Configs,
  reach?: ConnectorReach,
): void {
  new Registry(plugins, configs, reach)
}

/**
 * The connectors of all plugins, checked once at start.
 *
 * @throws PluginError naming the plugin, the error and the correction.
 */
export class Registry {
  readonly #byName = new Map<string, Loaded>()
  readonly #reach: ConnectorReach | undefined
  readonly plugins: readonly Plugin[]
  /** File protocols by their scheme. */
  readonly transfers: ReadonlyMap<string, Transfer>
  /** Servers by their name. */
  readonly servers: ReadonlyMap<string, Server>

  /** @param reach With it, a URL of the settings that no request can go to is refused. */
  constructor(plugins: readonly Plugin[], configs: Configs, reach?: ConnectorReach) {
    this.plugins = plugins
    this.#reach = reach
    const names = new Set<string>()
    for (const plugin of plugins) {
      checkPlugin(plugin)
      if (names.has(plugin.name)) {
        throw new PluginError(
          'duplicate-name',
          `Two plugins are named "${plugin.name}". Load one of them.`,
        )
      }
      names.add(plugin.name)
      try {
        this.#addParts(plugin, configs)
      } catch (error) {
        // Settings under a misspelt name are missing under the right one.
        const strange = strangeNames(plugins, configs)
        if (!(error instanceof PluginError) || error.code !== 'bad-setting') throw error
        throw new PluginError(error.code, [...strange, error.message].join('; '))
      }
    }
    this.#refuseUnknown(configs)
    this.transfers = byName(
      plugins.flatMap(({ transfers = [] }) => transfers),
      'transfer',
      ({ scheme }) => scheme,
    )
    this.servers = byName(
      plugins.flatMap(({ servers = [] }) => servers),
      'server',
      ({ name }) => name,
    )
  }

  #addParts(plugin: Plugin, configs: Configs): void {
    for (const connector of plugin.connectors ?? []) this.#add(plugin, connector, configs)
    for (const authenticator of plugin.authenticators ?? []) {
      this.#addAuthenticator(plugin, authenticator, configs)
    }
    for (const wallet of plugin.wallets ?? []) this.#addWallet(plugin, wallet, configs)
  }

  /** Settings under a misspelt name would be ignored. */
  #refuseUnknown(configs: Configs): void {
    const strange = strangeNames(this.plugins, configs)
    if (strange.length > 0) throw new PluginError('bad-setting', strange.join('; '))
    for (const [name, settings] of Object.entries(configs)) {
      if (this.#byName.get(name)?.connector.config !== undefined) continue
      if (Object.keys(settings).length > 0) {
        throw new PluginError('bad-setting', `connectors.${name}: it takes no settings here.`)
      }
    }
  }

  #checkFacts(where: string, { name, contract }: { name: string; contract: number }): void {
    if (!/^[a-z][a-z0-9-]{0,39}$/.test(name)) {
      throw new PluginError(
        'bad-name',
        `${where}: a name is lower-case letters, digits and hyphens.`,
      )
    }
    if (this.#byName.has(name)) {
      throw new PluginError(
        'duplicate-name',
        `${where}: a connector, authenticator or wallet of this name is there already.`,
      )
    }
    checkContract(where, contract)
  }

  #addAuthenticator(plugin: Plugin, authenticator: Authenticator, configs: Configs): void {
    const { name } = authenticator
    const where = `Authenticator "${name}" of plugin "${plugin.name}"`
    this.#checkFacts(where, authenticator)
    for (const handler of ['authenticate', 'complete', 'enquire'] as const) {
      if (typeof authenticator[handler] === 'function') continue
      throw new PluginError('missing-handler', `${where} has no ${handler}.`)
    }
    if (!((authenticator.supports?.schemes?.length ?? 0) > 0)) {
      throw new PluginError(
        'missing-handler',
        `${where} names no card scheme in supports.schemes, so it would never be asked.`,
      )
    }
    this.#byName.set(name, {
      connector: asConnector(authenticator),
      config: configOf(authenticator, configs, this.#reach),
      plugin: plugin.name,
      authenticator,
    })
  }

  #addWallet(plugin: Plugin, wallet: Wallet, configs: Configs): void {
    const { name, field } = wallet
    const where = `Wallet "${name}" of plugin "${plugin.name}"`
    this.#checkFacts(where, wallet)
    if (typeof wallet.open !== 'function') {
      throw new PluginError('missing-handler', `${where} has no open.`)
    }
    if (!walletFields.includes(field)) {
      throw new PluginError(
        'bad-setting',
        `${where}: field must be ${walletFields.join(', ')}, not ${String(field)}.`,
      )
    }
    if (this.walletOf(field) !== undefined) {
      throw new PluginError(
        'duplicate-name',
        `${where}: another wallet opens ${field}.paymentToken.`,
      )
    }
    const config = configOf(wallet, configs, this.#reach)
    this.#byName.set(name, {
      connector: walletAsConnector(wallet),
      config,
      plugin: plugin.name,
      wallet,
    })
  }

  #add(plugin: Plugin, connector: Connector, configs: Configs): void {
    const where = `Connector "${connector.name}" of plugin "${plugin.name}"`
    this.#checkFacts(where, connector)
    if (!money.some((handler) => connector[handler] !== undefined)) {
      throw new PluginError(
        'missing-handler',
        `${where} has no handler: give it at least one of ${money.join(', ')}.`,
      )
    }
    const { enquire, reverseByKey } = connector.resolve ?? {}
    if (enquire === undefined && reverseByKey === undefined) {
      throw new PluginError(
        'missing-handler',
        `${where} has neither resolve.enquire nor resolve.reverseByKey: without one of them a lost answer could never be resolved.`,
      )
    }
    const impossible = impossibleFact(connector.supports)
    if (impossible !== undefined) throw new PluginError('bad-facts', `${where}: ${impossible}.`)
    if (connector.settlement !== undefined) checkSettlement(where, connector.settlement)
    const config = configOf(connector, configs, this.#reach)
    this.#byName.set(connector.name, { connector, config, plugin: plugin.name })
  }

  get(name: string): Loaded | undefined {
    return this.#byName.get(name)
  }

  names(): string[] {
    return [...this.#byName.keys()]
  }

  /** The first connector for `mode`, in the order of the plugins. */
  forMode(mode: Mode): Loaded | undefined {
    for (const loaded of this.#byName.values()) {
      if (!isAcquirer(loaded)) continue
      if (loaded.connector.supports.modes?.includes(mode) === true) return loaded
    }
    return undefined
  }

  wallets(): LoadedWallet[] {
    return [...this.#byName.values()].filter(isWallet)
  }

  /** The wallet that opens tokens of this field. */
  walletOf(field: WalletField): LoadedWallet | undefined {
    return this.wallets().find(({ wallet }) => wallet.field === field)
  }

  /** The authenticators for `mode` that need no account, in the order of the plugins. */
  authenticatorsForMode(mode: Mode): LoadedAuthenticator[] {
    return [...this.#byName.values()].filter(
      (loaded): loaded is LoadedAuthenticator =>
        isAuthenticator(loaded) && loaded.authenticator.supports.modes?.includes(mode) === true,
    )
  }
}

/** Names of settings that no part of a plugin has, each in a sentence. */
function strangeNames(plugins: readonly Plugin[], configs: Configs): string[] {
  const known = plugins.flatMap(({ connectors = [], authenticators = [], wallets = [] }) =>
    [...connectors, ...authenticators, ...wallets].map(({ name }) => name),
  )
  const strange = Object.keys(configs).filter((name) => !known.includes(name))
  return strange.map((name) => {
    const meant = suggest(name, vocabularyOf(known))
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    return `connectors.${name.slice(0, 40)} belongs to no connector, authenticator or wallet${hint} (there are: ${known.join(', ') || 'none'})`
  })
}

const walletFields: readonly WalletField[] = ['applePay', 'googlePay', 'samsungPay']

function configOf(
  { name, config }: Pick<Connector, 'name' | 'config'>,
  configs: Configs,
  reach: ConnectorReach | undefined,
): Readonly<Record<string, unknown>> {
  if (config === undefined) return {}
  const where = `connectors.${name}`
  const read = checkSettings(config, configs[name] ?? {}, where)
  if (reach !== undefined) refuseUnreachable(config, read, where, reach)
  return read
}

/** @throws PluginError when two plugins bring the same. */
function byName<Part>(
  parts: readonly Part[],
  noun: string,
  nameOf: (part: Part) => string,
): ReadonlyMap<string, Part> {
  const named = new Map<string, Part>()
  for (const part of parts) {
    const name = nameOf(part)
    if (named.has(name)) {
      throw new PluginError(
        'duplicate-name',
        `Two plugins bring the ${noun} "${name}". Load one of them.`,
      )
    }
    named.set(name, part)
  }
  return named
}

function checkPlugin(plugin: Plugin): void {
  if (typeof plugin !== 'object' || plugin === null || typeof plugin.name !== 'string') {
    throw new PluginError(
      'not-a-plugin',
      'A plugin is what definePlugin({ name, contract, … }) returns.',
    )
  }
  checkContract(`Plugin "${plugin.name}"`, plugin.contract)
}

function checkContract(where: string, version: unknown): void {
  if (version === contractVersion) return
  throw new PluginError(
    'contract-version',
    `${where} was made for version ${String(version)} of the plugin contract; this engine speaks version ${contractVersion}. Install the release of the plugin that does.`,
  )
}
