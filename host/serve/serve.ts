import { resolve } from 'node:path'
import { errorFields, type Gateway, type Pods } from '@tollgate/core'
import { limits } from '@tollgate/schemas'
import type { HostSettings } from '../config/read-settings.ts'
import { isReachedInPlain, splitList } from '../config/read-settings.ts'
import { originsFrom, surfacesFrom } from '../config/surface-settings.ts'
import { createHost, type Host, type Listening } from '../http/host.ts'
import { dataDirectoryOf, type OpenDatabase, type Place } from './database.ts'
import { type Credentials, type CredentialsFile, openDemo, writeCredentials } from './demo.ts'
import { type DemoShop, type DemoShopOptions, openDemoShop } from './demo-shop/demo-shop.ts'
import { openInstallation, wantsDemo } from './installation.ts'
import { partsOf } from './parts.ts'
import { openPods } from './pods.ts'
import { Stages } from './stages.ts'

export type Served = {
  /** Undefined for a worker, which serves no requests. */
  readonly url: string | undefined
  /** Where a worker answers /healthz and /readyz. */
  readonly healthUrl: string | undefined
  /** Credentials of the demo channel, with their file. */
  readonly demo:
    | (Credentials & {
        readonly file: CredentialsFile
        readonly shopUrl: string | undefined
      })
    | undefined
  readonly database: string
  /** What the installation consists of, in rows. */
  readonly parts: readonly (readonly string[])[]
  /** Answers the requests that an uncaught error left without a response. */
  faulted(error: unknown): void
  /** Running requests and jobs finish, then the gateway and the database are let go. */
  close(): Promise<void>
}

/**
 * Starts a whole installation: database, gateway, demo channel, HTTP.
 *
 * @param opening the database, where it is being opened already.
 */
export async function serve(
  settings: HostSettings,
  place: Place,
  opening?: Promise<OpenDatabase>,
): Promise<Served> {
  const { stages = new Stages() } = place
  const installation =
    settings.pods.length === 0
      ? await openInstallation(settings, place, {}, 'host', opening)
      : await openPods(settings, place)
  const { gateway, served: surface, database } = installation
  let listening: Listening | undefined
  let shop: DemoShop | undefined
  try {
    tellWithoutAcquirer(gateway, place)
    const parts = await partsOf(installation)
    const healthUrl = undefined
    const served = { demo: undefined, database: database.title, parts, healthUrl, close, faulted }
    if (settings.role === 'worker') {
      listening = await healthOf(surface, settings, place).listen()
      installation.keepsFromMerchants(listening.url)
      return { ...served, url: undefined, healthUrl: listening.url }
    }
    const host = createHost(surface, {
      host: settings.host,
      port: settings.port,
      log: place.log,
      throttle: {
        writesPerSecond: settings.writesPerSecond,
        readsPerSecond: settings.readsPerSecond,
      },
      limits: {
        headersTimeoutMs: settings.headersTimeoutMs,
        requestTimeoutMs: settings.requestTimeoutMs,
        keepAliveTimeoutMs: settings.keepAliveTimeoutMs,
        connections: settings.connections,
        connectionsPerAddress: settings.connectionsPerAddress,
      },
      surfaces: surfacesFrom(settings),
      origins: originsFrom(settings),
      trustedProxy: splitList(settings.trustedProxy ?? ''),
      proxyOnly: isReachedInPlain(settings),
      shutdownGraceMs: settings.shutdownGraceMs,
      ...tlsOf(settings, place),
    })
    const directory = dataDirectoryOf(settings, place)
    listening = await stages.run('listening', () => host.listen())
    // Later: a start that finds its port in use leaves nothing behind.
    const seeded = wantsDemo(settings, gateway.pod)
      ? await stages.run('making the demo data', () => openDemo(gateway, directory))
      : undefined
    const { url } = listening
    installation.listensAt(url)
    await database.announce(url)
    if (seeded === undefined) return { ...served, url }
    const credentials = { baseUrl: url, ...seeded }
    const file = await writeCredentials(directory, credentials)
    const isForMerchants = surfacesFrom(settings).includes('merchant')
    if (isForMerchants) {
      shop = await stages.run('opening the demo shop', () =>
        openDemoShop(credentials, shopFrom(settings)),
      )
    }
    const shopUrl = shop?.url
    return { ...served, url, demo: { ...credentials, file, shopUrl } }
  } catch (thrown) {
    await close()
    throw thrown
  }

  function faulted(error: unknown): void {
    // No operation that is still worked on takes longer than its lease, and no reader waits longer.
    const leaseMs = settings.connectorTimeoutMs + limits.flushBudgetMs + limits.leaseMarginMs
    const { place: subject, ...what } = errorFields(error)
    gateway.alarm('last-resort', { subject, ...what })
    listening?.faulted(error, leaseMs)
  }

  async function close(): Promise<void> {
    await shop?.close()
    await listening?.close()
    await installation.close()
  }
}

/** A live installation is set up step by step, so its start goes on. */
export function tellWithoutAcquirer(
  { environment, accounts }: Pick<Gateway, 'environment' | 'accounts'>,
  { log }: Pick<Place, 'log'>,
): void {
  if (environment !== 'live') return
  if (accounts.connectors().some(({ modes }) => modes.includes('LIVE'))) return
  log.warn(
    {},
    'no plugin brings a connector for live accounts, so no payment can be sent: name one in TOLLGATE_PLUGINS or in tollgate.config',
  )
}

/** Serves no surface, so only the paths that every surface has: the health checks. */
const healthOf = (served: Gateway | Pods, settings: HostSettings, { log }: Place): Host =>
  createHost(served, {
    ...{ host: settings.healthHost, port: settings.healthPort, log, surfaces: [] },
    shutdownGraceMs: settings.shutdownGraceMs,
  })

/** Beside the gateway's port, so that its address is easy to remember. */
function shopFrom({ host, port, publicUrl, fieldsUrl }: HostSettings): DemoShopOptions {
  return {
    host,
    port: port === 0 ? 0 : port + 1,
    ...(publicUrl === undefined ? {} : { gatewayUrl: publicUrl }),
    ...(fieldsUrl === undefined ? {} : { fieldsUrl }),
  }
}

function tlsOf({ tlsCertificateFile, tlsKeyFile }: HostSettings, { folder }: Place) {
  if (tlsCertificateFile === undefined || tlsKeyFile === undefined) return {}
  const certificateFile = resolve(folder, tlsCertificateFile)
  return { tls: { certificateFile, keyFile: resolve(folder, tlsKeyFile) } }
}
