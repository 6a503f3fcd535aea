/** The card number of a payment, by the digits of it that are kept: the first six and the last four. */
import { limits } from '@tollgate/schemas'
import { digitsOf } from '../redaction/card-numbers.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import type { Payment } from './types.ts'

export type OwnCard = { readonly bin: string; readonly last4: string }

/** Undefined for a payment without a card. */
export function ownCardOf({ request }: Pick<Payment, 'request'>): OwnCard | undefined {
  const { bin, last4Digits } = Object(request.card) as { bin?: unknown; last4Digits?: unknown }
  if (typeof bin !== 'string' || typeof last4Digits !== 'string') return undefined
  return { bin, last4: last4Digits }
}

/** The runs of digits in a text that can be the card's number. */
export function ownNumbersIn(text: string, { bin, last4 }: OwnCard): string[] {
  const { min, max } = limits.acquirerTextMaskedDigits
  return (text.match(/\d+/g) ?? []).filter(
    (digits) =>
      digits.length >= min &&
      digits.length <= max &&
      digits.startsWith(bin) &&
      digits.endsWith(last4),
  )
}

/**
 * A reference of an acquirer without the card's number, also with signs between the digits. Other lookalikes
 * stay: a reference can resemble a card number by chance, and returns to the acquirer with every digit.
 */
export function withoutOwnNumber(reference: string, card: OwnCard | undefined): string {
  if (card === undefined) return reference
  const digits = digitsOf(reference)
  const start = digits.indexOf(card.bin)
  const isOwn = start !== -1 && digits.lastIndexOf(card.last4) >= start + card.bin.length
  return isOwn ? maskCardNumbers(reference) : reference
}
