/** The shared features of a card tester's attempts, taken from a payment. */
import type { Money, RequestFields } from '@tollgate/plugin-kit'
import { type Dimension, dimensions, type Thresholds } from '../entity/card-testing-settings.ts'
import { groupOf, textOf } from '../request/values.ts'
import { shopperAddress } from './shopper-address.ts'
import type { Key } from './windows.ts'

/** An attempt before its begin. */
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

/** An attempt of this process. */
export type Trial = {
  readonly paymentId: string
  readonly keys: readonly Key[]
  /** Keyed hash of the number. */
  readonly number: string
}

/** The columns of a settled payment that concern its card. */
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

/** The result's meaning for the card; `nothing` for decisions by people or time. */
export type CardWord = 'open' | 'approved' | 'declined' | 'nothing'

const binDigits = 6

export const valuesOf = (attempt: Attempt): Partial<Record<Dimension, string | undefined>> => ({
  number: attempt.fingerprint.toString('hex'),
  address: addressIn(attempt.fields),
  bin: attempt.number.slice(0, binDigits),
  channel: attempt.channelId,
  token: attempt.tokenId,
})

/** The same from a payment's row, without the token and without the BIN of a token account. */
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

/** The shopper's address in the request, never the address of the client. */
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

/** The name of a key for people: of a number only its visible digits. */
export const shownOf = (key: Key, number: string): string =>
  key.dimension === 'number' ? `${number.slice(0, binDigits)}…${number.slice(-4)}` : key.value
