/** The forms that single values of a settlement file can have. */
import type { Money } from '@tollgate/plugin-kit'
import { currencyOf } from '@tollgate/schemas'
import { type Digest, maskedAccounts } from '../redaction/references.ts'
import { storedName } from './stored-name.ts'

const mostRefs = 3
/** Characters of an acquirer's reference, and of a merchant's. */
export const mostInRef = 64
export const mostInOrder = 255
/** The largest amount: thirteen characters of the report, and more than any payment. */
const mostMinor = 10n ** 15n
const rateForm = /^[0-9]{1,10}(?:\.[0-9]{1,11})?$/

/** A value that the line cannot have. */
export class Unreadable extends Error {}

/** Trimmed and masked; null for an absent or empty value. */
export function text(name: string, given: unknown, least: number, most: number): string | null {
  const plain = plainText(name, given, least, most)
  return plain === null ? null : maskedAccounts(plain)
}

/** Trimmed, as it came otherwise: only for values that are never stored so. */
export function plainText(
  name: string,
  given: unknown,
  least: number,
  most: number,
): string | null {
  if (given === undefined || given === null) return null
  if (typeof given !== 'string') throw new Unreadable(`${name} must be a text`)
  const trimmed = given.trim()
  if (trimmed === '') return null
  const length = [...trimmed].length
  if (length < least || length > most) {
    throw new Unreadable(`${name} must have ${least} to ${most} characters, and has ${length}`)
  }
  return trimmed
}

/** A trimmed name; one that is masked has a digest, so that names stay distinct. */
export function nameOf(name: string, given: unknown, most: number, digest: Digest): string | null {
  const trimmed = plainText(name, given, 1, most)
  return trimmed === null ? null : storedName(trimmed, most, digest)
}

/** The same without trimming: reports show a reference as it came. */
export function asItCame(
  name: string,
  given: unknown,
  most: number,
  digest: Digest,
): string | null {
  const trimmed = plainText(name, given, 1, most)
  if (trimmed === null) return null
  const whole = given as string
  return storedName(whole.length > most ? trimmed : whole, most, digest)
}

export function refsOf(given: unknown, digest: Digest): (string | null)[] {
  if (given === undefined) return []
  if (!Array.isArray(given) || given.length > mostRefs) {
    throw new Unreadable(`refs must be a list of at most ${mostRefs} references`)
  }
  return given.map((ref, index) => asItCame(`refs[${index}]`, ref, mostInRef, digest))
}

export function needed(name: string, given: unknown, least: number, most: number): string {
  const value = text(name, given, least, most)
  if (value === null) throw new Unreadable(`${name} is missing`)
  return value
}

export function member<T extends string>(name: string, given: T, known: ReadonlySet<string>): T {
  if (!known.has(given)) throw new Unreadable(`${name} must be one of ${[...known].join(', ')}`)
  return given
}

export function minor(name: string, given: unknown): bigint {
  if (typeof given !== 'bigint') throw new Unreadable(`${name} must be a bigint of minor units`)
  if (given < 0n) throw new Unreadable(`${name} must not be negative: cashflow gives the direction`)
  if (given > mostMinor) throw new Unreadable(`${name} is larger than any payment`)
  return given
}

export function money(name: string, given: Money | undefined): Money {
  if (typeof given !== 'object' || given === null) throw new Unreadable(`${name} is missing`)
  const { currency } = given
  if (typeof currency !== 'string' || currencyOf(currency)?.exponent == null) {
    throw new Unreadable(`${name} must have an ISO 4217 currency`)
  }
  return { minor: minor(name, given.minor), currency }
}

/** Files have few different days. Bounded: a forged file can have many. */
const knownDays = new Set<string>()
const mostKnownDays = 1_000

export function day(name: string, given: unknown): string {
  if (typeof given === 'string' && knownDays.has(given)) return given
  const isDay = typeof given === 'string' && /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(given)
  const at = isDay ? new Date(`${given}T00:00:00Z`) : undefined
  const isReal = at !== undefined && !Number.isNaN(at.getTime())
  const isPlausible = isReal && at.getUTCFullYear() >= 1970 && at.getUTCFullYear() < 2200
  if (!isPlausible || at.toISOString().slice(0, 10) !== given) {
    throw new Unreadable(`${name} must be a calendar day such as 2026-03-31`)
  }
  if (knownDays.size >= mostKnownDays) knownDays.clear()
  knownDays.add(given as string)
  return given as string
}

export function wallTime(given: unknown): string {
  const form = /^([0-9]{4}-[0-9]{2}-[0-9]{2}) ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$/
  const parts = typeof given === 'string' ? form.exec(given) : null
  if (parts === null) throw new Unreadable('requestedAt must look like 2026-03-31 14:05:00')
  day('requestedAt', parts[1])
  return given as string
}

export function rate(given: unknown): string | null {
  if (given === undefined) return null
  if (
    typeof given !== 'string' ||
    given.length > 13 ||
    !rateForm.test(given) ||
    Number(given) === 0
  ) {
    throw new Unreadable(
      'fxRate must be a positive decimal number such as 1.083412, at most 13 characters',
    )
  }
  return given
}
