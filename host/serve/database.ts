/** The database of an installation. Loads no engine, so that PostgreSQL can start while the engine is loaded. */
import { resolve } from 'node:path'
import type { DatabaseOptions } from '@tollgate/core'
import { databaseUrl } from '@tollgate/core/early'
import { databaseFrom } from '../config/database-settings.ts'
import { databaseOf, serverOf } from '../config/database-url.ts'
import type { HostSettings } from '../config/read-settings.ts'
import type { HostLog } from '../http/request-log.ts'
import { systemCode } from '../thrown.ts'
import type { Stages } from './stages.ts'

/** The database of an installation: its own server, or the embedded one. */
export type OpenDatabase = {
  readonly url: string
  /** The database as the engine takes it. */
  readonly options: DatabaseOptions
  /** The name for people, without a password. */
  readonly title: string
  /** Tells a second host, which the embedded database refuses, how to reach this one. */
  announce(url: string): Promise<void>
  stop(): Promise<void>
}

/** There is no database, or it does not answer. The message says which one and why. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  /** True when the database may be back later: nothing is wrong with the settings. */
  readonly isAway: boolean

  constructor(message: string, { isAway = false } = {}) {
    super(message)
    this.isAway = isAway
  }
}

export type Place = {
  /** The user's folder: the base of relative paths and packages. */
  readonly folder: string
  readonly log: HostLog
  /** Ends this process in order: another host has the embedded database now. */
  readonly onOtherHost?: () => void
  /** Hears how long each stage of the start takes. */
  readonly stages?: Stages
}

export const dataDirectoryOf = (settings: HostSettings, { folder }: Place): string =>
  resolve(folder, settings.dataDirectory)

/** An embedded database has one host, and any number of commands. */
export type DatabaseUser = 'host' | 'command'

export async function openDatabase(
  settings: HostSettings,
  place: Place,
  user: DatabaseUser = 'command',
  onProgram = () => {},
): Promise<OpenDatabase> {
  if (settings.databaseUrl !== undefined) {
    const { databaseUrl: url } = settings
    const read = databaseUrl(url)
    const server = `${serverOf(read)}${read.port === '' ? '' : `:${read.port}`}`
    const title = `${server}${databaseOf(read)}`
    const options = databaseFrom(settings, url, place.folder)
    return { url, options, title, async announce() {}, async stop() {} }
  }
  const { startEmbeddedPostgres, EmbeddedPostgresError } = await embeddedPostgres()
  try {
    const server = await startEmbeddedPostgres({
      directory: settings.dataDirectory,
      projectDirectory: place.folder,
      isHost: user === 'host',
      ...(place.onOtherHost === undefined ? {} : { onOtherHost: place.onOtherHost }),
      log: (line) => place.log.info({}, line),
      onStage: (stage, durationMs) => place.stages?.note(stage, durationMs),
      onProgram,
    })
    return {
      url: server.url,
      options: databaseFrom(settings, server.url, place.folder),
      title: server.location,
      announce: (url) => server.announce(url),
      stop: () => server.stop(),
    }
  } catch (thrown) {
    throw thrown instanceof EmbeddedPostgresError ? new DatabaseError(thrown.message) : thrown
  }
}

/** The embedded server is an optional package: a host with a database of its own does not install it. */
async function embeddedPostgres() {
  try {
    return await import('@tollgate/embedded-postgres')
  } catch (thrown) {
    if (systemCode(thrown) !== 'ERR_MODULE_NOT_FOUND') throw thrown
    throw new DatabaseError(
      'there is no database: set DATABASE_URL to a PostgreSQL 15 or later, or install @tollgate/embedded-postgres',
    )
  }
}

/** Explanations of Postgres' and the network's error codes for an unusable database. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens there',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
  ETIMEDOUT: 'the server does not respond in time',
  ENOENT: 'no server listens there',
  '28P01': 'the user or the password is wrong',
  '28000': 'the user is not allowed to connect',
  '3D000': 'the server has no database with this name',
  '42501':
    'the user lacks permission. Migrations need the user that owns the schema, and other users TOLLGATE_MIGRATE=false; after a restore, "tollgate migrate --roles" as an administrator grants the rights again',
  '53300': 'the server has no free connection',
}

/** Of these, faults of the settings: waiting would not help. */
const faults: ReadonlySet<string> = new Set(['28P01', '28000', '3D000', '42501'])

export async function reach<T>(
  { title }: Pick<OpenDatabase, 'title'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const inner = thrown instanceof AggregateError ? thrown.errors[0] : thrown
    const code = String((inner as { code?: unknown } | null)?.code ?? '')
    const reason = reasons[code]
    if (reason === undefined) throw thrown
    throw new DatabaseError(`the database ${title} cannot be used: ${reason} (${code})`, {
      isAway: !faults.has(code),
    })
  }
}
