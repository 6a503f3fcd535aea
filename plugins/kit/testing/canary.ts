import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import type { Connector, Operation } from '../connector.ts'
import { Sensitive } from '../sensitive.ts'

/** A value that must not appear anywhere, and its name. */
export type Canary = { readonly name: string; readonly value: string }

/** Shorter values are part of others by chance. */
const short = 6

/** Every secret of an operation. */
export function canariesOf({ instrument, threeDSecure }: Operation): readonly Canary[] {
  return [instrument ?? {}, threeDSecure ?? {}].flatMap((group) =>
    Object.entries(group).flatMap(([name, value]: [string, unknown]) =>
      Sensitive.is(value) ? [{ name, value: String(value.reveal()) }] : [],
    ),
  )
}

/** The settings of class secret, of a connector or an authenticator. */
export function secretsOf(
  { config, account }: Pick<Connector, 'config' | 'account'>,
  values: {
    readonly config: Readonly<Record<string, unknown>>
    readonly account: Readonly<Record<string, unknown>>
  },
): readonly Canary[] {
  const within = (part: 'config' | 'account', table: Connector['config']) =>
    (table?.fields ?? [])
      .filter((field) => field.class === 'secret' && values[part][field.name] !== undefined)
      .map(({ name }) => ({ name: `${part}.${name}`, value: String(values[part][name]) }))
  return [...within('config', config), ...within('account', account)]
}

/**
 * The first secret found in a value, or undefined. A number written backwards would pass, but a
 * grouped, encoded or unkeyed-hashed one does not, because all those can be turned back into the
 * number.
 */
export function leakIn(what: unknown, canaries: readonly Canary[]): string | undefined {
  const text = typeof what === 'string' ? what : readable(what)
  const squeezed = text.replaceAll(/[ -]/g, '')
  for (const { name, value } of canaries) {
    const [, ...encoded] = spellings(value)
    const isThere =
      value.length < short
        ? standsAlone(text, value)
        : text.includes(value) || squeezed.includes(value) || encoded.some((s) => text.includes(s))
    if (isThere) return name
  }
  return undefined
}

/** Whether a value stands alone, and not within a number, a word or a time. */
function standsAlone(text: string, value: string): boolean {
  const joins = (character: string | undefined) => /[0-9A-Za-z.:-]/.test(character ?? ' ')
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
    if (!joins(text[at - 1]) && !joins(text[at + value.length])) return true
  }
  return false
}

/** Errors with their messages, and objects with the properties that JSON omits. */
function readable(what: unknown): string {
  return inspect(what, { depth: 8, maxArrayLength: 1000, maxStringLength: 100_000, compact: true })
}

function spellings(value: string): readonly string[] {
  const bytes = Buffer.from(value)
  const hashes = ['md5', 'sha1', 'sha256', 'sha512'].flatMap((name) => {
    const digest = createHash(name).update(value).digest()
    return [digest.toString('hex'), digest.toString('base64')]
  })
  const plain = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]
  return [...new Set([...plain, bytes.toString('hex'), ...base64(value), ...hashes])]
}

/** The part of base64 that is the same at every position of the value in a longer text. */
function base64(value: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.from(`${' '.repeat(offset)}${value}`).toString('base64')
    const from = offset === 0 ? 0 : offset + 1
    const whole = text.replaceAll('=', '').slice(from, -1)
    return [whole, whole.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

/** A text without the secrets known to an engine, in all spellings that it finds. */
export function scrubbed(text: string, secrets: readonly string[]): string {
  const known = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    new URLSearchParams({ v: secret }).toString().slice(2),
  ])
  return known
    .sort((one, other) => other.length - one.length)
    .reduce((all, secret) => (secret === '' ? all : all.replaceAll(secret, '[sensitive]')), text)
}
