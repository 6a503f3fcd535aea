import { type Command, columns, commonOptions, usageOf } from './command.ts'

function wholeUsageOf(command: Command): string {
  const optional = Object.entries(command.options ?? {}).flatMap(
    ([option, { value, isRequired }]) => {
      if (isRequired === true) return []
      return [value === undefined ? `[--${option}]` : `[--${option} <${value}>]`]
    },
  )
  return [usageOf(command), ...optional].join(' ')
}

export function helpOf(command: Command): string[] {
  const options = Object.entries({ ...command.options, ...commonOptions }).map(
    ([name, { value, meaning }]) => [
      `  --${name}${value === undefined ? '' : ` <${value}>`}`,
      meaning,
    ],
  )
  const notes = command.notes === undefined ? [] : ['', command.notes]
  return [wholeUsageOf(command), '', command.summary, '', ...columns(options), ...notes]
}

/** One line for each command. */
export function linesOf(commands: readonly Command[]): string[] {
  return columns(
    commands.map(({ name, words = [], summary }) => [`  ${[name, ...words].join(' ')}`, summary]),
  )
}

export async function help(commands: readonly Command[]): Promise<string[]> {
  const { describeSettings } = await import('../config/describe.ts')
  const settings = describeSettings()
    .filter(({ env }) => env !== '')
    .map(({ env, default: fallback, meaning }) => [
      `  ${env}`,
      meaning + (fallback === '' ? '' : ` Default: ${fallback}.`),
    ])
  return [
    'tollgate <command> [options]',
    '',
    'Commands:',
    ...linesOf(commands),
    '',
    'Settings, as environment variables or in tollgate.config.ts:',
    ...columns(settings),
    '',
    'Help for one command: tollgate <command> --help',
  ]
}
