import { cardTestingSettings } from './card-testing-settings.ts'
import { databaseSettings } from './database-settings.ts'
import { keySettings } from './key-settings.ts'
import { surfaceSettings } from './surface-settings.ts'

/** The format of a setting. Environment variables are texts; a file may contain the real type. */
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
    meaning:
      'Connection URL of PostgreSQL 15 or later. Without it, the host starts an embedded PostgreSQL that stores its data in dataDirectory.',
    secret: true,
  },
  {
    name: 'databaseSchema',
    env: 'TOLLGATE_DATABASE_SCHEMA',
    format: text,
    default: 'tollgate',
    meaning:
      'Database schema of the engine. The job queue uses the schema of this name with _boss appended.',
  },
  {
    name: 'databasePlain',
    env: 'TOLLGATE_DATABASE_PLAIN',
    format: oneOf('refused', 'accepted'),
    default: 'refused',
    meaning:
      'Live only: whether the host may connect to a database on another machine without encryption (a URL without sslmode, or with sslmode=disable).',
  },
  ...databaseSettings,
  {
    name: 'migrate',
    env: 'TOLLGATE_MIGRATE',
    format: flag,
    default: 'true',
    meaning: 'Run pending migrations at start.',
  },
  {
    name: 'dataDirectory',
    env: 'TOLLGATE_DATA_DIR',
    format: text,
    default: '.tollgate',
    meaning: 'Folder for the embedded database, the key file and test-credentials.json.',
  },
  {
    name: 'environment',
    env: 'TOLLGATE_ENVIRONMENT',
    format: oneOf('test', 'live'),
    default: 'test',
    meaning: 'test never moves real money. A database belongs to one environment permanently.',
  },
  {
    name: 'role',
    env: 'TOLLGATE_ROLE',
    format: oneOf('all', 'api', 'worker'),
    default: 'all',
    meaning: 'api serves requests, worker runs jobs and answers only health checks, all does both.',
  },
  {
    name: 'keys',
    env: 'TOLLGATE_KEYS',
    format: text,
    meaning:
      'Key-encryption keys of the vault, each <id>:<64 hex digits>, separated by commas. The first key wraps new data keys.',
    secret: true,
  },
  {
    name: 'keyFile',
    env: 'TOLLGATE_KEY_FILE',
    format: text,
    meaning:
      'File with the key-encryption keys, one per line. Without it, the host reads the file "keys" in dataDirectory.',
  },
  ...keySettings,
  {
    name: 'demo',
    env: 'TOLLGATE_DEMO',
    format: flag,
    meaning:
      'Create a demo channel with an access token and write test-credentials.json. Default: true in test, unless fourEyes is on. Not allowed on live.',
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
    meaning: 'Port to listen on. 0 picks a free port.',
  },
  {
    name: 'healthHost',
    env: 'TOLLGATE_HEALTH_HOST',
    format: text,
    default: '127.0.0.1',
    meaning: 'Address at which a worker answers /healthz and /readyz, and nothing else.',
  },
  {
    name: 'healthPort',
    env: 'TOLLGATE_HEALTH_PORT',
    format: integer(0, 65_535),
    default: '0',
    meaning: 'Port at which a worker answers /healthz and /readyz. 0 picks a free port.',
  },
  {
    name: 'publicUrl',
    env: 'TOLLGATE_PUBLIC_URL',
    format: url('http', 'https'),
    meaning: 'URL of the surface merchant, as shops and acquirers reach it.',
  },
  ...surfaceSettings,
  {
    name: 'tlsCertificateFile',
    env: 'TOLLGATE_TLS_CERTIFICATE_FILE',
    format: text,
    meaning: 'PEM file with the TLS certificate and its chain. With it, the host serves HTTPS.',
  },
  {
    name: 'tlsKeyFile',
    env: 'TOLLGATE_TLS_KEY_FILE',
    format: text,
    meaning: 'PEM file with the private key of the TLS certificate.',
  },
  {
    name: 'trustedProxy',
    env: 'TOLLGATE_TRUSTED_PROXY',
    format: text,
    meaning:
      'Addresses or subnets of the TLS-terminating proxies in front of the host, separated by commas; loopback stands for this machine. A live host that serves plain HTTP to other machines refuses requests from any other address.',
  },
  {
    name: 'logLevel',
    env: 'TOLLGATE_LOG_LEVEL',
    format: oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
    default: 'info',
    meaning: 'Minimum level of log lines. The log goes to standard error.',
  },
  {
    name: 'logFormat',
    env: 'TOLLGATE_LOG_FORMAT',
    format: oneOf('auto', 'json', 'pretty'),
    default: 'auto',
    meaning:
      'json writes one JSON object per line, pretty writes readable lines, auto is pretty on a terminal and json elsewhere.',
  },
  {
    name: 'writesPerSecond',
    env: 'TOLLGATE_WRITES_PER_SECOND',
    format: integer(1, 1_000_000),
    default: '10000',
    meaning: 'Write requests per access token, process and second. Further requests get 429.',
  },
  {
    name: 'readsPerSecond',
    env: 'TOLLGATE_READS_PER_SECOND',
    format: integer(1, 1_000_000),
    default: '20000',
    meaning: 'Read requests per access token, process and second. Further requests get 429.',
  },
  ...cardTestingSettings,
  {
    name: 'connections',
    env: 'TOLLGATE_CONNECTIONS',
    format: integer(1, 1_000_000),
    default: '10000',
    meaning:
      'Open client connections. For a further one, the address with the most of them gives up one without a request, or else one whose request is not complete, or else one whose client has taken no further 64 KiB of its answer for a second; where there is none, the host closes the new one without a response.',
  },
  {
    name: 'connectionsPerAddress',
    env: 'TOLLGATE_CONNECTIONS_PER_ADDRESS',
    format: integer(1, 1_000_000),
    default: '2500',
    meaning:
      'The same for one client address (IPv6: one /64 network), except for the addresses of declared proxies.',
  },
  {
    name: 'headersTimeoutMs',
    env: 'TOLLGATE_HEADERS_TIMEOUT_MS',
    format: integer(100, hourMs),
    default: '10000',
    meaning: 'How long a client may take to send the headers of a request.',
  },
  {
    name: 'requestTimeoutMs',
    env: 'TOLLGATE_REQUEST_TIMEOUT_MS',
    format: integer(100, hourMs),
    default: '30000',
    meaning: 'How long a client may take to send a whole request.',
  },
  {
    name: 'keepAliveTimeoutMs',
    env: 'TOLLGATE_KEEP_ALIVE_TIMEOUT_MS',
    format: integer(100, hourMs),
    default: '72000',
    meaning:
      'How long an idle connection stays open. Set a longer time than the idle timeout of a load balancer in front.',
  },
  {
    name: 'connectorTimeoutMs',
    env: 'TOLLGATE_CONNECTOR_TIMEOUT_MS',
    format: integer(100, 300_000),
    default: '30000',
    meaning: 'How long an operation at an acquirer may take.',
  },
  {
    name: 'stepDays',
    env: 'TOLLGATE_STEP_DAYS',
    format: integer(0, 3650),
    default: '90',
    meaning:
      'How long acquirer transcripts are kept, in days, rounded up to the end of a month. 0 keeps none.',
  },
  {
    name: 'shutdownGraceMs',
    env: 'TOLLGATE_SHUTDOWN_GRACE_MS',
    format: integer(0, hourMs),
    default: '40000',
    meaning: 'How long running payments may take to finish when the process is told to stop.',
  },
  {
    name: 'allowLoopback',
    env: 'TOLLGATE_ALLOW_LOOPBACK',
    format: flag,
    default: 'true',
    meaning: 'Test only: whether connectors may call addresses of this machine.',
  },
  {
    name: 'allowLoopbackForMerchants',
    env: 'TOLLGATE_ALLOW_LOOPBACK_FOR_MERCHANTS',
    format: flag,
    meaning:
      'Test only: whether webhooks and notificationUrl may call addresses of this machine. The ports of the host, its database and its key server stay closed, and delivery logs omit response bodies. Default: true with the demo channel, otherwise false.',
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
      'Plugins to load: package names, separated by commas; in the file also plugin objects. Names are looked up in the working folder, also those of a configuration file elsewhere. The test environment always loads the simulator.',
  },
  {
    name: 'connectors',
    env: 'TOLLGATE_CONNECTORS',
    meaning: 'Connector settings by connector name, as JSON: {"acquirer":{"url":"https://…"}}.',
    secret: true,
  },
  {
    name: 'pods',
    env: 'TOLLGATE_PODS',
    meaning:
      'Several databases as one installation, instead of databaseUrl: a list of { number, name, database }. A database keeps its number, 0 to 49.',
    secret: true,
  },
  {
    name: 'jobs',
    env: undefined,
    meaning: 'Your own jobs. In the file only.',
  },
] as const
