import { AN, C, excerpt, flag, group, none, O, R, request, response } from '../table.ts'
import { basic } from './basic.ts'
import { id32, timestamp } from './formats.ts'

/** Storing the instrument of a payment, and using a stored one. */
export const tokenization = group('', 'Tokenization', [
  ['createRegistration', flag, O, request, none, 'Stores the instrument; the answer has registrationId. Usable once the payment is approved.'],
  ['overrideHolder',     flag, O, request, none, 'Fills an empty holder of the registration with the holder of this request, for this payment only.'],
], [], 'tokenization')

/** The basic fields of a request about a registration, which moves no money. */
export const registration = excerpt(basic, [
  'paymentBrand', 'merchantTransactionId', 'merchantInvoiceId', 'merchantMemo', 'transactionCategory', 'locale',
  'testMode', 'entityId',
], 'registration', 'Registration request')

/** What deployed clients send about the purchase when they store an account. It travels with the verification. */
export const registrationPurchase = excerpt(basic, [
  'taxAmount', 'discountAmount', 'descriptor', 'promotionCode', 'transactionPurposeCode', 'integrationType',
], 'registration purchase', 'Purchase of a registration')

/** Additional fields of the answer about a registration. */
export const registrationResponse = group('', 'Registration answer', [
  // name           format     need direction class meaning
  ['id',            id32,      R,   response, none, 'Id of the registration.'],
  ['fingerprint',   AN(64),    C,   response, none, 'Same value for the same account number within one installation; reveals nothing about the number.', { because: 'An addition to the documented fields.' }],
  ['createdAt',     timestamp, C,   response, none, 'Time of storage.', { because: 'An addition to the documented fields.' }],
], [], 'registration response')

/**
 * Groups of instrument fields. On an operation with a stored instrument, neither their
 * `R` rows nor their conditions apply: a CVV, a holder or a new expiry can be sent alone.
 */
export const instrumentGroups: readonly string[] = ['card', 'bankAccount', 'virtualAccount', 'tokenAccount']
