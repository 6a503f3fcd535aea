import { type Command, print, readArguments, UsageError } from './commands/command.ts'
import { harmless } from './commands/shown-text.ts'
import { errorText } from './error-text.ts'
import type { Shell } from './shell.ts'
import { buildNumber } from './version.ts'

type Commands = { readonly commands: readonly Command[] }

/** The modules of the commands by their first word, in the order of the help. Each is loaded when it is called. */
const modules: Readonly<Record<string, () => Promise<Commands>>> = {
  serve: () => import('./commands/serve.ts'),
  sftp: () => import('./commands/sftp.ts'),
  migrate: () => import('./commands/migrate.ts'),
  pod: () => import('./commands/pod.ts'),
  entity: () => import('./commands/entity.ts'),
  account: () => import('./commands/account.ts'),
  token: () => import('./commands/token.ts'),
  operator: () => import('./commands/operator.ts'),
  webhook: () => import('./commands/webhook.ts'),
  keys: () => import('./commands/keys.ts'),
  inspect: () => import('./commands/inspect.ts'),
  attention: () => import('./commands/attention.ts'),
  audit: () => import('./commands/audit.ts'),
  payment: () => import('./commands/payment.ts'),
  settlement: () => import('./commands/settlement.ts'),
  listen: () => import('./commands/listen.ts'),
  events: () => import('./commands/events.ts'),
  doctor: () => import('./commands/doctor.ts'),
  demo: () => import('./commands/demo.ts'),
}

/** Every command, in the order of the help. */
export async function allCommands(): Promise<readonly Command[]> {
  const loaded = await Promise.all(Object.values(modules).map((load) => load()))
  return loaded.flatMap(({ commands }) => commands)
}

/**
 * Runs one command line, and uses nothing of its process but what the shell has.
 *
 * @returns the exit code.
 */
export async function main(words: readonly string[], shell: Shell): Promise<number> {
  let command: Command | undefined
  try {
    const [first] = words
    if (first === undefined || first === 'help' || first === '--help' || first === '-h') {
      const { help } = await import('./commands/help.ts')
      return told(shell, await help(await allCommands()))
    }
    if (first === '--version') return told(shell, [buildNumber])
    const group = await commandsOf(first)
    command = group.find(({ name }) => name.split(' ').every((part, at) => words[at] === part))
    if (command === undefined) return await helpOfGroup(words, group, shell)
    const given = readArguments(command, words.slice(command.name.split(' ').length))
    if (!given.flags.has('help')) return await command.run(given, shell)
    const { helpOf } = await import('./commands/help.ts')
    return told(shell, helpOf(command))
  } catch (thrown) {
    shell.stderr.write(`${harmless(errorText(thrown, command?.options))}\n`)
    return 1
  }
}

function told(shell: Shell, lines: readonly string[]): number {
  for (const line of lines) print(shell, line)
  return 0
}

/** @throws UsageError for a word that begins no command. */
async function commandsOf(first: string): Promise<readonly Command[]> {
  const load = Object.hasOwn(modules, first) ? modules[first] : undefined
  if (load === undefined) {
    const meant = await meantBy(first, Object.keys(modules))
    const hint = meant === undefined ? 'see tollgate --help' : `did you mean ${meant}?`
    throw new UsageError(`unknown command "${first}"; ${hint}`)
  }
  return (await load()).commands
}

/** The word that a wrong one probably means. */
async function meantBy(word: string, known: readonly string[]): Promise<string | undefined> {
  const { suggest, vocabularyOf } = await import('@tollgate/core/early')
  return suggest(word, vocabularyOf(known))
}

/** `tollgate entity` lists its commands. @throws UsageError for a second word that is none of them. */
async function helpOfGroup(
  [first = '', second]: readonly string[],
  group: readonly Command[],
  shell: Shell,
): Promise<number> {
  const names = group.map(({ name }) => name.slice(first.length + 1))
  if (second !== undefined && second !== '--help') {
    const meant = await meantBy(second, names)
    const hint = meant === undefined ? '' : `did you mean ${first} ${meant}? `
    const has = `${first} has: ${names.join(', ')}`
    throw new UsageError(`unknown command "${first} ${second}"; ${hint}${has}`)
  }
  const { linesOf } = await import('./commands/help.ts')
  told(shell, [...linesOf(group), '', `Help for one command: tollgate ${first} <command> --help`])
  return second === undefined ? 1 : 0
}
