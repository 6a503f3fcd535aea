/** Settings and secrets of an acquirer account, as an operator gives them. */
import { text as textOf } from 'node:stream/consumers'
import type { ConnectorView, Gateway } from '@tollgate/core'
import type { Shell } from '../shell.ts'
import { type Given, type Option, UsageError } from './command.ts'
import { askHidden } from './hidden-prompt.ts'
import { secretIn } from './secret-file.ts'

export const settingsOption = {
  type: 'string',
  value: 'json',
  meaning: 'Settings of the connector as JSON, without secrets: {"merchantId":"4711"}.',
} as const

export const secretsOption: Readonly<Record<string, Option>> = {
  'secrets-file': {
    type: 'string',
    value: 'file',
    meaning:
      'File with the secrets as JSON, {"apiKey":"…"}, which only you may read. Default: a prompt that does not show them; without a terminal, JSON on standard input.',
  },
}

export function settingsOf({ options: { settings } }: Given): Record<string, unknown> {
  return settings === undefined
    ? {}
    : objectIn(settings, '--settings must be a JSON object: {"merchantId":"4711"}')
}

/** @throws UsageError */
function objectIn(json: string, sentence: string): Record<string, unknown> {
  try {
    const read: unknown = JSON.parse(json)
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) {
      return read as Record<string, unknown>
    }
  } catch {
    // The same sentence tells what would be right.
  }
  throw new UsageError(sentence)
}

type Settings = ConnectorView['settings']

export const settingsOfConnector = (gateway: Gateway, connector: string): Settings =>
  gateway.accounts.connectors().find(({ name }) => name === connector)?.settings ?? []

/** @throws UsageError, also for a secret among the settings of the command line. */
export async function secretsFor(
  given: Given,
  shell: Shell,
  settings: Settings,
  open: Readonly<Record<string, unknown>> = {},
): Promise<Record<string, unknown>> {
  const wanted = settings.filter(({ isSecret }) => isSecret)
  const shownSecret = wanted.find(({ name }) => open[name] !== undefined)
  if (shownSecret !== undefined) {
    throw new UsageError(
      `--settings must not have ${shownSecret.name}, because every user of this machine can read command lines; use --secrets-file or the prompt`,
    )
  }
  const file = await secretIn(given, shell, 'secrets-file')
  if (file !== undefined) {
    return objectIn(file, '--secrets-file must have a JSON object: {"apiKey":"…"}')
  }
  if (wanted.length === 0) return {}
  if (shell.stdin.isTTY === true) return prompted(shell, wanted)
  const sentence = `secrets are missing: give --secrets-file, or JSON with ${wanted.map(({ name }) => name).join(', ')} on standard input`
  return objectIn(await textOf(shell.stdin), sentence)
}

async function prompted(shell: Shell, wanted: Settings): Promise<Record<string, string>> {
  const answers = await askHidden(
    shell,
    wanted.map(({ name, meaning }) => `${name} (${meaning}) `),
  )
  return Object.fromEntries(
    wanted.flatMap(({ name }, at) => {
      const answer = answers[at] ?? ''
      return answer === '' ? [] : [[name, answer]]
    }),
  )
}
