/** Settings of acquirer accounts: checked as a person gives them, split into open and secret ones, and shown. */
import type { Field } from '@tollgate/schemas'
import type { Loaded } from '../connector/registry.ts'
import { readSettings } from '../connector/settings.ts'
import { GatewayError, type ParameterError } from '../errors.ts'
import { suggest, vocabularyOf } from '../near-name.ts'
import { type Facts, Whole } from '../redaction/harmless.ts'

type Given = Readonly<Record<string, unknown>>

export const isOpen = ({ class: kind }: Pick<Field, 'class'>) => kind === 'none'

export const fieldsOf = ({ connector }: Loaded): readonly Field[] => connector.account?.fields ?? []

export type AccountSettings = {
  readonly open: Record<string, unknown>
  readonly secrets: Record<string, string>
}

/** The refusal of an account, with everything that is wrong in it. */
export const wrongFields = (problems: readonly ParameterError[]): GatewayError =>
  new GatewayError('200.300.404', {
    parameterErrors: problems,
    description: problems.map(({ name, message }) => `${name} ${message}`).join('; '),
  })

/**
 * Reads the settings of an account, split into open and secret ones. Stored ones need less than those that a
 * person gives now: an account with an older value keeps working, and its other settings can be changed.
 *
 * @param given what a person gives now, under the name `as`.
 * @param all the same with stored ones.
 * @returns also everything that is wrong. A value, or a given name that is no setting, is never repeated: it may
 * be a secret in the wrong place.
 */
export function readAccount(
  loaded: Loaded,
  given: Given,
  all: Given = given,
  as: 'settings' | 'secrets' = 'settings',
): AccountSettings & { readonly problems: readonly ParameterError[] } {
  const { account, name: connector } = loaded.connector
  if (account === undefined) {
    const message = `must be empty: ${connector} has no settings`
    const problems = Object.keys(all).length === 0 ? [] : [{ name: 'settings', message }]
    return { open: {}, secrets: {}, problems }
  }
  const { fields } = account
  const { read, problems } = readSettings(account, all)
  const own = new Map(
    fields.flatMap((field) => {
      const problem = problemOf(field, given[field.name])
      return problem === undefined ? [] : [[field.name, problem] as const]
    }),
  )
  const others = problems.filter(({ name }) => !own.has(name) && !isUnknown(fields, given, name))
  const wrong = new Map([...own, ...others.map(({ name, message }) => [name, message] as const)])
  const open: Record<string, unknown> = {}
  const secrets: Record<string, string> = {}
  for (const field of fields) {
    const value = read[field.name]
    if (value === undefined) continue
    if (isOpen(field)) open[field.name] = value
    else secrets[field.name] = String(value)
  }
  const isSecret = (name: string) => fields.some((one) => one.name === name && !isOpen(one))
  return {
    open,
    secrets,
    problems: [
      ...unknownSetting(fields, given, as),
      ...[...wrong].map(([name, message]) => ({
        name: `${isSecret(name) ? as : 'settings'}.${name}`,
        message,
      })),
    ],
  }
}

const isUnknown = (fields: readonly Field[], given: Given, name: string) =>
  Object.hasOwn(given, name) && !fields.some((field) => field.name === name)

function unknownSetting(fields: readonly Field[], given: Given, as: string): ParameterError[] {
  const unknown = Object.keys(given).filter((name) => isUnknown(fields, given, name))
  if (unknown.length === 0) return []
  const known = fields.map(({ name }) => name)
  const meant = unknown.flatMap((name) => suggest(name, vocabularyOf(known)) ?? [])
  const hint = meant.length === 0 ? '' : `; did you mean ${meant.join(', ')}?`
  const message = `has a name that is no setting${hint} (known: ${known.join(', ')})`
  return [{ name: as, message }]
}

function problemOf(field: Field, value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'object') return 'must be a text, a number, true or false'
  const text = String(value)
  // Neither a text of Postgres nor a header of HTTP can hold these.
  if (!text.isWellFormed()) return 'has half of a surrogate pair: use whole characters'
  const shown = hasLines(field, text) ? text.replace(lineBreaks, '') : text
  if (controls.test(shown)) {
    return 'must have no control characters, such as a line break at its end'
  }
  if (!isOpen(field)) return undefined
  // Files often hold a certificate together with its key. Answers and the audit trail would show it for ever.
  if (privateKey.test(text)) return 'has a private key, which answers would show: leave it out'
  if (invisible.test(shown)) {
    return 'must have no invisible characters, such as marks of the writing direction'
  }
  return undefined
}

const privateKey = /PRIVATE KEY-----/i
const controls = /\p{Cc}/u
/** With one of these, a second person could see the old text, or another one. */
const invisible = /[\p{Cf}\p{Zl}\p{Zp}]/u
const lineBreaks = /[\t\r\n]/g

/** Certificates and keys in PEM have lines, whatever their table says. */
const hasLines = ({ format }: Field, text: string) =>
  (format.kind === 'text' && format.multiline === true) || text.startsWith('-----BEGIN ')

/**
 * Open settings as the trail and a second person see them: whole, for a mask would hide which merchant number a
 * change is about. One in ten merchant numbers has the check digit of a card number.
 */
export const shownSettings = (open: Given): Facts =>
  Object.fromEntries(Object.entries(open).map(([name, value]) => [name, new Whole(value)]))
