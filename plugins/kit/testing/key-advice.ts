import { currencyOf } from '@tollgate/schemas'
import { decimalOf } from '../amounts.ts'
import type { Operation } from '../connector.ts'
import type { Money } from '../outcome.ts'
import type { Attempt } from './http.ts'
import type { Booking } from './sandbox.ts'

/**
 * What is wrong with the key of an operation that was not done, for the end of a message. Empty when its key went out.
 *
 * @param keys those of all operations until now: a booking under another one comes of a request without its key.
 */
export function keyAdvice(
  { key, original }: Operation,
  attempts: readonly Attempt[],
  bookings: readonly Booking[],
  keys: ReadonlySet<string>,
): string {
  const stray = bookings.find((booking) => !keys.has(booking.key))
  if (stray !== undefined) {
    const under = stray.key ? `the key ${stray.key}` : 'no key'
    const was = `the acquirer booked ${shown(stray.amount)} under ${under}, not under operation.key`
    return `; ${was}: send operation.key with each request`
  }
  const sent = attempts.filter(({ moves, written }) => moves && written !== undefined)
  const ofOriginal = sent.flatMap(({ written }) =>
    Object.entries(written!.headers).filter(([, value]) => value === original?.key),
  )[0]
  if (original !== undefined && ofOriginal !== undefined) {
    return `; the header ${ofOriginal[0]} is the key of the ${original.kind}: send operation.key`
  }
  if (sent.length === 0 || sent.some((attempt) => holds(attempt, key))) return ''
  // Signed and encrypted bodies may hold it in other letters.
  const lacks = 'operation.key is not in the request, at least not as it is'
  if (original === undefined || !sent.some((attempt) => holds(attempt, original.key))) {
    return `; ${lacks}: send it with each request`
  }
  return `; ${lacks}, but the key of the ${original.kind} is: send operation.key with each request`
}

function holds({ written }: Attempt, key: string): boolean {
  const { url, headers, body } = written!
  return [url.href, ...Object.values(headers), body.toString()].some((text) => text.includes(key))
}

/** `92.00 EUR` */
const shown = (amount: Money): string =>
  `${currencyOf(amount.currency)?.exponent == null ? amount.minor : decimalOf(amount)} ${amount.currency}`
