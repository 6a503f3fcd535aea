import { cardTestingSettings } from './card-testing-settings.ts'
import { keySettings } from './key-settings.ts'
import { surfaceSettings } from './surface-settings.ts'

/** What a setting's value may look like. Environment variables are texts; a file may give the real type. */
export type SettingFormat =
  | { readonly kind: 'text' }
  | { readonly kind: 'flag' }
  | { readonly kind: 'choice'; readonly of: readonly string[] }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'url'; readonly schemes: readonly string[] }

export type Setting = {
  /** Name in tollgate.config.ts. */
  readonly name: string
  /** Environment variable; wins over the file. */
  readonly env: string
  readonly format: SettingFormat
  /** As text; absent means not set. */
  readonly default?: string
  readonly meaning: string
  /** Never printed. */
  readonly secret?: true
}

const text = { kind: 'text' } as const
const flag = { kind: 'flag' } as const
const oneOf = <const Of extends readonly string[]>(...of: Of) => ({ kind: 'choice', of }) as const
const integer = (min: number, max: number) => ({ kind: 'integer', min, max }) as const
const url = (...schemes: string[]) => ({ kind: 'url', schemes }) as const
const hourMs = 3_600_000

/** Every setting of the host that is a plain value. Help, documentation and checks are made from it. */
export const settingTable = [
  {
    name: 'databaseUrl',
    env: 'DATABASE_URL',
    format: url('postgres', 'postgresql'),
    meaning: 'PostgreSQL 15 or later. Not set: an embedded one, with its data in dataDirectory.',
    secret: true,
  },
  {
    name: 'databaseSchema',
    env: 'TOLLGATE_DATABASE_SCHEMA',
    format: text,
    default: 'tollgate',
    meaning: "Schema of the engine's tables; the job queue gets the same name with _boss.",
  },
  {
    name: 'databasePlain',
    env: 'TOLLGATE_DATABASE_PLAIN',
    format: oneOf('refused', 'accepted'),
    default: 'refused',
    meaning:
      'On live: whether a database on another machine may be reached without encryption, that is by a URL without sslmode or with disable.',
  },
  {
    name: 'preparedStatements',
    env: 'TOLLGATE_PREPARED_STATEMENTS',
    format: flag,
    default: 'true',
    meaning: 'Named prepared statements. Switch off behind a pooler that mixes sessions.',
  },
  {
    name: 'singleConnections',
    env: 'TOLLGATE_SINGLE_CONNECTIONS',
    format: integer(1, 200),
    default: '6',
    meaning: 'Database connections for captures, refunds and other contended work.',
  },
  {
    name: 'readConnections',
    env: 'TOLLGATE_READ_CONNECTIONS',
    format: integer(1, 200),
    default: '4',
    meaning: 'Database connections for reads.',
  },
  {
    name: 'migrate',
    env: 'TOLLGATE_MIGRATE',
    format: flag,
    default: 'true',
    meaning: 'Bring the database up to date at start.',
  },
  {
    name: 'dataDirectory',
    env: 'TOLLGATE_DATA_DIR',
    format: text,
    default: '.tollgate',
    meaning: 'Folder of the embedded database, the key file and test-credentials.json.',
  },
  {
    name: 'environment',
    env: 'TOLLGATE_ENVIRONMENT',
    format: oneOf('test', 'live'),
    default: 'test',
    meaning: 'test never moves real money. A database belongs to one environment for good.',
  },
  {
    name: 'role',
    env: 'TOLLGATE_ROLE',
    format: oneOf('all', 'api', 'worker'),
    default: 'all',
    meaning: 'api takes requests, worker runs jobs and listens nowhere, all does both.',
  },
  {
    name: 'keys',
    env: 'TOLLGATE_KEYS',
    format: text,
    meaning:
      'Key-encryption keys of the vault, <id>:<64 hex digits>, separated by commas; the first is current.',
    secret: true,
  },
  {
    name: 'keyFile',
    env: 'TOLLGATE_KEY_FILE',
    format: text,
    meaning: 'File with the keys, one a line. Not set: the file "keys" in dataDirectory.',
  },
  ...keySettings,
  {
    name: 'demo',
    env: 'TOLLGATE_DEMO',
    format: flag,
    meaning:
      'Make a demo channel with a token and write test-credentials.json. Default true in test; refused on live.',
  },
  {
    name: 'host',
    env: 'HOST',
    format: text,
    default: '127.0.0.1',
    meaning: 'Address to listen on.',
  },
  {
    name: 'port',
    env: 'PORT',
    format: integer(0, 65_535),
    default: '8080',
    meaning: 'Port to listen on; 0 takes a free one.',
  },
  {
    name: 'publicUrl',
    env: 'TOLLGATE_PUBLIC_URL',
    format: url('http', 'https'),
    meaning: 'Where acquirers reach this installation, for their events, and shops.',
  },
  ...surfaceSettings,
  {
    name: 'tlsCertificateFile',
    env: 'TOLLGATE_TLS_CERTIFICATE_FILE',
    format: text,
    meaning: 'PEM file with the certificate and its chain. With it the host speaks HTTPS.',
  },
  {
    name: 'tlsKeyFile',
    env: 'TOLLGATE_TLS_KEY_FILE',
    format: text,
    meaning: 'PEM file with the private key of the certificate.',
  },
  {
    name: 'trustedProxy',
    env: 'TOLLGATE_TRUSTED_PROXY',
    format: text,
    meaning:
      'Addresses or subnets, separated by commas, of proxies that end TLS in front of the host, or loopback. On live, with plain HTTP beyond this machine, requests from anywhere else are refused.',
  },
  {
    name: 'logLevel',
    env: 'TOLLGATE_LOG_LEVEL',
    format: oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
    default: 'info',
    meaning: 'Least important kind of log line that is written, to standard error.',
  },
  {
    name: 'logFormat',
    env: 'TOLLGATE_LOG_FORMAT',
    format: oneOf('auto', 'json', 'pretty'),
    default: 'auto',
    meaning: 'json for machines, pretty for people; auto is pretty on a terminal.',
  },
  {
    name: 'writesPerSecond',
    env: 'TOLLGATE_WRITES_PER_SECOND',
    format: integer(1, 1_000_000),
    default: '10000',
    meaning: 'Requests that change something which one token may send to this process in a second.',
  },
  {
    name: 'readsPerSecond',
    env: 'TOLLGATE_READS_PER_SECOND',
    format: integer(1, 1_000_000),
    default: '20000',
    meaning: 'Requests that read which one token may send to this process in a second.',
  },
  ...cardTestingSettings,
  {
    name: 'connections',
    env: 'TOLLGATE_CONNECTIONS',
    format: integer(1, 1_000_000),
    default: '10000',
    meaning: 'Connections of clients at once; more are closed without an answer.',
  },
  {
    name: 'headersTimeoutMs',
    env: 'TOLLGATE_HEADERS_TIMEOUT_MS',
    format: integer(100, hourMs),
    default: '10000',
    meaning: 'Time a client has to send the headers of a request.',
  },
  {
    name: 'requestTimeoutMs',
    env: 'TOLLGATE_REQUEST_TIMEOUT_MS',
    format: integer(100, hourMs),
    default: '30000',
    meaning: 'Time a client has to send a whole request.',
  },
  {
    name: 'keepAliveTimeoutMs',
    env: 'TOLLGATE_KEEP_ALIVE_TIMEOUT_MS',
    format: integer(100, hourMs),
    default: '72000',
    meaning: 'Time an idle connection stays open; longer than that of a balancer in front.',
  },
  {
    name: 'connectorTimeoutMs',
    env: 'TOLLGATE_CONNECTOR_TIMEOUT_MS',
    format: integer(100, 300_000),
    default: '30000',
    meaning: 'Longest that an operation at an acquirer may take.',
  },
  {
    name: 'stepDays',
    env: 'TOLLGATE_STEP_DAYS',
    format: integer(0, 3650),
    default: '90',
    meaning:
      'Days that what was said between us and acquirers is kept, to the end of a month; 0 keeps nothing of it.',
  },
  {
    name: 'shutdownGraceMs',
    env: 'TOLLGATE_SHUTDOWN_GRACE_MS',
    format: integer(0, hourMs),
    default: '40000',
    meaning: 'Time that running payments get to finish when the process is told to end.',
  },
  {
    name: 'allowLoopback',
    env: 'TOLLGATE_ALLOW_LOOPBACK',
    format: flag,
    default: 'true',
    meaning: "Lets connectors reach this machine's own addresses, in the test environment only.",
  },
  {
    name: 'allowLoopbackForMerchants',
    env: 'TOLLGATE_ALLOW_LOOPBACK_FOR_MERCHANTS',
    format: flag,
    meaning:
      "Lets webhooks and notificationUrl reach this machine's own addresses, but not the ports of the host, of its database and of its key server; what is answered is not shown then. In the test environment only. Default true with the demo channel, else false.",
  },
] as const satisfies readonly Setting[]

