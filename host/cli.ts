import { buildNumber } from '@tollgate/core'
import { accountCommands } from './commands/account.ts'
import {
  attentionCommand,
  attentionListCommand,
  attentionResolveCommand,
  attentionRetryCommand,
} from './commands/attention.ts'
import { auditCommands } from './commands/audit.ts'
import {
  type Command,
  columns,
  commonOptions,
  print,
  readArguments,
  UsageError,
  usageOf,
} from './commands/command.ts'
import { demoCommands } from './commands/demo.ts'
import { doctorCommand } from './commands/doctor.ts'
import {
  entityCloseCommand,
  entityCreateCommand,
  entityListCommand,
  entityOpenCommand,
  entitySetCommand,
} from './commands/entity.ts'
import { entityRuleCommands } from './commands/entity-rule.ts'
import { eventsListCommand, eventsReplayCommand } from './commands/events.ts'
import { inspectCommand } from './commands/inspect.ts'
import {
  keysMakeCommand,
  keysRenewMacCommand,
  keysRetireCommand,
  keysRewrapCommand,
  keysRotateCommand,
  keysStatusCommand,
} from './commands/keys.ts'
import { listenCommand } from './commands/listen.ts'
import { migrateCommand } from './commands/migrate.ts'
import { operatorCommands } from './commands/operator.ts'
import { paymentCommands } from './commands/payment.ts'
import { podListCommand } from './commands/pod.ts'
import { serveCommand } from './commands/serve.ts'
import { settlementCommands } from './commands/settlement.ts'
import { sftpCommand } from './commands/sftp.ts'
import { harmless } from './commands/shown-text.ts'
import {
  tokenCreateCommand,
  tokenListCommand,
  tokenRevokeCommand,
  tokenRotateCommand,
} from './commands/token.ts'
import { webhookCommands } from './commands/webhook.ts'
import { describeSettings } from './config/describe.ts'
import { errorText } from './error-text.ts'
import { systemCode } from './thrown.ts'

export const commands: readonly Command[] = [
  serveCommand,
  sftpCommand,
  migrateCommand,
  podListCommand,
  entityListCommand,
  entityCreateCommand,
  entitySetCommand,
  entityCloseCommand,
  entityOpenCommand,
  ...entityRuleCommands,
  ...accountCommands,
  tokenCreateCommand,
  tokenListCommand,
  tokenRotateCommand,
  tokenRevokeCommand,
  ...operatorCommands,
  ...webhookCommands,
  keysStatusCommand,
  keysMakeCommand,
  keysRotateCommand,
  keysRewrapCommand,
  keysRetireCommand,
  keysRenewMacCommand,
  inspectCommand,
  attentionListCommand,
  attentionResolveCommand,
  attentionRetryCommand,
  attentionCommand,
  ...auditCommands,
  ...paymentCommands,
  ...settlementCommands,
  listenCommand,
  eventsListCommand,
  eventsReplayCommand,
  doctorCommand,
  ...demoCommands,
]

/** Runs one command line and sets the exit code. Ends the process when nothing is left to do. */
export async function main(words: readonly string[]): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endUnwritten)
  try {
    process.exitCode = await runCommand(words)
  } catch (thrown) {
    process.exitCode = 1
    process.stderr.write(`${harmless(errorText(thrown, commandIn(words)?.options))}\n`)
  }
}

/** A reader such as `head` may leave early, and misses nothing. Processes that go on listen by themselves. */
function endUnwritten(this: NodeJS.WriteStream, error: Error): void {
  if (systemCode(error) === 'EPIPE' || this.listenerCount('error') > 1) return
  if (this === process.stdout) {
    process.stderr.write(`the output cannot be written (${systemCode(error)})\n`)
  }
  process.exit(1)
}

async function runCommand(words: readonly string[]): Promise<number> {
  const [first] = words
  if (first === undefined || first === 'help' || first === '--help' || first === '-h') {
    for (const line of help()) print(line)
    return 0
  }
  if (first === '--version') {
    print(buildNumber)
    return 0
  }
  const command = commandIn(words)
  if (command === undefined) return helpOfGroup(words)
  const rest = words.slice(command.name.split(' ').length)
  const given = readArguments(command, rest)
  if (!given.flags.has('help')) return command.run(given)
  for (const line of helpOf(command)) print(line)
  return 0
}

const commandIn = (words: readonly string[]): Command | undefined =>
  commands.find(({ name }) => name.split(' ').every((part, index) => words[index] === part))

/** `tollgate entity --help` shows its commands; a word that begins no command is a mistake. */
function helpOfGroup(words: readonly string[]): number {
  const [first = '', second] = words
  const group = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (group.length === 0) {
    throw new UsageError(`unknown command "${first}"; see tollgate --help`)
  }
  const names = group.map(({ name }) => name.slice(first.length + 1))
  if (second !== undefined && second !== '--help') {
    throw new UsageError(`unknown command "${first} ${second}"; ${first} has: ${names.join(', ')}`)
  }
  for (const line of group.flatMap((command) => [...helpOf(command), ''])) print(line)
  return second === undefined ? 1 : 0
}

function wholeUsageOf(command: Command): string {
  const optional = Object.entries(command.options ?? {}).flatMap(
    ([option, { value, isRequired }]) => {
      if (isRequired === true) return []
      return [value === undefined ? `[--${option}]` : `[--${option} <${value}>]`]
    },
  )
  return [usageOf(command), ...optional].join(' ')
}

function helpOf(command: Command): string[] {
  const options = Object.entries({ ...command.options, ...commonOptions }).map(
    ([name, { value, meaning }]) => [
      `  --${name}${value === undefined ? '' : ` <${value}>`}`,
      meaning,
    ],
  )
  const notes = command.notes === undefined ? [] : ['', command.notes]
  return [wholeUsageOf(command), '', command.summary, '', ...columns(options), ...notes]
}

function help(): string[] {
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
    ...columns(
      commands.map(({ name, words = [], summary }) => [`  ${[name, ...words].join(' ')}`, summary]),
    ),
    '',
    'Settings, as environment variables or in tollgate.config.ts:',
    ...columns(settings),
    '',
    'Help for one command: tollgate <command> --help',
  ]
}
