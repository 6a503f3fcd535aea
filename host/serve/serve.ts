import type { HostSettings } from '../config/read-settings.ts'
import { splitList } from '../config/read-settings.ts'
import { createHost, type Listening } from '../http/host.ts'
import { type Credentials, openDemo, writeCredentials } from './demo.ts'
import { dataDirectoryOf, openInstallation, type Place, wantsDemo } from './installation.ts'

export type Served = {
  /** Undefined for a worker, which listens nowhere. */
  readonly url: string | undefined
  /** Of the demo channel, with the path they were written to. */
  readonly demo: (Credentials & { readonly path: string }) | undefined
  readonly database: string
  /** Running requests and jobs finish, then the gateway and the database are let go. */
  close(): Promise<void>
}

/** Starts a whole installation: database, gateway, demo channel, HTTP. */
export async function serve(settings: HostSettings, place: Place): Promise<Served> {
  const installation = await openInstallation(settings, place)
  const { gateway, database } = installation
  let listening: Listening | undefined
  try {
    if (settings.role === 'worker') {
      return { url: undefined, demo: undefined, database: database.title, close }
    }
    const host = createHost(gateway, {
      host: settings.host,
      port: settings.port,
      log: place.log,
      throttle: {
        writesPerSecond: settings.writesPerSecond,
        readsPerSecond: settings.readsPerSecond,
        ...(settings.failingAtOnce !== undefined && { failingAtOnce: settings.failingAtOnce }),
      },
      limits: {
        headersTimeoutMs: settings.headersTimeoutMs,
        requestTimeoutMs: settings.requestTimeoutMs,
        keepAliveTimeoutMs: settings.keepAliveTimeoutMs,
        connections: settings.connections,
      },
      trustedProxy: splitList(settings.trustedProxy ?? ''),
      shutdownGraceMs: settings.shutdownGraceMs,
      ...tlsOf(settings),
    })
    const directory = dataDirectoryOf(settings, place)
    const seeded = wantsDemo(settings) ? await openDemo(gateway, directory) : undefined
    listening = await host.listen()
    const { url } = listening
    installation.closePort(Number(new URL(url).port))
    if (seeded === undefined) return { url, demo: undefined, database: database.title, close }
    const credentials = { baseUrl: url, ...seeded }
    const path = await writeCredentials(directory, credentials)
    return { url, demo: { ...credentials, path }, database: database.title, close }
  } catch (thrown) {
    await close()
    throw thrown
  }

  async function close(): Promise<void> {
    await listening?.close()
    await installation.close()
  }
}

function tlsOf({ tlsCertificateFile, tlsKeyFile }: HostSettings) {
  if (tlsCertificateFile === undefined || tlsKeyFile === undefined) return {}
  return { tls: { certificateFile: tlsCertificateFile, keyFile: tlsKeyFile } }
}
