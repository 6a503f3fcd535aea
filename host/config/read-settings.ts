import { isIP } from 'node:net'
import { urlProblem } from '@tollgate/core/early'
import type { Job, Plugin } from '@tollgate/plugin-kit'
import { isLoopback } from '../http/loopback.ts'
import { encryptsBySettings } from './database-settings.ts'
import { isPlain } from './database-url.ts'
import { type PodSetting, podContradictions, podsFrom } from './pod-settings.ts'
import {
  type Setting,
  type SettingValues,
  settingTable,
  structuredSettings,
} from './setting-table.ts'
import { surfaceContradictions } from './surface-settings.ts'
import { nearest, unknownVariables } from './unknown-variables.ts'

/** The content of tollgate.config.ts. Environment variables take precedence. */
export type TollgateConfig = Partial<SettingValues> & {
  /** Plugin objects, or names of packages whose default export is one. */
  readonly plugins?: readonly (Plugin | string)[]
  /** Settings of connectors, by connector name. */
  readonly connectors?: Readonly<Record<string, Record<string, unknown>>>
  readonly jobs?: readonly Job[]
  /** Several databases as one installation. */
  readonly pods?: readonly PodSetting[]
}

/** Types the settings in tollgate.config.ts: `export default defineConfig({ port: 8443 })`. */
export function defineConfig(config: TollgateConfig): TollgateConfig {
  return config
}

export type HostSettings = SettingValues & {
  readonly plugins: readonly (Plugin | string)[]
  readonly connectors: Readonly<Record<string, Record<string, unknown>>>
  readonly jobs: readonly Job[]
  /** In the order of their numbers; none for a single database. */
  readonly pods: readonly PodSetting[]
  /** The pod that `databaseUrl` is the database of. */
  readonly pod?: PodSetting
}

/** Invalid settings. The message names each one and its correction. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    const [first = ''] = problems
    super(
      problems.length === 1
        ? `Wrong setting: ${first}`
        : `${problems.length} settings are wrong:\n${problems.map((line) => `  ${line}`).join('\n')}`,
    )
    this.problems = problems
  }
}

type Environment = Readonly<Record<string, string | undefined>>
/** A text of the user with the name under which she gave it. */
type Given = { readonly from: string; readonly value: unknown }

/**
 * Checks all settings at once. Command line wins over environment, environment over file, file over
 * defaults. An empty environment variable counts as not set.
 *
 * @throws SettingsError
 */
