/**
 * The options of `createGateway` as data: their names and forms. A program learns of all its mistakes at once,
 * before anything is opened.
 */
import { isModuleNamespaceObject, isPromise } from 'node:util/types'
import { sslParameters } from './db/connection.ts'
import type { DatabaseOptions } from './db/database-options.ts'
import { databaseUrl, urlProblem } from './db/database-url.ts'
import type { GatewayOptions } from './gateway-options.ts'
import { highestPod } from './ids.ts'
import { isEngineName } from './jobs/engine-jobs.ts'
import type { LoopbackRule } from './net/address.ts'
import {
  callback,
  type Form,
  flag,
  formOf,
  type Group,
  group,
  having,
  isGroup,
  list,
  type Named,
  type OptionProblem,
  OptionsError,
  oneOf,
  problemsOf,
  shown,
  text,
  webAddress,
  whole,
} from './option-forms.ts'
import type { KeyProvider } from './vault/keys.ts'

const databaseGroup: Form = (value) =>
  isGroup(value) ? undefined : `must be an object such as { url }, not ${formOf(value)}`

const webAddressOrFunction: Form = (value) =>
  typeof value === 'function' ? undefined : webAddress(value)

const loopbackRule: Form = (value) =>
  typeof value === 'boolean' || isGroup(value)
    ? undefined
    : `must be true, false or { exceptPorts: [port] }, not ${shown(value)}`

const port = whole(0, 65_535)

/** An entry that equals no port would leave open what it should close. */
const ports: Form = (value) => {
  if (!Array.isArray(value)) return list(value)
  const wrong = value.findIndex((one) => port(one) !== undefined)
  return wrong === -1 ? undefined : `has an entry at position ${wrong} that ${port(value[wrong])}`
}

const loopbackForms: Named<Exclude<LoopbackRule, boolean>> = { exceptPorts: ports }

const keyProvider: Form = (value) =>
  (value as Partial<KeyProvider> | null)?.missing ??
  having('holds', 'currentKeyId', 'wrap', 'unwrap', 'check')(value)

const plugins: Form = (value) => {
  if (!Array.isArray(value)) return list(value)
  const wrong = value.findIndex((one) => !isGroup(one) || typeof one.name !== 'string')
  if (wrong !== -1) return noPlugin(value[wrong], wrong)
  // A connector or authenticator has its own facts, which no plugin has.
  const bare = value.find((one: Group) => 'supports' in one)
  if (bare !== undefined) {
    return `has "${String(bare.name)}", which is a connector and no plugin: use definePlugin({ name, contract, connectors: [it] })`
  }
  for (const { name, jobs } of value) {
    const taken = Array.isArray(jobs) ? takenNames(jobs.map((job) => job?.name)) : undefined
    if (taken !== undefined) return `has "${name}", which ${taken}`
  }
  return undefined
}

/** What stands in the place of a plugin, with the remedy where one is known. */
function noPlugin(value: unknown, at: number): string {
  if (isPromise(value)) return `has a promise at position ${at}: await it`
  if (isModuleNamespaceObject(value)) {
    return `has a module at position ${at}: pass its default export`
  }
  return `has no plugin at position ${at}, but ${shown(value)}`
}

/** The queue of a job has its name, and the engine has queues of its own. */
function takenNames(names: readonly unknown[]): string | undefined {
  const taken = names.filter((name) => typeof name === 'string' && isEngineName(name))
  return taken.length === 0
    ? undefined
    : `has job names that are the engine's own: ${taken.map(shown).join(', ')}; choose others, also none that ends in -dead`
}

const jobs: Form = (value) => {
  if (!Array.isArray(value)) return list(value)
  const names = value.map((job) => (isGroup(job) ? job.name : undefined))
  const wrong = value.findIndex(
    (job, at) =>
      typeof job?.run !== 'function' || !/^[\w./-]{1,100}$/.test(String(names[at] ?? '')),
  )
  if (wrong !== -1) {
    return `must have jobs { name, run() } whose names have letters, digits and _ . / -, unlike the one at position ${wrong}`
  }
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) return `has two jobs of the name ${shown(twice)}`
  return takenNames(names)
}

const databaseAddress: Form = (value) => {
  const problem = urlProblem(value)
  if (problem === undefined) return undefined
  // A wrong URL may contain a password.
  return `must be ${problem}${typeof value === 'string' && value !== '' ? '' : `, not ${shown(value)}`}`
}

const databaseForms: Named<GatewayOptions['database']> = {
  url: databaseAddress,
  schema: (value) =>
    typeof value === 'string' && /^(?!pg_)[a-z_][a-z0-9_]{0,40}$/.test(value)
      ? undefined
      : `must have lower-case letters, digits and _, at most 41 characters and without pg_ at the start, not ${shown(value)}`,
  prepare: flag,
  pool: group,
  ssl: group,
  synchronousCommit: oneOf('on', 'local', 'off'),
}

const connections = whole(1, 200)
const poolForms: Named<NonNullable<GatewayOptions['database']['pool']>> = {
  group: whole(1, 16),
  single: connections,
  read: connections,
  search: connections,
  bulk: connections,
  program: connections,
  jobs: connections,
}

