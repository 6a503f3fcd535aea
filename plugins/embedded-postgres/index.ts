import { join } from 'node:path'
import { packagedBinaries, usableBinaries } from './binaries.ts'
import { administrator, ensureData } from './data-folder.ts'
import { keepRunning } from './keeper.ts'
import { findPlace, openDirectory, type Place } from './location.ts'
import { ensureRunning } from './running.ts'
import { findServer, shutDown } from './server.ts'
import { keepLogBounded } from './server-log.ts'
import { commandLine, type ServerSettings } from './server-settings.ts'
import { withStartLock } from './start-lock.ts'

export { EmbeddedPostgresError } from './error.ts'

/** The database inside the cluster that the gateway uses. */
const databaseName = 'tollgate'

export interface EmbeddedPostgresOptions {
  /** The `.tollgate` folder, relative to the project or absolute. Made if it does not exist. */
  readonly directory: string
  readonly projectDirectory: string
  /** Takes one line for the reader of the console. */
  readonly log: (line: string) => void
  /** Settings of the server by PostgreSQL's names. A server that already runs keeps its own. */
  readonly settings?: ServerSettings
  /** A folder with PostgreSQL's `bin`, `lib` and `share`; else the one that npm installed. */
  readonly binaries?: string
  /** Where data goes that cannot stay in the directory, tried in turn; else /var/lib/tollgate. */
  readonly stateFolders?: readonly string[]
}

export interface EmbeddedPostgres {
  /** With the password. Not for logs. */
  readonly url: string
  /** The folder that holds the data. */
  readonly location: string
  /** Whether the cluster was made now, was started, or was running already. */
  readonly origin: 'created' | 'started' | 'joined'
  /**
   * Leaves the server. The last host to leave shuts it down and waits for its end; while another
   * host or session uses it, it runs on. Safe to call twice.
   */
  stop(): Promise<void>
}

/**
 * Starts the PostgreSQL server of a project, or joins it when it runs: a second host, or after a
 * killed one. While this process uses it, a server that dies is started again on the same port.
 *
 * @throws EmbeddedPostgresError saying what to change.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { log, settings = {} } = options
  commandLine(0, settings) // Refuses bad settings before anything is made.
  const directory = await openDirectory(options.directory, options.projectDirectory)
  return withStartLock(directory, log, async () => {
    const place = await findPlace({
      directory,
      projectDirectory: options.projectDirectory,
      log,
      ...(options.stateFolders === undefined ? {} : { stateFolders: options.stateFolders }),
    })
    const binaries = usableBinaries(options.binaries ?? packagedBinaries(), place, log)
    return open({ place, binaries, settings, log })
  })
}

async function open(parts: {
  place: Place
  binaries: string
  settings: ServerSettings
  log: (line: string) => void
}): Promise<EmbeddedPostgres> {
  const { place, binaries, settings, log } = parts
  const data = await ensureData(binaries, place, settings.fsync !== 'off')
  const server = await ensureRunning(parts, null)
  const urlOf = (database: string) =>
    `postgres://${administrator}:${data.password}@127.0.0.1:${server.port}/${database}`
  const keeper = await keepRunning({
    url: urlOf('postgres'),
    database: databaseName,
    binaries,
    place,
    log,
    startAgain: () => ensureRunning(parts, server.port),
  }).catch(async (thrown: unknown) => {
    // Nobody would ever stop a server that was started for a host that could not use it.
    const ours = server.joined ? null : findServer(join(place.root, 'data'))
    if (ours !== null) await shutDown(binaries, join(place.root, 'data'), ours.pid)
    throw thrown
  })
  const endBounding = keepLogBounded(join(place.directory, 'postgres.log'))
  const origin = data.created ? 'created' : server.joined ? 'joined' : 'started'
  log(
    `PostgreSQL ${origin === 'joined' ? 'was running' : 'runs'} on 127.0.0.1:${server.port}, data in ${place.root}`,
  )
  let stopping: Promise<void> | null = null
  return {
    url: urlOf(databaseName),
    location: place.root,
    origin,
    stop() {
      endBounding()
      stopping ??= keeper.stop()
      return stopping
    },
  }
}
