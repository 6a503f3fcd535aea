import { type Connector, contractVersion, type Plugin, PluginError } from '@tollgate/plugin-kit'
import { checkSettings } from './settings.ts'

/**
 * The party that carries an operation out: the simulator, an acquirer's test system, or its live
 * one.
 */
export type Mode = 'INTERNAL' | 'EXTERNAL' | 'LIVE'

export type Loaded = {
  readonly connector: Connector
  readonly config: Readonly<Record<string, unknown>>
}

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

/**
 * The connectors of all plugins, checked once at start.
 *
 * @throws PluginError naming the plugin, the error and the correction.
 */
export class Registry {
  readonly #byName = new Map<string, Loaded>()
  readonly plugins: readonly Plugin[]

  constructor(
    plugins: readonly Plugin[],
    configs: Readonly<Record<string, Record<string, unknown>>>,
  ) {
    this.plugins = plugins
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
      for (const connector of plugin.connectors ?? []) this.#add(plugin, connector, configs)
    }
  }

  #add(
    plugin: Plugin,
    connector: Connector,
    configs: Readonly<Record<string, Record<string, unknown>>>,
  ): void {
    const where = `Connector "${connector.name}" of plugin "${plugin.name}"`
    if (!/^[a-z][a-z0-9-]{0,39}$/.test(connector.name)) {
      throw new PluginError(
        'bad-name',
        `${where}: a name is lower-case letters, digits and hyphens.`,
      )
    }
    if (this.#byName.has(connector.name)) {
      throw new PluginError(
        'duplicate-name',
        `${where}: another plugin brings a connector of this name.`,
      )
    }
    checkContract(where, connector.contract)
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
    const config =
      connector.config === undefined
        ? {}
        : checkSettings(
            connector.config,
            configs[connector.name] ?? {},
            `connectors.${connector.name}`,
          )
    this.#byName.set(connector.name, { connector, config })
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
      if (loaded.connector.supports.modes?.includes(mode) === true) return loaded
    }
    return undefined
  }
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
