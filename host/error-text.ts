import type { GatewayError } from '@tollgate/core'
import type { Command } from './commands/command.ts'

/**
 * Mistakes that a sentence explains; everything else is a fault of ours and needs its stack. By name: the classes
 * would load the engine, which most mistakes do not need.
 */
const explained: ReadonlySet<string> = new Set([
  'UsageError',
  'SettingsError',
  'KeysError',
  'DatabaseError',
  'ListenError',
  'MissingKeyError',
  'KeyProviderError',
  'RotationError',
  'MigrationError',
  'ConfirmationNeededError',
  'ProposalError',
  'OptionsError',
  'PluginError',
  'PoolerError',
])

/** What a command says about an error: one line about a mistake, with its stack about a fault of ours. */
export function errorText(thrown: unknown, options: Command['options'] = {}): string {
  if (!(thrown instanceof Error)) return String(thrown)
  if (isRefusal(thrown)) return refusalText(thrown, options)
  if (explained.has(thrown.name)) return thrown.message
  // A plugin says with an error of its own which of its options is wrong: MetricsOptionsError, for example.
  if (thrown.name.endsWith('OptionsError')) return thrown.message
  // The engine says with a plain Error what is wrong with an argument, a database or its environment.
  if (thrown.constructor === Error) return inOptions(thrown.message, options)
  return thrown.stack ?? thrown.message
}

const isRefusal = (thrown: Error): thrown is GatewayError => thrown.name === 'GatewayError'

/** A refusal of the engine with each parameter that is wrong, by the name of its option. */
function refusalText(
  { code, message, parameterErrors }: GatewayError,
  options: NonNullable<Command['options']>,
): string {
  const isUnknown = parameterErrors.some(
    ({ name, message }) => name === 'entityId' && message.startsWith('is unknown'),
  )
  // The engine may speak of an access token, which a command line does not have.
  if ((isUnknown || code === '800.900.300') && options.entity !== undefined) {
    return 'there is no entity with the id of --entity: tollgate entity list'
  }
  const wrong = parameterErrors.map((one) => `${optionOf(one.name, options)} ${one.message}`)
  const isSaid = parameterErrors.some((one) => message === `${one.name} ${one.message}`)
  if (isSaid) return wrong.join('; ')
  return inOptions(wrong.length === 0 ? message : `${message}: ${wrong.join('; ')}`, options)
}

/** A field of the engine is an option on the command line: `parentId` is `--parent`. */
function optionOf(field: string, options: NonNullable<Command['options']>): string {
  const option = Object.keys(options).find((name) => field === name || field === `${name}Id`)
  return option === undefined ? field : `--${option}`
}

const inOptions = (text: string, options: NonNullable<Command['options']>): string =>
  text.replaceAll(/\b[a-z]+Id\b/g, (field) => optionOf(field, options))
