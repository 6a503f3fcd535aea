/** The engine's operations as requests of Acme Bank. Pure: nothing here sends. */
import { type Kind, MissingReference, type Money, type Operation } from '@tollgate/plugin-kit'
import type { Fields } from './wire.ts'

export function payment(operation: Operation): Fields {
  const { amount, descriptor, instrument, key, merchantTransactionId } = operation
  // Unreachable while `supports.methods` is correct.
  if (instrument?.kind !== 'card') throw new Error('Acme Bank takes cards only')
  const { number, expiryMonth, expiryYear, holder, cvv } = instrument
  return {
    reference: key,
    type: typeOf(operation.kind),
    ...amountOf(amount),
    // DECIDE(card): names and forms of the card's fields.
    cardNumber: number,
    cardExpiry: `${expiryYear}-${expiryMonth}`,
    cardHolder: holder,
    cardCode: cvv,
    // DECIDE(texts): what of the merchant does the acquirer take?
    order: merchantTransactionId,
    descriptor,
    // #redirect
    returnUrl: operation.returnUrl,
    // #end
  }
}

export function followUp({ amount, key, kind, original }: Operation): Fields {
  const id = original?.refs.id
  if (id === undefined) throw new MissingReference('id')
  return { reference: key, type: typeOf(kind), original: id, ...amountOf(amount) }
}

// DECIDE(amount): minor units or decimals? See the formats in the guide. Currencies whose digits are not those of ISO 4217 belong in `exponents` of the sandbox, too: the suite tries only those.
const amountOf = ({ minor, currency }: Money) => ({ amount: String(minor), currency })

// DECIDE(types): the acquirer's words for the operations.
function typeOf(kind: Kind): string {
  switch (kind) {
    case 'authorize':
      return 'authorisation'
    case 'debit':
      return 'sale'
    case 'capture':
      return 'capture'
    case 'refund':
      return 'refund'
    case 'reverse':
      return 'cancellation'
    default:
      throw new Error(`Acme Bank has no ${kind}`)
  }
}
