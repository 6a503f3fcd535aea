/**
 * The stored form of an acquirer's reference. A message and a settlement line tell of one chargeback under one
 * reference, so both have to store it alike.
 */
import { maskIbans } from './bank-accounts.ts'
import { maskEscapedNumbers } from './mask.ts'

/** Keyed digest of a text: distinguishes texts without revealing them. */
export type Digest = (text: string) => string

/** The shortest card number has thirteen digits, and IBANs are longer. */
const shortestSecret = 13

/**
 * The id of a payment or the key of an attempt, also with a word or two before it. Some have a run of digits like
 * that of a card number.
 */
const ownId = /^(?:[a-z]{1,8}-){0,2}(?=[0-9]*[a-f])[0-9a-f]{32}$/i

/** Card numbers, also escaped ones, and IBANs of `text` keep their last four characters. */
export function maskedAccounts(text: string): string {
  if (ownId.test(text)) return text
  const storable = text.toWellFormed().replaceAll('\u0000', '\ufffd')
  return storable.length < shortestSecret ? storable : maskIbans(maskEscapedNumbers(storable))
}

/** Names of facts are references with a line break and a word behind, so no stored reference contains one. */
const invisible = /\p{C}/gu

/**
 * Trimmed; a reference that resembles a card number or an IBAN is masked, an invisible character is replaced, and a
 * digest keeps each of these distinct. Letters of either case give one digest, since a message and a line may spell one
 * chargeback differently.
 */
export function storedReference(reference: string, digest: Digest): string {
  const trimmed = reference.trim()
  const shown = maskedAccounts(trimmed).replace(invisible, '\ufffd')
  return shown === trimmed ? trimmed : `${shown}#${digest(trimmed.toLowerCase())}`
}
