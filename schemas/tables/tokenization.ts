import { AN, C, excerpt, flag, group, none, O, R, request, response } from '../table.ts'
import { basic } from './basic.ts'
import { id32, timestamp } from './formats.ts'

/** Storing the instrument of a payment, and using one that is stored. */
export const tokenization = group('', 'Tokenization', [
  ['createRegistration', flag, O, request, none, 'Stores the instrument; the answer carries registrationId. Usable once the payment is approved.'],
  ['overrideHolder',     flag, O, request, none, 'Lets a holder in this request fill an empty one of the registration, for this payment only.'],
], [], 'tokenization')

/** What a request about a registration itself takes of the basic fields: it moves no money. */
export const registration = excerpt(basic, [
  'paymentBrand', 'merchantTransactionId', 'merchantInvoiceId', 'merchantMemo', 'transactionCategory', 'locale',
  'testMode', 'entityId',
], 'registration', 'Registration request')

/** What an answer about a registration holds beyond that about a payment. */
export const registrationResponse = group('', 'Registration answer', [
  // name           format     need direction class meaning
  ['id',            id32,      R,   response, none, 'Id of the registration.'],
  ['fingerprint',   AN(64),    C,   response, none, 'The same for the same account number within one installation; tells nothing about the number.', { because: 'Given beyond the documented fields.' }],
  ['createdAt',     timestamp, C,   response, none, 'When it was stored.', { because: 'Given beyond the documented fields.' }],
], [], 'registration response')

/**
 * Groups that describe an instrument. On an operation that works with a stored one, neither their
 * `R` rows nor their conditions apply: it may send a CVV, a holder or a new expiry alone.
 */
export const instrumentGroups: readonly string[] = ['card', 'bankAccount', 'virtualAccount', 'tokenAccount']