/** PEM text. A wrong one may be a key, so it is not shown. */
const pem =
  (what: string): Form =>
  (value) =>
    typeof value === 'string' && value.includes(`-----BEGIN `) && value.includes(what)
      ? undefined
      : `must be PEM text with "-----BEGIN … ${what}-----", not the name of a file`

const sslForms: Named<NonNullable<GatewayOptions['database']['ssl']>> = {
  ca: pem('CERTIFICATE'),
  cert: pem('CERTIFICATE'),
  key: pem('PRIVATE KEY'),
  verify: oneOf('full', 'ca', 'none'),
}

const threshold = whole(0, 1_000_000_000)
const thresholds: Named<NonNullable<GatewayOptions['cardTesting']>> = {
  number: threshold,
  address: threshold,
  bin: threshold,
  channel: threshold,
  token: threshold,
}

const podForms: Named<NonNullable<GatewayOptions['pod']>> = {
  number: whole(0, highestPod),
  installationKey: group,
}

const logger = having('info', 'warn')

const forms: Named<GatewayOptions> = {
  name: text,
  database: databaseGroup,
  pod: group,
  plugins,
  connectors: group,
  environment: oneOf('test', 'live'),
  keys: keyProvider,
  keyCacheMs: whole(1, 2 ** 40),
  clock: having('realMs', 'elapsedMs', 'businessAt'),
  role: oneOf('all', 'api', 'worker'),
  migrate: flag,
  publicUrl: webAddressOrFunction,
  fieldsUrl: webAddress,
  connectorTimeoutMs: whole(1, 300_000),
  allowLoopback: flag,
  allowLoopbackForMerchants: loopbackRule,
  stepDays: whole(0, 3650),
  fourEyes: flag,
  passwordLogRounds: whole(1, 20),
  cardTesting: group,
  widget: group,
  log: logger,
  securityLog: logger,
  jobs,
  exporters: flag,
  warm: flag,
  shutdownGraceMs: whole(0, 3_600_000),
  startWait: whole(0, 3_600),
  onStage: callback,
}

/** Options of the encryption that are right one by one and wrong together. */
function sslProblems({ url, ssl }: Group): OptionProblem[] {
  if (!isGroup(ssl)) return []
  const problems: OptionProblem[] = []
  if ((ssl.cert === undefined) !== (ssl.key === undefined)) {
    const missing = ssl.cert === undefined ? 'cert' : 'key'
    problems.push({
      option: `database.ssl.${missing}`,
      message: 'is missing: a client certificate and its key belong together',
    })
  }
  if (ssl.ca !== undefined && ssl.verify === 'none') {
    problems.push({
      option: 'database.ssl.ca',
      message: "is of no use with verify 'none', which checks nothing",
    })
  }
  const parameters =
    urlProblem(url) === undefined ? databaseUrl(String(url)).searchParams : undefined
  const given = sslParameters.find((name) => parameters?.has(name))
  if (given !== undefined) {
    problems.push({
      option: 'database.ssl',
      message: `and ${given} in database.url are both given, and the driver would follow the URL: use one of them`,
    })
  }
  return problems
}

/** On live no URL of a merchant leads to this machine, so whoever allows it expects what will not be. */
function loopbackProblems({
  environment,
  allowLoopbackForMerchants: rule,
}: Group): OptionProblem[] {
  const option = 'allowLoopbackForMerchants'
  const problems = isGroup(rule)
    ? problemsOf(`${option}.`, rule, loopbackForms, ['exceptPorts'])
    : []
  if (environment === 'live' && (rule === true || isGroup(rule))) {
    problems.push({ option, message: 'is for the test environment: leave it out on live' })
  }
  return problems
}

const required = ['database', 'environment', 'keys', 'plugins']

/** Options of which none is missing. */
export type CheckedOptions = GatewayOptions & { readonly database: DatabaseOptions }

/** @throws OptionsError naming every option that is missing, unknown or wrong. */
export function checkOptions(options: GatewayOptions): asserts options is CheckedOptions {
  if (!isGroup(options)) {
    throw new OptionsError([
      { option: 'options', message: `must be an object, not ${shown(options)}` },
    ])
  }
  const { database, cardTesting, pod } = options as Group
  const problems = [
    ...problemsOf('', options, forms, required),
    ...(isGroup(database) ? databaseProblems(database) : []),
    ...(isGroup(cardTesting) ? problemsOf('cardTesting.', cardTesting, thresholds, []) : []),
    ...loopbackProblems(options as Group),
    ...(isGroup(pod) ? problemsOf('pod.', pod, podForms, ['number']) : []),
  ]
  if (problems.length > 0) throw new OptionsError(problems)
}

function databaseProblems(database: Group): OptionProblem[] {
  const { pool, ssl } = database
  return [
    ...problemsOf('database.', database, databaseForms, ['url']),
    ...(isGroup(pool) ? problemsOf('database.pool.', pool, poolForms, []) : []),
    ...(isGroup(ssl) ? problemsOf('database.ssl.', ssl, sslForms, []) : []),
    ...sslProblems(database),
  ]
}
