/** Seals the numbers of a payment for its first commit. */
import { electronicFormatIBAN } from 'ibantools'
import type { Engine } from '../engine.ts'
import type { KnownBy } from '../vault/fingerprints.ts'
import type { Sealed } from '../vault/vault.ts'
import { placeOf } from './instrument.ts'
import type { Payment } from './types.ts'

type Numbers = Readonly<Record<string, string>>

/** The number that identifies the account, or its only number. */
function primaryOf(numbers: Numbers): KnownBy {
  const [other = ''] = Object.keys(numbers)
  const field = known.find((name) => numbers[name] !== undefined) ?? other
  const number = numbers[field] ?? ''
  return { field, number: field === 'bankAccount.iban' ? electronicFormatIBAN(number)! : number }
}

const known = ['card.number', 'tokenAccount.number', 'bankAccount.iban']

/**
 * Whether the vault sealed these numbers for this merchant. The seal itself proves the merchant;
 * the tables of entities have no part in the proof.
 */
export async function storedFor(
  { vault }: Engine,
  merchantId: string,
  numbers: Numbers,
  fingerprint: Buffer | null,
): Promise<boolean> {
  if (fingerprint === null) return false
  return vault.isFingerprint(merchantId, primaryOf(numbers), fingerprint)
}

/**
 * Seals numbers for this payment alone, with the fingerprint that identifies the account to its
 * merchant.
 */
export function sealNumbers(
  { vault }: Engine,
  merchantId: string,
  payment: Pick<Payment, 'id' | 'channelId' | 'registrationId'>,
  numbers: Numbers,
): Sealed & { readonly fingerprint: Buffer } {
  const fingerprint = vault.fingerprint(merchantId, primaryOf(numbers))
  return { ...vault.seal(placeOf(payment), numbers), fingerprint }
}
