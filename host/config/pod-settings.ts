/** Several databases as one installation: the setting `pods`, and the choice of one of them for a command. */
import { databaseUrl, urlProblem } from '@tollgate/core/early'
import { databaseOf, serverOf } from './database-url.ts'
import type { HostSettings } from './read-settings.ts'

export type PodSetting = {
  /** 0 to 49. A database keeps its number. */
  readonly number: number
  /** 1 to 15 letters, digits and hyphens, not digits alone: in logs, metrics and the ids of checkouts. */
  readonly name: string
  /** Connection URL. */
  readonly database: string
}

const highestNumber = 49
const example = '[{ number: 0, name: "main", database: "postgres://…" }]'

/** The pods of a setting, and everything that is wrong with them. No message holds a URL, which has a password. */
export function podsFrom(
  from: string,
  value: unknown,
): { readonly pods: readonly PodSetting[]; readonly problems: readonly string[] } {
  if (!Array.isArray(value)) {
    return { pods: [], problems: [`${from}: expected a list of pods, such as ${example}`] }
  }
  const pods = value as readonly PodSetting[]
  const problems = pods.flatMap((pod: unknown, at) =>
    problemsOf(pod).map((why) => `${from}, entry ${at + 1}: ${why}`),
  )
  if (problems.length > 0) return { pods: [], problems }
  return {
    pods: [...pods].sort((one, other) => one.number - other.number),
    problems: [
      ...twice(pods, ({ number }) => `the number ${number}`),
      ...twice(pods, ({ name }) => `the name "${name}"`),
      ...twice(pods, ({ database }) => `the database ${placeOf(database)}`),
    ].map((what) => `${from}: ${what}; each pod has its own`),
  }
}

const known = ['number', 'name', 'database']

function problemsOf(pod: unknown): string[] {
  if (typeof pod !== 'object' || pod === null || Array.isArray(pod)) {
    return ['expected an object with number, name and database']
  }
  const { number, name, database } = pod as Readonly<Record<string, unknown>>
  const problems = Object.keys(pod)
    .filter((key) => !known.includes(key))
    .map((key) => `${key} is no property of a pod; the properties are: ${known.join(', ')}`)
  if (!(Number.isInteger(number) && Number(number) >= 0 && Number(number) <= highestNumber)) {
    problems.push(`number: expected a whole number from 0 to ${highestNumber}`)
  }
  if (typeof name !== 'string' || !/^[A-Za-z0-9-]{1,15}$/.test(name)) {
    problems.push('name: expected 1 to 15 letters, digits and hyphens')
  } else if (/^[0-9]+$/.test(name)) {
    problems.push('name: a number alone would be taken for that of a pod')
  }
  const problem = urlProblem(database)
  if (problem !== undefined) problems.push(`database: expected ${problem}`)
  return problems
}

function twice(pods: readonly PodSetting[], of: (pod: PodSetting) => string): string[] {
  const seen = Map.groupBy(pods, of)
  return [...seen].flatMap(([what, all]) =>
    all.length > 1
      ? [`${what} is given ${all.length === 2 ? 'twice' : `${all.length} times`}`]
      : [],
  )
}

/** The database of a URL for people, the same for two URLs that differ in users and options. */
export function placeOf(database: string): string {
  const url = databaseUrl(database)
  return `${serverOf(url).toLowerCase()}:${url.port || '5432'}${databaseOf(url)}`
}

/** Why pods do not fit the other settings. */
export function podContradictions({ pods, databaseUrl }: HostSettings): string[] {
  if (pods.length === 0 || databaseUrl === undefined) return []
  return [
    'DATABASE_URL and pods are both set: name the database of DATABASE_URL as pod 0 of pods, and leave DATABASE_URL out',
  ]
}

/** The settings of one pod, as those of an installation with a single database. */
export function settingsOfPod(settings: HostSettings, pod: PodSetting): HostSettings {
  return { ...settings, databaseUrl: pod.database, pods: [], pod }
}

/**
 * The settings for a command, which works on one database.
 *
 * @returns a problem instead when the pod is missing or unknown.
 */
export function settingsForPod(
  settings: HostSettings,
  wanted: string | undefined,
): HostSettings | string {
  const { pods } = settings
  const list = pods.map(({ number, name }) => `${number} (${name})`).join(', ')
  if (pods.length === 0) {
    return wanted === undefined ? settings : '--pod is given, but the setting pods names no pods'
  }
  if (wanted === undefined) return `--pod is missing: name the pod to work on, ${list}`
  const pod = pods.find(({ number, name }) => String(number) === wanted || name === wanted)
  return pod === undefined
    ? `--pod ${wanted} is not one of the pods: ${list}`
    : settingsOfPod(settings, pod)
}
