/** What the attempts of a card tester have in common, taken from a payment. */
import type { Money, RequestFields } from '@tollgate/plugin-kit'
import { type Dimension, dimensions, type Thresholds } from '../entity/card-testing-settings.ts'
import { groupOf, textOf } from '../request/values.ts'
import { shopperAddress } from './shopper-address.ts'
import type { Key } from './windows.ts'

/** An attempt that is about to be made. */
export type Attempt = {
  readonly paymentId: string
  readonly channelId: string
  readonly merchantId: string
  readonly tokenId: string | undefined
  readonly fields: RequestFields
  readonly number: string
  /** Keyed hash of the number. */
  readonly fingerprint: Buffer
}

/** An attempt that this process makes. */
export type Trial = {
  readonly paymentId: string
  readonly keys: readonly Key[]
  /** Keyed hash of the number. */
  readonly number: string
}

/** A payment that was settled, as far as it tells of its card. */
export type SettledPayment = {
  readonly id: string
  readonly channelId: string
  readonly parentId: string | null
  readonly scheduleId: string | null
  readonly method: string | null
  readonly amount: Money
  readonly resultCode: string
  readonly request: Readonly<Record<string, unknown>>
}

/** What its end says about the card; `nothing` where people decided, or time did. */
export type CardWord = 'open' | 'approved' | 'declined' | 'nothing'

const binDigits = 6

export const valuesOf = (attempt: Attempt): Partial<Record<Dimension, string | undefined>> => ({
  number: attempt.fingerprint.toString('hex'),
  address: addressIn(attempt.fields),
  bin: attempt.number.slice(0, binDigits),
  channel: attempt.channelId,
  token: attempt.tokenId,
})

/** The same from the row of a payment, whoever made it: the token is not among it, nor a token account's BIN. */
export function storedValues(
  { channelId, request }: SettledPayment,
  fingerprint: Buffer | null,
): Partial<Record<Dimension, string | undefined>> {
  const fields = request as RequestFields
  return {
    number: fingerprint?.toString('hex'),
    address: addressIn(fields),
    bin: textOf(groupOf(fields, 'card'), 'bin'),
    channel: channelId,
  }
}

/** The address that the request names as the shopper's: never the one that the request came from. */
const addressIn = (fields: RequestFields): string | undefined =>
  shopperAddress(textOf(groupOf(fields, 'customer'), 'ip'))

export function keysOf(
  merchantId: string,
  values: Partial<Record<Dimension, string | undefined>>,
  thresholds: Thresholds,
): Key[] {
  return dimensions.flatMap((dimension) => {
    const value = values[dimension]
    return value === undefined || thresholds[dimension] === 0
      ? []
      : [{ merchantId, dimension, value }]
  })
}

/** How people are told which one it is: of a number what may be shown. */
export const shownOf = (key: Key, number: string): string =>
  key.dimension === 'number' ? `${number.slice(0, binDigits)}…${number.slice(-4)}` : key.value
