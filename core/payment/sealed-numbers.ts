/** The numbers of a payment as its first commit stores them. */
import { electronicFormatIBAN } from 'ibantools'
import type { Engine } from '../engine.ts'
import type { KnownBy } from '../vault/fingerprints.ts'
import type { Sealed } from '../vault/vault.ts'
import { placeOf } from './instrument.ts'
import type { Payment } from './types.ts'

type Numbers = Readonly<Record<string, string>>

/** What stands for the account: the number it is known by, or the only one there is. */
function primaryOf(numbers: Numbers): KnownBy {
  const [other = ''] = Object.keys(numbers)
  const field = known.find((name) => numbers[name] !== undefined) ?? other
  const number = numbers[field] ?? ''
  return { field, number: field === 'bankAccount.iban' ? electronicFormatIBAN(number)! : number }
}

const known = ['card.number', 'tokenAccount.number', 'bankAccount.iban']

/**
 * Whether these numbers were stored for this merchant. Only the vault can make what says so, and what the
 * tables say of who is whose merchant is no part of it.
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

/** Sealed for this payment alone, with the fingerprint by which its merchant knows the account. */
export function sealNumbers(
  { vault }: Engine,
  merchantId: string,
  payment: Pick<Payment, 'id' | 'channelId' | 'registrationId'>,
  numbers: Numbers,
): Sealed & { readonly fingerprint: Buffer } {
  const fingerprint = vault.fingerprint(merchantId, primaryOf(numbers))
  return { ...vault.seal(placeOf(payment), numbers), fingerprint }
}