export function readSettings(sources: {
  readonly environment: Environment
  readonly file?: { readonly path: string; readonly config: Readonly<Record<string, unknown>> }
  /** Settings by name, with the option that gave them. */
  readonly options?: Readonly<Record<string, Given>>
}): HostSettings {
  const { environment, file, options = {} } = sources
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const row of settingTable as readonly Setting[]) {
    const given = options[row.name] ?? fromEnvironment(row.env) ?? fromFile(row.name)
    const read = given ?? { from: row.env, value: row.default }
    if (read.value === undefined) continue
    const { value, expected } = readValue(row, read.value)
    if (expected === undefined) values[row.name] = value
    else problems.push(`${read.from} ${shown(row, read.value)}: expected ${expected}`)
  }
  const known = [...settingTable, ...structuredSettings].map(({ name }) => name as string)
  for (const name of Object.keys(file?.config ?? {})) {
    if (known.includes(name)) continue
    problems.push(
      `${name} in ${file?.path} is not a setting: did you mean ${nearest(name, known)}? The settings are: ${known.join(', ')}`,
    )
  }
  problems.push(...unknownVariables(environment))
  const settings = {
    ...(values as SettingValues),
    plugins: pluginList(),
    connectors: connectorSettings(),
    jobs: (file?.config.jobs ?? []) as readonly Job[],
    pods: podList(),
  }
  if (problems.length === 0) problems.push(...contradictions(settings))
  if (problems.length > 0) throw new SettingsError(problems)
  return settings

  function fromEnvironment(name: string): Given | undefined {
    const value = environment[name]
    return value === undefined || value === '' ? undefined : { from: name, value }
  }

  function fromFile(name: string): Given | undefined {
    const value = file?.config[name]
    return value === undefined ? undefined : { from: `${name} in ${file?.path}`, value }
  }

  function pluginList(): readonly (Plugin | string)[] {
    const given = fromEnvironment('TOLLGATE_PLUGINS')
    if (given !== undefined) return splitList(String(given.value))
    const value = file?.config.plugins ?? []
    if (Array.isArray(value)) return value
    problems.push(`plugins in ${file?.path}: expected a list of plugins or package names`)
    return []
  }

  function podList(): readonly PodSetting[] {
    const given = fromEnvironment('TOLLGATE_PODS') ?? fromFile('pods')
    if (given === undefined) return []
    const value = typeof given.value === 'string' ? parsed(given.value) : given.value
    const read = podsFrom(given.from, value)
    problems.push(...read.problems)
    return read.pods
  }

  function connectorSettings(): HostSettings['connectors'] {
    const given = fromEnvironment('TOLLGATE_CONNECTORS') ?? fromFile('connectors')
    if (given === undefined) return {}
    const value = typeof given.value === 'string' ? parsed(given.value) : given.value
    const isTable = (one: unknown) => typeof one === 'object' && one !== null && !Array.isArray(one)
    if (isTable(value) && Object.values(value as object).every(isTable)) {
      return value as HostSettings['connectors']
    }
    problems.push(
      `${given.from}: expected an object with the settings of each connector, such as {"acquirer":{"url":"https://…"}}`,
    )
    return {}
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const shown = (row: Setting, value: unknown) =>
  row.secret === true ? '(hidden)' : `is ${JSON.stringify(value)}`

/** The value in its type, or a description of valid values. */
function readValue(row: Setting, given: unknown): { value?: unknown; expected?: string } {
  const { format } = row
  const text = ['string', 'number', 'boolean'].includes(typeof given) ? String(given).trim() : ''
  switch (format.kind) {
    case 'text':
      return text === '' ? { expected: 'text' } : { value: text }
    case 'flag':
      return text === 'true' || text === 'false'
        ? { value: text === 'true' }
        : { expected: 'true or false' }
    case 'choice':
      return format.of.includes(text)
        ? { value: text }
        : { expected: `one of ${format.of.join(', ')}` }
    case 'integer': {
      const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN
      return value >= format.min && value <= format.max
        ? { value }
        : { expected: `a whole number from ${format.min} to ${format.max}` }
    }
    case 'url': {
      if (format.schemes.includes('postgres')) {
        const problem = urlProblem(text)
        return problem === undefined ? { value: text } : { expected: problem }
      }
      const scheme = URL.parse(text)?.protocol.slice(0, -1) ?? ''
      return format.schemes.includes(scheme)
        ? { value: text }
        : {
            expected: `a URL that begins with ${format.schemes.map((one) => `${one}://`).join(' or ')}`,
          }
    }
  }
}

/** Settings that are right one by one and wrong together. */
function contradictions(settings: HostSettings): string[] {
  const problems: string[] = []
  const isLive = settings.environment === 'live'
  if ((settings.tlsCertificateFile === undefined) !== (settings.tlsKeyFile === undefined)) {
    problems.push(
      'TOLLGATE_TLS_CERTIFICATE_FILE and TOLLGATE_TLS_KEY_FILE belong together: set both or none',
    )
  }
  if (settings.keys !== undefined && settings.keyFile !== undefined) {
    problems.push('TOLLGATE_KEYS and TOLLGATE_KEY_FILE are both set: set one of them')
  }
  problems.push(...keyServerContradictions(settings), ...surfaceContradictions(settings))
  problems.push(...podContradictions(settings))
  const url = settings.databaseUrl
  const isEncrypted = encryptsBySettings(settings)
  problems.push(...encryptionContradictions(settings))
  const mayBePlain = settings.databasePlain === 'accepted' || isEncrypted
  if (isLive && url !== undefined && !mayBePlain && isPlain(url)) {
    problems.push(
      'DATABASE_URL connects to another machine without encryption: on live add ?sslmode=verify-full (and sslrootcert=<file> for your own certificate authority), set TOLLGATE_DATABASE_VERIFY to full, or set TOLLGATE_DATABASE_PLAIN to accepted if the network is encrypted or private',
    )
  }
  if (isLive && settings.demo === true) {
    problems.push('TOLLGATE_DEMO is true: a live installation cannot have a demo channel')
  }
  if (isLive && settings.allowLoopbackForMerchants === true) {
    problems.push(
      'TOLLGATE_ALLOW_LOOPBACK_FOR_MERCHANTS is true: on live, no URL of a merchant leads to this machine',
    )
  }
  const isPlainPod = ({ database }: PodSetting) => isPlain(database)
  if (isLive && settings.databasePlain !== 'accepted' && settings.pods.some(isPlainPod)) {
    const names = settings.pods.filter(isPlainPod).map(({ number }) => number)
    problems.push(
      `pods: the database of pod ${names.join(' and ')} is on another machine without encryption: on live add ?sslmode=verify-full, or set TOLLGATE_DATABASE_PLAIN to accepted if the network is encrypted or private`,
    )
  }
  if (isLive && settings.databaseUrl === undefined && settings.pods.length === 0) {
    problems.push(
      'DATABASE_URL is not set, or empty: the live environment needs a separate PostgreSQL server with backups',
    )
  }
  const hasProxy = splitList(settings.trustedProxy ?? '').length > 0
  if (settings.role !== 'worker' && isReachedInPlain(settings) && !hasProxy) {
    problems.push(
      `HOST is "${settings.host}": a live host accepts connections from other machines only with its own certificate (TOLLGATE_TLS_CERTIFICATE_FILE, TOLLGATE_TLS_KEY_FILE), or from declared proxies (TOLLGATE_TRUSTED_PROXY)`,
    )
  }
  if (!/^(?!pg_)[a-z_][a-z0-9_]{0,40}$/.test(settings.databaseSchema)) {
    problems.push(
      `TOLLGATE_DATABASE_SCHEMA is "${settings.databaseSchema}": expected at most 41 lower-case letters, digits and _, without pg_ at the start`,
    )
  }
  for (const part of splitList(settings.trustedProxy ?? '')) {
    if (isProxyAddress(part)) continue
    problems.push(
      `TOLLGATE_TRUSTED_PROXY has "${part}": expected addresses, subnets such as 10.0.0.0/8, or loopback, linklocal, uniquelocal`,
    )
  }
  return problems
}

/** Whether a live host takes requests without encryption from other machines: then from its proxies only. */
export const isReachedInPlain = ({
  environment,
  host,
  tlsCertificateFile,
}: Pick<HostSettings, 'environment' | 'host' | 'tlsCertificateFile'>): boolean =>
  environment === 'live' && tlsCertificateFile === undefined && !isLoopback(host)

function encryptionContradictions(settings: HostSettings): string[] {
  if (!encryptsBySettings(settings)) return []
  const problems: string[] = []
  const { databaseUrl: url, databaseCertificateFile: certificate, databaseKeyFile: key } = settings
  if ((certificate === undefined) !== (key === undefined)) {
    problems.push(
      'TOLLGATE_DATABASE_CERTIFICATE_FILE and TOLLGATE_DATABASE_KEY_FILE belong together: set both or none',
    )
  }
  if (url !== undefined && /[?&]ssl/.test(url)) {
    problems.push(
      'DATABASE_URL has a parameter of the encryption, and so do TOLLGATE_DATABASE_CA_FILE, …_CERTIFICATE_FILE, …_KEY_FILE or …_VERIFY: use one of the two ways',
    )
  }
  if (url === undefined) {
    problems.push(
      'DATABASE_URL is not set, but the encryption of its connections is: the embedded database has none',
    )
  }
  return problems
}

function keyServerContradictions(settings: HostSettings): string[] {
  const tokens = [settings.keyServerToken, settings.keyServerTokenFile]
  const given = tokens.filter((one) => one !== undefined).length
  if (settings.keyServerUrl !== undefined && given !== 1) {
    return [
      'TOLLGATE_KEY_SERVER_URL needs either TOLLGATE_KEY_SERVER_TOKEN_FILE or TOLLGATE_KEY_SERVER_TOKEN',
    ]
  }
  if (settings.keyServerUrl !== undefined) return []
  if (given > 0 || settings.wrapWith === 'server') {
    return ['TOLLGATE_KEY_SERVER_URL is not set, but other settings of the key server are']
  }
  return []
}

function isProxyAddress(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  const [address = '', bits] = text.split('/', 2)
  const family = isIP(address)
  if (family === 0) return false
  return (
    bits === undefined || (/^[0-9]{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
  )
}
