/** The instrument of a payment, from the request or from the vault. */
import {
  type BankAccount,
  type Card,
  type Instrument,
  type RequestFields,
  Sensitive,
  type TokenAccount,
} from '@tollgate/plugin-kit'
import type { CheckedAccount } from '../request/account.ts'
import { groupOf, textOf } from '../request/values.ts'
import type { Place } from '../vault/binding.ts'
import type { Payment } from './types.ts'

/** The vault binds a payment's sealed numbers to this place. */
export const placeOf = (payment: Pick<Payment, 'id' | 'channelId' | 'registrationId'>): Place => ({
  table: 'instrument',
  id: payment.id,
  ownerId: payment.channelId,
  registrationId: payment.registrationId,
})

type Optional<Fields> = { [Name in keyof Fields]: Fields[Name] | undefined }

/** Drops absent fields, so that `in` and `??` work in connectors. */
function given<Fields extends object>(fields: Optional<Fields>): Fields {
  // A new object: an object with deleted properties takes eight times the memory.
  const present: Partial<Fields> = {}
  for (const name in fields) if (fields[name] !== undefined) present[name] = fields[name]
  return present as Fields
}

const hidden = (value: string | undefined) =>
  value === undefined ? undefined : new Sensitive(value)

/** @param numbers values of class pan by full name, from the request or the vault. */
function build(
  kind: Instrument['kind'],
  brand: string,
  fields: RequestFields,
  numbers: Readonly<Record<string, string>>,
): Instrument | undefined {
  const group = groupOf(fields, kind)
  switch (kind) {
    case 'card': {
      const number = numbers['card.number']
      if (number === undefined) return undefined
      return given<Card>({
        kind,
        brand,
        number: new Sensitive(number),
        bin: number.slice(0, 6),
        last4: number.slice(-4),
        expiryMonth: textOf(group, 'expiryMonth') ?? '',
        expiryYear: textOf(group, 'expiryYear') ?? '',
        holder: textOf(group, 'holder'),
        cvv: hidden(textOf(group, 'cvv')),
        numberType: textOf(group, 'numberType') as Card['numberType'],
      })
    }
    case 'bankAccount': {
      const number = numbers['bankAccount.iban'] ?? numbers['bankAccount.number']
      if (number === undefined) return undefined
      return given<BankAccount>({
        kind,
        brand,
        holder: textOf(group, 'holder') ?? '',
        iban: hidden(numbers['bankAccount.iban']),
        number: hidden(numbers['bankAccount.number']),
        bankCode: textOf(group, 'bankCode'),
        bic: textOf(group, 'bic'),
        bankName: textOf(group, 'bankName'),
        country: textOf(group, 'country'),
        last4: number.slice(-4),
      })
    }
    case 'virtualAccount': {
      const accountId = textOf(group, 'accountId')
      return accountId === undefined ? undefined : { kind, brand, accountId }
    }
    case 'tokenAccount': {
      const number = numbers['tokenAccount.number']
      if (number === undefined) return undefined
      return given<TokenAccount>({
        kind,
        brand,
        number: new Sensitive(number),
        type: textOf(group, 'type') === 'NETWORK' ? 'NETWORK' : 'EXTERNAL',
        last4: number.slice(-4),
        expiryMonth: textOf(group, 'expiryMonth'),
        expiryYear: textOf(group, 'expiryYear'),
        cryptogram: hidden(textOf(group, 'cryptogram')),
        dtvc: hidden(textOf(group, 'dtvc')),
      })
    }
  }
}

/** The instrument of a checked request. */
export function instrumentOf(
  account: CheckedAccount,
  fields: RequestFields,
  numbers: Readonly<Record<string, string>>,
): Instrument | undefined {
  if (account.kind === 'none' || account.kind === 'wallet') return undefined
  return build(account.kind, account.brand.code, fields, numbers)
}

/** The instrument of a stored payment, without its security code, which is never stored. */
export function storedInstrument(
  payment: Payment,
  numbers: Readonly<Record<string, string>>,
): Instrument | undefined {
  const fields = payment.request as RequestFields
  for (const kind of ['card', 'bankAccount', 'tokenAccount', 'virtualAccount'] as const) {
    if (groupOf(fields, kind) === undefined) continue
    const found = build(kind, payment.brand ?? '', fields, numbers)
    if (found !== undefined) return found
  }
  return undefined
}

/** The visible digits of an instrument: first six and last four of a card, else the last four. */
export function shownNumbers(
  numbers: Readonly<Record<string, string>>,
): Record<string, Record<string, string>> {
  const shown: Record<string, Record<string, string>> = {}
  const card = numbers['card.number']
  if (card !== undefined) shown.card = { bin: card.slice(0, 6), last4Digits: card.slice(-4) }
  const bank = numbers['bankAccount.iban'] ?? numbers['bankAccount.number']
  if (bank !== undefined) shown.bankAccount = { last4Digits: bank.slice(-4) }
  const token = numbers['tokenAccount.number']
  if (token !== undefined) shown.tokenAccount = { last4Digits: token.slice(-4) }
  return shown
}
