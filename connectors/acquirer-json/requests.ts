/** The engine's operations as requests of the bank. Pure: nothing here sends. */
import {
  type Instrument,
  type Kind,
  MissingReference,
  type Money,
  type Operation,
} from '@tollgate/plugin-kit'

/** Body of POST /payments. */
export function payment(operation: Operation): object {
  const { amount, descriptor, instrument, key, merchantTransactionId, returnUrl } = operation
  return {
    reference: key,
    type: typeOf(operation.kind),
    amount: amountOf(amount),
    // JSON omits absent fields.
    descriptor,
    order: merchantTransactionId,
    returnUrl,
    authentication: authenticationOf(operation.threeDSecure),
    ...(instrument === undefined ? {} : instrumentOf(instrument)),
  }
}

/** The values of the shopper's authentication; undefined without any. The proof stays `Sensitive`. */
function authenticationOf(values: Operation['threeDSecure'] = {}): object | undefined {
  const { authenticationStatus, eci, verificationId, dsTransactionId, version } = values
  if (authenticationStatus === undefined && eci === undefined) return undefined
  return { status: authenticationStatus, eci, proof: verificationId, dsTransactionId, version }
}

/** Body of POST /payments/{id}/captures and the other follow-ups. */
export function followUp({ amount, final, key }: Operation): object {
  return { reference: key, amount: amountOf(amount), final }
}

/** The path of a follow-up, which contains the bank's id of the original. */
export function pathOf({ kind, original }: Operation): string {
  const id = original?.refs.id
  if (id === undefined) throw new MissingReference('id')
  return `/payments/${encodeURIComponent(id)}/${collectionOf(kind)}`
}

/** Text, because a JSON number is not exact enough for money. The bank counts minor units too. */
const amountOf = ({ minor, currency }: Money) => ({ value: String(minor), currency })

function typeOf(kind: Kind): string {
  switch (kind) {
    case 'authorize':
      return 'authorisation'
    case 'debit':
      return 'sale'
    case 'credit':
      return 'payout'
    case 'verify':
      return 'check'
    default:
      throw new Error(`${kind} is not a first payment`)
  }
}

function collectionOf(kind: Kind): string {
  switch (kind) {
    case 'capture':
      return 'captures'
    case 'refund':
      return 'refunds'
    case 'reverse':
      return 'reversals'
    case 'increment':
      return 'increments'
    default:
      throw new Error(`${kind} is not a follow-up`)
  }
}

/**
 * Numbers stay `Sensitive`: `http` reveals them while it writes, and keeps them out of transcripts.
 */
function instrumentOf(instrument: Instrument): object {
  switch (instrument.kind) {
    case 'card': {
      const { number, expiryMonth, expiryYear, holder, cvv } = instrument
      return { card: { number, expiry: `${expiryYear}-${expiryMonth}`, holder, securityCode: cvv } }
    }
    case 'bankAccount':
      return { bankAccount: { iban: instrument.iban, holder: instrument.holder } }
    default:
      // Unreachable while `supports.methods` is correct.
      throw new Error(`the bank takes no ${instrument.kind}`)
  }
}
