/** Facts of a connector that no acquirer can have. */
import { brandOf, currencyOf } from '@tollgate/schemas'
import type { KeyPromise, Kind, Supports } from './connector.ts'

/** Shorter keys repeat by chance. */
const shortestKey = 12
const longestKey = 64

/** The first fact that cannot be, as the end of a sentence; undefined when all can. */
export function impossibleFact(supports: Supports): string | undefined {
  const { brands, currencies, methods, key, keyFormat, enquiryVisibleAfterMs } = supports
  const list = (name: string, given: unknown, isOne: (one: string) => boolean) => {
    if (given === 'any') return undefined
    if (!Array.isArray(given)) return `supports.${name} must be a list, or 'any'`
    const other = given.find((one) => typeof one !== 'string' || !isOne(one))
    return other === undefined ? undefined : `supports.${name} has ${String(other)}, which is none`
  }
  const wrong =
    list('brands', brands, (brand) => brandOf(brand) !== undefined) ??
    list('currencies', currencies, (currency) => currencyOf(currency) !== undefined)
  if (wrong !== undefined) return wrong
  if (!Array.isArray(methods)) return 'supports.methods must be a list'
  if (!(Number.isFinite(enquiryVisibleAfterMs) && enquiryVisibleAfterMs >= 0)) {
    return `supports.enquiryVisibleAfterMs must be milliseconds from 0, not ${String(enquiryVisibleAfterMs)}`
  }
  if (typeof key !== 'function' && !isPromise(key)) {
    return "supports.key must be { by: 'none' }, or { by: 'key', ttlMs } with a time above 0"
  }
  if (keyFormat === undefined) return undefined
  const { alphabet, length } = keyFormat
  const isKnown = ['hex', 'alphanumeric', 'digits'].includes(alphabet)
  const fits = Number.isInteger(length) && length >= shortestKey && length <= longestKey
  if (isKnown && fits) return undefined
  return `supports.keyFormat must have the alphabet hex, alphanumeric or digits, and a length of ${shortestKey} to ${longestKey}`
}

const isPromise = (key: KeyPromise | undefined): key is KeyPromise =>
  key?.by === 'none' || (key?.by === 'key' && key.ttlMs > 0)

/** What an acquirer promises about the keys of a kind, for an account. A function that fails promises nothing. */
export function keyPromise(
  { key }: Pick<Supports, 'key'>,
  kind: Kind,
  account: Readonly<Record<string, unknown>>,
): KeyPromise {
  if (typeof key !== 'function') return key
  try {
    const promise = key(kind, account)
    return isPromise(promise) ? promise : { by: 'none' }
  } catch {
    return { by: 'none' }
  }
}
