import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { packagedBinaries, usableBinaries } from './binaries.ts'
import { administrator, ensureData } from './data-folder.ts'
import { EmbeddedPostgresError, reasonOf } from './error.ts'
import { findPlace, openDirectory } from './location.ts'
import { noteAddress, OtherHostError, removeNote } from './only-host.ts'
import { ensureServer, findServer, type ServerParts, shutDown } from './server.ts'
import { keepLogBounded } from './server-log.ts'
import type { ServerSettings } from './server-settings.ts'
import { beginUse, type Use } from './use.ts'

export { EmbeddedPostgresError } from './error.ts'

/** The database inside the cluster that the gateway uses. */
const databaseName = 'tollgate'
const retryMs = 50
const joinedWithinMs = 10 * 60_000

export interface EmbeddedPostgresOptions {
  /** The `.tollgate` folder, relative to the project or absolute. Made if it does not exist. */
  readonly directory: string
  readonly projectDirectory: string
  /** Takes one line for the reader of the console. */
  readonly log: (line: string) => void
  /** Whether this process is a host, of which a directory has one at a time. Default: false. */
  readonly isHost?: boolean
  /**
   * Called when PostgreSQL had ended the sessions of this host, and another host was sooner to come back.
   * This process must end; until then it stays a user, so that the server outlives it.
   */
  readonly onOtherHost?: () => void
  /** Hears how long each stage took, in milliseconds. */
  readonly onStage?: (
    stage: 'making the database' | 'starting PostgreSQL',
    durationMs: number,
  ) => void
  /** Called when a program of PostgreSQL begins to work, for which this process only waits. */
  readonly onProgram?: () => void
  /** Settings of the server by PostgreSQL's names. A server that already runs keeps its own. */
  readonly settings?: ServerSettings
  /** A folder with PostgreSQL's `bin`, `lib` and `share`; else the one that npm installed. */
  readonly binaries?: string
  /** The folder for data that cannot stay in the directory; else /var/lib/tollgate. */
  readonly stateFolder?: string
}

export interface EmbeddedPostgres {
  /** With the password. Not for logs. */
  readonly url: string
  /** The folder that holds the data. */
  readonly location: string
  /** Tells a second host, which is refused, at which URL this one is reached. */
  announce(url: string): Promise<void>
  /** Leaves the server. The last user to leave shuts it down and waits for its end. Safe to call twice. */
  stop(): Promise<void>
}

/**
 * Starts the PostgreSQL server of a project, or joins a running one: beside another process of the
 * project, or after a killed one. A second host is refused.
 *
 * @throws EmbeddedPostgresError with the correction.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { log, settings = {}, onOtherHost, onStage, onProgram = () => {} } = options
  let isHost = options.isHost ?? false
  const directory = await openDirectory(options.directory, options.projectDirectory)
  const place = await findPlace({ ...options, directory })
  const binaries = usableBinaries(options.binaries ?? packagedBinaries(), place, log)
  const madeMs = performance.now()
  const password = await ensureData(binaries, place, settings.fsync !== 'off', onProgram)
  const startedMs = performance.now()
  onStage?.('making the database', startedMs - madeMs)
  const data = join(place.root, 'data')
  const urlOf = (port: number, database: string) =>
    `postgres://${administrator}:${password}@127.0.0.1:${port}/${database}`
  let use: Use | null = null
  let isStopping = false
  let rejoined: Promise<void> = Promise.resolve()

  const begin = async (port: number) => {
    use = await beginUse(urlOf(port, 'postgres'), databaseName, isHost ? directory : null, () => {
      use = null
      rejoined = rejoin(port)
    })
    return use !== null
  }

  /** A server that lost one of its processes ends all sessions, recovers, and takes them again. */
  async function rejoin(port: number): Promise<void> {
    while (!isStopping) {
      if (findServer(data)?.port !== port) {
        return log(`PostgreSQL ended; see ${directory}/postgres.log, and start the gateway again`)
      }
      try {
        if (await begin(port)) return
      } catch (thrown) {
        if (thrown instanceof OtherHostError) {
          isHost = false
          log(thrown.message)
          onOtherHost?.()
        }
      }
      await pause(retryMs, undefined, { ref: false })
    }
  }

  const { port, isNew } = await joinServer({ place, binaries, settings, log, onProgram }, begin)
  onStage?.('starting PostgreSQL', performance.now() - startedMs)
  const endBounding = keepLogBounded(join(directory, 'postgres.log'))
  log(`PostgreSQL ${isNew ? 'runs' : 'was running'} on 127.0.0.1:${port}, data in ${place.root}`)
  let stopping: Promise<void> | null = null
  async function leave(): Promise<void> {
    isStopping = true
    endBounding()
    await rejoined
    if (isHost) await removeNote(directory)
    if (await use?.end()) await shutDown(binaries, data)
  }
  return {
    url: urlOf(port, databaseName),
    location: place.root,
    announce: (url) => noteAddress(directory, url),
    stop() {
      stopping ??= leave()
      return stopping
    },
  }
}

/**
 * Finds or starts the server until it accepts this process as a user, since it may be ending just
 * now.
 */
async function joinServer(parts: ServerParts, begin: (port: number) => Promise<boolean>) {
  const { place, binaries } = parts
  const since = performance.now()
  while (performance.now() - since < joinedWithinMs) {
    const server = await ensureServer(parts)
    try {
      if (await begin(server.port)) return server
    } catch (thrown) {
      if (thrown instanceof OtherHostError) throw thrown
      // Without a user, no process would ever stop the new server.
      if (server.isNew) await shutDown(binaries, join(place.root, 'data'))
      throw new EmbeddedPostgresError(
        `PostgreSQL runs but does not let the gateway in (${reasonOf(thrown)}); ${join(place.directory, 'password')} must hold the password of its user`,
      )
    }
    await pause(retryMs)
  }
  throw new EmbeddedPostgresError(
    `the PostgreSQL server of ${place.root} takes no connections; end its process and start again`,
  )
}
