import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { Shell } from '../shell.ts'
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
  run(given: Given, shell: Shell): Promise<number>
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

export function print({ stdout }: Shell, line = ''): void {
  stdout.write(`${line}\n`)
}

/** A word beside the result, such as a prompt or a hint: output may go into a file. */
export function tell({ stderr }: Shell, line: string): void {
  stderr.write(`${line}\n`)
}

/** One list, as JSON or in columns. */
export function printList<Item>(
  given: Given,
  shell: Shell,
  items: readonly Item[],
  shown: {
    readonly cells: (item: Item) => readonly string[]
    readonly head?: readonly string[]
    /** The sentence for an empty list. */
    readonly none: string
  },
): void {
  if (given.flags.has('json')) print(shell, shownJson(items, 2))
  else if (items.length === 0) print(shell, shown.none)
  else {
    const head = shown.head === undefined ? [] : [shown.head]
    const rows = items.map((item) => shown.cells(item).map(harmless))
    for (const line of columns([...head, ...rows])) print(shell, line)
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
