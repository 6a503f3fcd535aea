import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { GatewayError } from '@tollgate/core'
import { resultDescription } from '@tollgate/schemas'
import { readConfigFile } from '../config/config-file.ts'
import { settingsForPod } from '../config/pod-settings.ts'
import { type HostSettings, readSettings } from '../config/read-settings.ts'
import { openLog } from '../logging.ts'
import { type Installation, openInstallation, type Place } from '../serve/installation.ts'
import { harmless, shownJson } from './shown-text.ts'

export type Option = {
  readonly type: 'string' | 'boolean'
  /** As in `--port <number>`. */
  readonly value?: string
  readonly meaning: string
  readonly isRequired?: true
}

/** The words of a command line after the command, checked. */
export type Given = {
  readonly options: Readonly<Record<string, string | undefined>>
  readonly flags: ReadonlySet<string>
  readonly words: readonly string[]
}

export type Command = {
  /** `token create`. */
  readonly name: string
  readonly summary: string
  /** Positional words beside options, as in `<id>`; those in square brackets are optional, and `<id>…` stands for one or more. */
  readonly words?: readonly string[]
  readonly options?: Readonly<Record<string, Option>>
  /** More to say in its help. */
  readonly notes?: string
  /** @returns the exit code. */
  run(given: Given): Promise<number>
}

/** The user requested an unknown command or option. The message lists the known ones. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const commonOptions: Readonly<Record<string, Option>> = {
  config: {
    type: 'string',
    value: 'file',
    meaning: 'Configuration file. Default: tollgate.config.ts, .js or .mjs in this folder.',
  },
  pod: {
    type: 'string',
    value: 'number',
    meaning: 'The pod to work on, by its number or name, where the settings name pods.',
  },
  help: { type: 'boolean', meaning: 'Show this help.' },
}

/** Of every list. */
export const jsonOption = {
  json: { type: 'boolean', meaning: 'Print JSON.' },
} as const satisfies Readonly<Record<string, Option>>

/** The replacement of an option whose value would be visible to other users. */
const instead: Readonly<Record<string, string>> = {
  password: 'use --password-file or standard input',
  token: 'set TOLLGATE_TOKEN or use --token-file',
  secret: 'use --secret-file',
  secrets: 'use --secrets-file or standard input',
  key: 'use --key-file',
}

/** A secret as a word of the command line is refused before anything is done. @throws UsageError */
function refuseSecretWords(
  words: readonly string[],
  options: Readonly<Record<string, unknown>>,
): void {
  for (const [name, what] of Object.entries(instead)) {
    const isGiven = words.some((word) => word === `--${name}` || word.startsWith(`--${name}=`))
    if (!isGiven || options[name] !== undefined || options[`${name}-file`] === undefined) continue
    throw new UsageError(
      `--${name} is not accepted, because every user of this machine can read command lines; ${what}`,
    )
  }
}

/** @throws UsageError */
export function readArguments(command: Command, words: readonly string[]): Given {
  const options = { ...command.options, ...commonOptions }
  refuseSecretWords(words, options)
  const config: ParseArgsOptionsConfig = Object.fromEntries(
    Object.entries(options).map(([name, { type }]) => [name, { type }]),
  )
  let read: ReturnType<typeof parseArgs>
  try {
    read = parseArgs({ args: [...words], options: config, allowPositionals: true, strict: true })
  } catch (thrown) {
    // Node's message goes on with advice about "--" after the first sentence.
    const [first = ''] = (thrown as Error).message.split(/[.\n]/)
    throw new UsageError(`${first}; see tollgate ${command.name} --help`)
  }
  const entries = Object.entries(read.values)
  const given = {
    options: Object.fromEntries(entries.filter(([, value]) => typeof value === 'string')),
    flags: new Set(entries.flatMap(([name, value]) => (value === true ? [name] : []))),
    words: read.positionals,
  } as Given
  const wanted = command.words ?? []
  const least = wanted.filter((word) => !word.startsWith('[')).length
  const most = wanted.at(-1)?.endsWith('…') === true ? Number.POSITIVE_INFINITY : wanted.length
  const count = given.words.length
  if (!given.flags.has('help') && (count < least || count > most)) {
    throw new UsageError(`usage: ${usageOf(command)}`)
  }
  for (const [name, { isRequired }] of Object.entries(options)) {
    if (isRequired === true && !given.flags.has('help')) needed(given, name)
  }
  return given
}

