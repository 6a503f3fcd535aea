import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  compileChecks,
  createGateway,
  type Gateway,
  type GatewayOptions,
  type KeyProvider,
  migrationFiles,
  type Pods,
  whenReachable,
} from '@tollgate/core'
import type { Plugin } from '@tollgate/plugin-kit'
import { release } from '@tollgate/widget'
import { cardTestingFrom } from '../config/card-testing-settings.ts'
import { loadPlugins } from '../config/plugins.ts'
import type { HostSettings } from '../config/read-settings.ts'
import { securityLog } from '../logging.ts'
import {
  DatabaseError,
  dataDirectoryOf,
  type OpenDatabase,
  openDatabase,
  type Place,
  reach,
} from './database.ts'
import { findKeys } from './keys.ts'
import { portsIn } from './ports.ts'
import { type DatabaseFacts, databaseFacts } from './store.ts'

export type Installation = {
  /** Of the first pod, where there are several. */
  readonly gateway: Gateway
  /** What the host serves. */
  readonly served: Gateway | Pods
  readonly database: OpenDatabase
  readonly plugins: readonly Plugin[]
  /** Shoppers of a test installation come back here, and merchants' URLs must not name its port. */
  listensAt(url: string): void
  /** Merchants' URLs must not name this port. */
  keepsFromMerchants(url: string): void
  /** Closes the gateway, then leaves the database. */
  close(): Promise<void>
}

/**
 * Who opens an installation. Hosts and demos migrate its database; they and founders, which create what a new
 * installation begins with, also bind it to its environment. Other commands do neither.
 */
export type InstallationUser = 'host' | 'demo' | 'founder' | 'command'

/**
 * Opens the database, keys, plugins and gateway of an installation from its settings.
 *
 * @param opening the database, where it is being opened already.
 * @throws SettingsError · KeysError · DatabaseError · errors of createGateway
 */
export async function openInstallation(
  settings: HostSettings,
  place: Place,
  change: Partial<GatewayOptions> = {},
  user: InstallationUser = 'command',
  opening?: Promise<OpenDatabase>,
): Promise<Installation> {
  const plugins = await loadPlugins(settings, place.folder).catch(async (thrown: unknown) => {
    await opening?.then(
      (opened) => opened.stop(),
      () => {},
    )
    throw thrown
  })
  const migrates = user === 'host' || user === 'demo'
  if (!migrates) refuseAbsent(settings, place)
  // PostgreSQL starts meanwhile.
  if (opening !== undefined) await place.stages?.run('compiling checks of requests', compileChecks)
  const database = await (opening ??
    openDatabase(settings, place, user === 'host' ? 'host' : 'command'))
  const exceptPorts = portsOf(settings, database)
  const own: { url?: string } = {}
  let keys: KeyProvider | undefined
  try {
    // A command has a person who waits for it, and a host has none.
    const startWait = user === 'host' ? settings.startWait : 0
    const wait = { seconds: startWait, log: place.log }
    const facts = await reach(database, () =>
      whenReachable(() => databaseFacts(database.options), wait),
    )
    if (!migrates) await refuseUnready(facts, settings, database.title, user === 'founder')
    keys = await findKeys(
      { ...settings, ...keyFilesFrom(settings, place) },
      dataDirectoryOf(settings, place),
      facts.isSealed,
      (line) => place.log.info({}, line),
    )
    const gateway = await reach(database, () =>
      createGateway({
        database: database.options,
        startWait,
        plugins,
        connectors: settings.connectors,
        jobs: settings.jobs,
        environment: settings.environment,
        keys: keys!,
        keyCacheMs: settings.keyCacheMs,
        role: settings.role,
        migrate: settings.migrate && migrates,
        connectorTimeoutMs: settings.connectorTimeoutMs,
        stepDays: settings.stepDays,
        cardTesting: cardTestingFrom(settings),
        fourEyes: settings.fourEyes,
        allowLoopback: settings.allowLoopback,
        allowLoopbackForMerchants: (settings.allowLoopbackForMerchants ?? wantsDemo(settings)) && {
          exceptPorts,
        },
        shutdownGraceMs: settings.shutdownGraceMs,
        // A command runs beside the host, whose exporters have their ports.
        exporters: user === 'host',
        warm: migrates && opening === undefined,
        log: place.log,
        securityLog: securityLog(place.log),
        widget: release(),
        onStage: (stage, durationMs) => place.stages?.note(stage, durationMs),
        // A test installation is reached where it listens, unless it has another name.
        publicUrl: () =>
          settings.publicUrl ?? (settings.environment === 'test' ? own.url : undefined),
        ...(settings.fieldsUrl === undefined ? {} : { fieldsUrl: settings.fieldsUrl }),
        ...ofPod(settings),
        ...change,
      }),
    )
    return {
      gateway,
      served: gateway,
      database,
      plugins,
      listensAt(url) {
        own.url = url
        exceptPorts.push(...portsIn([url]))
      },
      keepsFromMerchants(url) {
        exceptPorts.push(...portsIn([url]))
      },
      async close() {
        await gateway.close()
        await keys?.close?.()
        await database.stop()
      },
    }
  } catch (thrown) {
    await keys?.close?.()
    await database.stop()
    throw thrown
  }
}

