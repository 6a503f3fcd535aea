/** The settings of the connections to the database. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { DatabaseOptions, DatabaseSsl } from '@tollgate/core'
import type { HostSettings } from './read-settings.ts'
import type { Setting } from './setting-table.ts'

const text = { kind: 'text' } as const
const connections = { kind: 'integer', min: 1, max: 200 } as const

/** The rows of `settingTable` that are about connections. */
export const databaseSettings = [
  {
    name: 'prepare',
    env: 'TOLLGATE_PREPARE',
    format: { kind: 'flag' },
    default: 'true',
    meaning:
      'Use named prepared statements and settings of database sessions. Set to false behind a connection pooler in transaction mode.',
  },
  {
    name: 'databaseCaFile',
    env: 'TOLLGATE_DATABASE_CA_FILE',
    format: text,
    meaning:
      'PEM file with the certificate authority of the database. With one of the four settings of the encryption, every connection is encrypted, and the URL has no sslmode.',
  },
  {
    name: 'databaseCertificateFile',
    env: 'TOLLGATE_DATABASE_CERTIFICATE_FILE',
    format: text,
    meaning: 'PEM file with a client certificate for the database.',
  },
  {
    name: 'databaseKeyFile',
    env: 'TOLLGATE_DATABASE_KEY_FILE',
    format: text,
    meaning: 'PEM file with the private key of the client certificate.',
  },
  {
    name: 'databaseVerify',
    env: 'TOLLGATE_DATABASE_VERIFY',
    format: { kind: 'choice', of: ['full', 'ca', 'none'] },
    meaning:
      'What an encrypted connection checks: full the certificate of the database and its host name (the default with the other settings of the encryption), ca the certificate alone, none nothing.',
  },
  {
    name: 'singleConnections',
    env: 'TOLLGATE_SINGLE_CONNECTIONS',
    format: connections,
    default: '6',
    meaning:
      'Database connections per process for captures, refunds and other statements that lock rows.',
  },
  {
    name: 'readConnections',
    env: 'TOLLGATE_READ_CONNECTIONS',
    format: connections,
    default: '4',
    meaning: 'Database connections per process for reads.',
  },
  {
    name: 'groupConnections',
    env: 'TOLLGATE_GROUP_CONNECTIONS',
    format: { kind: 'integer', min: 1, max: 16 },
    default: '2',
    meaning:
      'Database connections per process for first payments and outcomes. Each carries many payments in one commit.',
  },
  {
    name: 'searchConnections',
    env: 'TOLLGATE_SEARCH_CONNECTIONS',
    format: connections,
    default: '3',
    meaning: 'Database connections per process for searches.',
  },
  {
    name: 'bulkConnections',
    env: 'TOLLGATE_BULK_CONNECTIONS',
    format: connections,
    default: '2',
    meaning: 'Database connections per process for settlement files.',
  },
  {
    name: 'jobsConnections',
    env: 'TOLLGATE_JOBS_CONNECTIONS',
    format: connections,
    default: '3',
    meaning: 'Database connections per process for the job queue.',
  },
  {
    name: 'synchronousCommit',
    env: 'TOLLGATE_SYNCHRONOUS_COMMIT',
    format: { kind: 'choice', of: ['on', 'local', 'off'] },
    default: 'on',
    meaning:
      'Live only: the weakest synchronous_commit of the database that a start accepts. With local, a failover loses the last payments; with off, a crash of the database does, too.',
  },
  {
    name: 'startWait',
    env: 'TOLLGATE_START_WAIT',
    format: { kind: 'integer', min: 0, max: 3600 },
    default: '60',
    meaning:
      'How long a start waits for a database that is away, in seconds. A wrong password or a database that does not exist ends it at once.',
  },
] as const satisfies readonly Setting[]

const files = {
  ca: ['databaseCaFile', 'TOLLGATE_DATABASE_CA_FILE'],
  cert: ['databaseCertificateFile', 'TOLLGATE_DATABASE_CERTIFICATE_FILE'],
  key: ['databaseKeyFile', 'TOLLGATE_DATABASE_KEY_FILE'],
} as const

type SslSettings = Pick<HostSettings, (typeof files)[keyof typeof files][0] | 'databaseVerify'>

/** Whether settings, and not the URL, say how connections are encrypted. */
export const encryptsBySettings = (settings: SslSettings): boolean =>
  settings.databaseVerify !== undefined ||
  Object.values(files).some(([name]) => settings[name] !== undefined)

/** @throws Error naming a file that cannot be read. */
function sslFrom(settings: SslSettings, folder: string): DatabaseSsl {
  const { databaseVerify: verify } = settings
  const texts = Object.entries(files).flatMap(([member, [name, variable]]) => {
    const path = settings[name]
    return path === undefined ? [] : [[member, textOf(resolve(folder, path), variable)]]
  })
  return { ...Object.fromEntries(texts), ...(verify !== undefined && { verify }) }
}

function textOf(path: string, variable: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    const { code } = thrown as { code?: string }
    throw new Error(`${variable} is ${path}, which cannot be read (${code})`)
  }
}

/**
 * The database of an installation, as the engine takes it.
 *
 * @param folder The base of relative paths.
 */
export function databaseFrom(settings: HostSettings, url: string, folder: string): DatabaseOptions {
  return {
    url,
    schema: settings.databaseSchema,
    prepare: settings.prepare,
    pool: {
      group: settings.groupConnections,
      single: settings.singleConnections,
      read: settings.readConnections,
      search: settings.searchConnections,
      bulk: settings.bulkConnections,
      jobs: settings.jobsConnections,
    },
    ...(encryptsBySettings(settings) && { ssl: sslFrom(settings, folder) }),
    synchronousCommit: settings.synchronousCommit,
  }
}
