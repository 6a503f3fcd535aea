import { PluginError } from '@tollgate/plugin-kit'
import type { Field, Format, Group } from '@tollgate/schemas'
import { suggest, vocabularyOf } from '../near-name.ts'
import { checkUrl } from '../net/address.ts'
import { type ConnectorReach, connectorRules } from './reach.ts'

/** What is wrong with one setting. */
export type SettingProblem = { readonly name: string; readonly message: string }

/**
 * Checks settings against their table and converts them to their types.
 *
 * @throws PluginError naming every missing, unknown or wrong setting. Values of class `secret` are
 * never repeated.
 */
export function checkSettings(
  table: Group,
  given: Readonly<Record<string, unknown>>,
  where: string,
): Readonly<Record<string, unknown>> {
  const { read, problems } = readSettings(table, given)
  if (problems.length === 0) return read
  const told = problems.map(({ name, message }) => `${where}.${name} ${message}`)
  throw new PluginError('bad-setting', told.join('; '))
}

/** The same for a caller who has more to check: unknown settings first, then the others in the order of the table. */
export function readSettings(
  table: Group,
  given: Readonly<Record<string, unknown>>,
): { read: Readonly<Record<string, unknown>>; problems: readonly SettingProblem[] } {
  const problems: SettingProblem[] = []
  const known = new Set(table.fields.map((field) => field.name))
  for (const name of Object.keys(given)) {
    if (known.has(name)) continue
    const meant = suggest(name, vocabularyOf(known))
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    problems.push({ name, message: `is no setting${hint} (known: ${[...known].join(', ')})` })
  }
  const read: Record<string, unknown> = {}
  for (const field of table.fields) {
    const { name } = field
    const raw = given[name] ?? field.options.default
    if (raw === undefined || raw === '') {
      if (field.need === 'R') problems.push({ name, message: `is missing: ${field.meaning}` })
      continue
    }
    const value = typed(field.format, raw)
    if (value !== undefined) read[name] = value
    else problems.push({ name, message: `${shown(field, raw)} ${expected(field.format)}` })
  }
  return { read: Object.freeze(read), problems }
}

/**
 * Refuses a URL to which no request can go: each one would fail, and each payment with it. On live, settings for
 * the test environment, and the connector's own defaults, are no reason to refuse a start.
 *
 * @throws PluginError naming every such setting.
 */
export function refuseUnreachable(
  table: Group,
  read: Readonly<Record<string, unknown>>,
  where: string,
  reach: ConnectorReach,
): void {
  const rules = connectorRules(reach)
  const isLive = reach.environment === 'live'
  const problems = table.fields.flatMap((field) => {
    const url = read[field.name]
    if (field.format.kind !== 'url' || typeof url !== 'string') return []
    if (isLive && (field.options.testOnly || url === field.options.default)) return []
    const check = checkUrl(url, rules)
    return check.ok ? [] : [`${where}.${field.name} ${shown(field, url)} ${check.why}`]
  })
  if (problems.length > 0) throw new PluginError('bad-setting', problems.join('; '))
}

/** Whether a text has the form of a setting or of a connector's own parameter. */
export const fitsFormat = (format: Format, text: string): boolean =>
  typed(format, text) !== undefined

function shown(field: Field, raw: unknown): string {
  const isSecret = field.class !== 'none'
  const text = field.format.kind === 'url' ? place(String(raw)) : String(raw)
  return isSecret || text === undefined ? 'is wrong:' : `is "${text.slice(0, 64)}":`
}

/** Before it may stand a password, in whatever spelling of a URL. */
const atSign = /[@\uff20\ufe6b]|%40/i

/** Where a URL leads. Its parameters may hold a key, and nobody knows what is what in one that cannot be read. */
function place(text: string): string | undefined {
  const url = atSign.test(text) ? null : URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  return `${url.protocol}//${url.host}${url.pathname === '/' ? '' : url.pathname}`
}

function typed(format: Format, raw: unknown): unknown {
  const text = String(raw)
  switch (format.kind) {
    case 'flag':
      return text === 'true' ? true : text === 'false' ? false : undefined
    case 'integer': {
      const number = Number(text)
      const fits = /^-?[0-9]+$/.test(text) && number >= format.min && number <= format.max
      return fits ? number : undefined
    }
    case 'choice':
      return format.of.includes(text) ? text : undefined
    case 'url':
      return URL.canParse(text) && /^https?:/.test(text) && text.length <= format.max
        ? text
        : undefined
    case 'pattern':
      return new RegExp(`^(?:${format.pattern})$`, 'u').test(text) ? text : undefined
    case 'text':
    case 'digits':
    case 'letters':
      return text.length >= format.min &&
        text.length <= format.max &&
        (format.kind !== 'digits' || /^[0-9]+$/.test(text))
        ? text
        : undefined
    default:
      return text
  }
}

function expected(format: Format): string {
  switch (format.kind) {
    case 'flag':
      return 'use true or false'
    case 'integer':
      return `use a whole number from ${format.min} to ${format.max}`
    case 'choice':
      return `use one of ${format.of.join(', ')}`
    case 'url':
      return `use an absolute http or https URL of at most ${format.max} characters`
    case 'pattern':
      return `must match ${format.pattern}`
    case 'text':
    case 'digits':
    case 'letters':
      return `use ${format.min} to ${format.max} ${format.kind === 'digits' ? 'digits' : 'characters'}`
    default:
      return `must be a ${format.kind}`
  }
}
