/** Settings of acquirer accounts: checked as a person gives them, split into open and secret ones, and shown. */
import { PluginError } from '@tollgate/plugin-kit'
import type { Field } from '@tollgate/schemas'
import type { Loaded } from '../connector/registry.ts'
import { checkSettings } from '../connector/settings.ts'
import { suggest, vocabularyOf } from '../near-name.ts'
import { type Facts, Whole } from '../redaction/harmless.ts'

type Given = Readonly<Record<string, unknown>>

export const isOpen = ({ class: kind }: Pick<Field, 'class'>) => kind === 'none'

export const fieldsOf = ({ connector }: Loaded): readonly Field[] => connector.account?.fields ?? []

/**
 * Checks settings that a person gives now. Stored ones are not checked again: an account with an older value
 * keeps working, and its other settings can be changed.
 *
 * @throws PluginError naming every wrong setting. A value, or a name that is no setting, is never repeated: it
 * may be a secret in the wrong place.
 */
export function checkGiven(loaded: Loaded, given: Given): void {
  const fields = fieldsOf(loaded)
  const where = `account of ${loaded.connector.name}`
  const names = Object.keys(given)
  const problems = fields.flatMap((field) => {
    const problem = Object.hasOwn(given, field.name)
      ? problemOf(field, given[field.name])
      : undefined
    return problem === undefined ? [] : [`${where}.${field.name} ${problem}`]
  })
  const known = fields.map(({ name }) => name)
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) {
    const meant = unknown.flatMap((name) => suggest(name, vocabularyOf(known)) ?? [])
    const hint = meant.length === 0 ? '' : `; did you mean ${meant.join(', ')}?`
    problems.push(`${where} has a name that is no setting${hint} (known: ${known.join(', ')})`)
  }
  if (problems.length > 0) throw new PluginError('bad-setting', problems.join('; '))
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

/** All settings of an account, checked together. @throws PluginError naming every wrong setting */
export function splitSettings(
  loaded: Loaded,
  all: Given,
): { open: Record<string, unknown>; secrets: Record<string, string> } {
  const { account, name } = loaded.connector
  const checked = account === undefined ? {} : checkSettings(account, all, `account of ${name}`)
  const open: Record<string, unknown> = {}
  const secrets: Record<string, string> = {}
  for (const field of fieldsOf(loaded)) {
    const value = checked[field.name]
    if (value === undefined) continue
    if (isOpen(field)) open[field.name] = value
    else secrets[field.name] = String(value)
  }
  return { open, secrets }
}

/**
 * Open settings as the trail and a second person see them: whole, for a mask would hide which merchant number a
 * change is about. One in ten merchant numbers has the check digit of a card number.
 */
export const shownSettings = (open: Given): Facts =>
  Object.fromEntries(Object.entries(open).map(([name, value]) => [name, new Whole(value)]))