/** @throws DatabaseError where a command would make the embedded database. */
function refuseAbsent(settings: HostSettings, place: Place): void {
  const directory = dataDirectoryOf(settings, place)
  if (settings.databaseUrl !== undefined || existsSync(directory)) return
  throw new DatabaseError(
    `there is no database in ${directory} yet: run "tollgate serve" or "tollgate migrate", or set DATABASE_URL`,
  )
}

/**
 * A command with a wrong URL or environment leaves the database as it is.
 *
 * @throws DatabaseError for a database without tables, one of another version, and one that belongs to no
 * environment yet.
 */
async function refuseUnready(
  { migrations, isBound }: DatabaseFacts,
  { migrate }: HostSettings,
  title: string,
  isFounder: boolean,
): Promise<void> {
  const files = await migrationFiles()
  const pending = files.filter(({ name }) => !migrations.includes(name))
  if (pending.length > 0) {
    const lack =
      migrations.length === 0
        ? 'has no tables yet: run "tollgate migrate"'
        : 'is of an older version: run "tollgate migrate" as the user that owns the tables'
    throw new DatabaseError(`the database ${title} ${lack}`)
  }
  const newer = migrations.filter((name) => files.every((file) => file.name !== name))
  // After a way back to the previous version, its commands work on the newer tables as its processes do.
  if (newer.length > 0 && migrate) {
    throw new DatabaseError(
      `the database ${title} was migrated by a newer version of Tollgate (${newer.join(', ')}): update this one; after a way back to this version, set TOLLGATE_MIGRATE=false`,
    )
  }
  if (isBound || isFounder) return
  throw new DatabaseError(
    `the database ${title} is new and belongs to no environment yet: run "tollgate serve", "tollgate entity create" or "tollgate operator create" first`,
  )
}

const ofPod = ({ pod }: HostSettings): Partial<GatewayOptions> =>
  pod === undefined ? {} : { name: pod.name, pod: { number: pod.number } }

/**
 * Whether an installation has a demo channel, in its pod 0. Where two people are needed only if asked: it comes with
 * a token.
 */
export const wantsDemo = ({ demo, environment, fourEyes }: HostSettings, pod = 0): boolean =>
  demo ?? (environment === 'test' && !fourEyes && pod === 0)

/** The installation's own ports, which merchants' URLs must not reach. */
function portsOf(settings: HostSettings, database: OpenDatabase): number[] {
  const urls = [
    database.url,
    settings.publicUrl,
    settings.fieldsUrl,
    settings.officeUrl,
    settings.keyServerUrl,
  ]
  return [settings.port, ...portsIn(urls)]
}

const keyFiles = ['keyFile', 'keyServerTokenFile', 'keyServerCaFile'] as const

/** Files of the keys, as seen from where the user stands. */
export function keyFilesFrom(
  settings: HostSettings,
  { folder }: Place,
): { [Name in (typeof keyFiles)[number]]?: string } {
  return Object.fromEntries(
    keyFiles.flatMap((name) => {
      const path = settings[name]
      return path === undefined ? [] : [[name, resolve(folder, path)]]
    }),
  )
}