type Rows = (typeof settingTable)[number]

type ValueOf<Format extends SettingFormat> = Format extends { kind: 'flag' }
  ? boolean
  : Format extends { kind: 'integer' }
    ? number
    : Format extends { kind: 'choice'; of: readonly (infer Value)[] }
      ? Value
      : string

/** The values of all settings after they were checked. Those with a default are always there. */
export type SettingValues = {
  readonly [Row in Rows as Row extends { default: string } ? Row['name'] : never]: ValueOf<
    Row['format']
  >
} & {
  readonly [Row in Rows as Row extends { default: string } ? never : Row['name']]?: ValueOf<
    Row['format']
  >
}

/** Settings that are no plain values. In the environment: package names, and JSON. */
export const structuredSettings = [
  {
    name: 'plugins',
    env: 'TOLLGATE_PLUGINS',
    meaning:
      'Plugins: package names separated by commas; in the file also plugin objects. The simulator is there by default in test.',
  },
  {
    name: 'connectors',
    env: 'TOLLGATE_CONNECTORS',
    meaning: 'Settings of connectors by connector name, as JSON: {"acquirer":{"url":"https://…"}}.',
    secret: true,
  },
  {
    name: 'jobs',
    env: undefined,
    meaning: 'Jobs of your own, in the file only.',
  },
] as const