/** The command with its words and its required options. */
export function usageOf({ name, words = [], options = {} }: Command): string {
  const required = Object.entries(options).flatMap(([option, { value, isRequired }]) =>
    isRequired === true ? [value === undefined ? `--${option}` : `--${option} <${value}>`] : [],
  )
  return ['tollgate', name, ...words, ...required].join(' ')
}

/** @throws UsageError */
export function needed(given: Given, option: string): string {
  const value = given.options[option]
  if (value === undefined || value === '') throw new UsageError(`--${option} is missing`)
  return value
}

export function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}

/** A word beside the result, such as a prompt or a hint: output may go into a file. */
export function tell(line: string): void {
  process.stderr.write(`${line}\n`)
}

/**
 * The settings for a command on one database.
 *
 * @throws UsageError when the settings name pods, and the command none of them.
 */
export async function settingsFor(
  given: Given,
  settingOptions: readonly (keyof HostSettings & string)[] = [],
): Promise<HostSettings> {
  const settings = settingsForPod(await allSettingsFor(given, settingOptions), given.options.pod)
  if (typeof settings === 'string') throw new UsageError(settings)
  return settings
}

/** The settings for a command on the whole installation: its own options, environment, file, defaults. */
export async function allSettingsFor(
  given: Given,
  settingOptions: readonly (keyof HostSettings & string)[] = [],
): Promise<HostSettings> {
  const file = await readConfigFile(process.cwd(), given.options.config)
  const options = Object.fromEntries(
    settingOptions.flatMap((name) => {
      const value = given.options[name]
      return value === undefined ? [] : [[name, { from: `--${name}`, value }]]
    }),
  )
  return readSettings({
    environment: process.env,
    options,
    ...(file === undefined ? {} : { file }),
  })
}

/** The folder and log of a command; the log contains failures only. */
export function placeOfCommand(): Place {
  return { folder: process.cwd(), log: openLog('warn', process.stderr.isTTY === true).log }
}

/** Opens the installation for one piece of work, without jobs. */
export async function withInstallation<T>(
  given: Given,
  {
    isFounder = false,
  }: {
    /** Creates what a new installation begins with, so it may be the first on a database. */
    readonly isFounder?: boolean
  },
  work: (installation: Installation) => Promise<T>,
): Promise<T> {
  const settings = await settingsFor(given)
  const user = isFounder ? 'founder' : 'command'
  const installation = await openInstallation(settings, placeOfCommand(), { role: 'api' }, user)
  try {
    return await work(installation)
  } finally {
    await installation.close()
  }
}

const notFound = resultDescription('700.400.580')

/**
 * Work on something that the user named. The engine has one sentence for everything that it does not find.
 *
 * @param absent The sentence for this one. @throws UsageError with it.
 */
export async function found<T>(absent: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    const isBare = thrown instanceof GatewayError && thrown.message === notFound
    if (isBare) throw new UsageError(absent)
    throw thrown
  }
}

/** One list, as JSON or in columns. */
export function printList<Item>(
  given: Given,
  items: readonly Item[],
  shown: {
    readonly cells: (item: Item) => readonly string[]
    readonly head?: readonly string[]
    /** The sentence for an empty list. */
    readonly none: string
  },
): void {
  if (given.flags.has('json')) print(shownJson(items, 2))
  else if (items.length === 0) print(shown.none)
  else {
    const head = shown.head === undefined ? [] : [shown.head]
    const rows = items.map((item) => shown.cells(item).map(harmless))
    for (const line of columns([...head, ...rows])) print(line)
  }
}

/** Columns as wide as their longest cell. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>(
    (all, row) => row.map((cell, index) => Math.max(all[index] ?? 0, cell.length)),
    [],
  )
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
