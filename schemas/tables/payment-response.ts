import { A, AN, amount, C, country, currency, date, excerpt, type Format, flag, group, match, N, none, O, oneOf, person, R, response, sad, together } from '../table.ts'
import { bic, id32, merchantReference, month, openKey, shortId, timestamp, year } from './formats.ts'

const brand: Format = { kind: 'brand' }
const paymentType: Format = { kind: 'payment-type' }
const resultCode = match('[0-9.]{2,11}', '000.100.110', 2, 11)
const score: Format = { kind: 'decimal', integer: 5, fraction: 0, signed: true }
const lastFour = match('[a-zA-Z0-9]{4}', '4242', 4, 4)
const requestNumber = match('[a-zA-Z0-9.-]{1,69}', '8a82944a4cc25ebf-9f3c', 1, 69)
const beyond = 'An addition to the documented fields.'

const record = group('', 'Payment', [
  // name                   format             need direction class meaning
  ['id',                    id32,              R,   response, none, 'Id of the payment or registration; of the request without a resource.'],
  ['shortId',               shortId,           C,   response, none, 'Short number of the payment, for people.', { because: beyond }],
  ['referencedId',          id32,              C,   response, none, 'Payment that a follow-up refers to.'],
  ['paymentBrand',          brand,             C,   response, none, 'Brand of the payment.'],
  ['paymentType',           paymentType,       C,   response, none, 'Payment type of this record.'],
  ['amount',                amount,            C,   response, none, 'Approved amount.'],
  ['currency',              currency,          C,   response, none, 'Currency of that amount.'],
  ['taxAmount',             amount,            C,   response, none, 'Tax contained in the amount, as sent.', { because: beyond }],
  ['discountAmount',        amount,            C,   response, none, 'Discount on the whole invoice, as sent.', { because: beyond }],
  ['descriptor',            AN(127),           C,   response, none, 'Text on the statement.'],
  ['merchantTransactionId', merchantReference, C,   response, none, 'Reference sent by the merchant.', { because: beyond }],
  ['registrationId',        id32,              C,   response, none, 'Registration created or used.'],
  ['settlement.date',       date,              C,   response, none, 'Last day on which the clearing institute settled the payment, in its time zone.', { because: beyond }],
  ['settlement.amount',     amount,            C,   response, none, 'Settled part of the payment, in its currency.', { because: beyond }],
  ['nextActions[n]',        paymentType,       C,   response, none, 'Payment types of the follow-ups that are possible now.', { because: beyond }],
  ['retrySafe',             flag,              C,   response, none, 'True when nothing reached the acquirer, so that the request can be sent again.', { because: beyond }],
  ['buildNumber',           AN(255),           R,   response, none, 'Version of the gateway, for support.'],
  ['timestamp',             timestamp,         R,   response, none, 'Time of the answer.'],
  ['ndc',                   requestNumber,     R,   response, none, "The gateway's own number of the request; for a checkout its id.", { because: 'The dot is allowed because a checkout has its id here.' }],
  ['brandResult',           AN(16),            O,   response, none, 'Brand recognised from the number.'],
])

const result = group('result', 'Result', [
  // name                        format                          need direction class meaning
  ['code',                       resultCode,                     R,   response, none, 'Result code.'],
  ['description',                AN(255),                        O,   response, none, 'Description of the code.'],
  ['avsResponse',                oneOf('A', 'Z', 'N', 'U', 'F'), C,   response, none, 'Address check: A address, Z postal code, F both match, N neither, U unknown.'],
  ['cvvResponse',                A(1),                           C,   response, none, "Acquirer's answer about the security code."],
  ['parameterErrors[n].name',    AN(64),                         C,   response, none, 'Name of the wrong field.'],
  ['parameterErrors[n].value',   AN(2048),                       C,   response, none, 'Value as sent; only for public fields.'],
  ['parameterErrors[n].message', AN(2048),                       C,   response, none, 'Description of the allowed values.'],
])

const details = group('', 'Result details', [
  ['resultDetails[name]',              AN(2048), O, response, none, "The acquirer's own texts, by name.", { key: openKey }],
  ['resultDetails.AcquirerResponse',   AN(2048), C, response, none, "The acquirer's own code."],
  ['resultDetails.MerchantAdviceCode', N(2),     O, response, none, 'Advice of the scheme after a decline, if the connector has it.'],
])

const card = group('card', 'Card', [
  // name            format                             need direction class   meaning
  ['bin',            match('[0-9]{6}', '420000', 6, 6), O,   response, none,   'First six digits of the number.'],
  ['last4Digits',    lastFour,                          C,   response, none,   'Last four digits of the number.', { because: beyond }],
  ['holder',         AN(3, 128),                        O,   response, person, 'Name on the card, as sent.'],
  ['expiryMonth',    month,                             O,   response, none,   'Expiry month, as sent.'],
  ['expiryYear',     year,                              O,   response, none,   'Expiry year, as sent.'],
  ['issuer.bank',    AN(2048),                          O,   response, none,   'Issuer of the card.'],
  ['issuer.phone',   AN(2048),                          O,   response, none,   'Phone number of the issuer.'],
  ['issuer.website', AN(2048),                          O,   response, none,   'Web site of the issuer.'],
  ['type',           AN(255),                           O,   response, none,   'Kind of card, such as credit or debit.', { because: 'The document gives no length.' }],
  ['level',          AN(255),                           O,   response, none,   'Product level of the card.', { because: 'The document gives no length.' }],
  ['regulatedFlag',  AN(255),                           O,   response, none,   "Whether the card's interchange is regulated.", { because: 'The document gives no length.' }],
])

const otherAccounts = group('', 'Accounts', [
  ['bankAccount.last4Digits',  lastFour, C, response, none, 'Last four characters of IBAN or account number.', { because: beyond }],
  ['tokenAccount.last4Digits', lastFour, C, response, none, 'Last four digits of the token.', { because: beyond }],
])

const transferTo = group('merchant.bankAccount', "Merchant's bank account", [
  // name     format   need direction class meaning
  ['holder',  AN(128), R,   response, none, "Payee of the shopper's transfer."],
  ['number',  AN(64),  C,   response, none, 'Account for the transfer, an IBAN for SEPA.'],
  ['bic',     bic,     C,   response, none, 'Bank of that account.'],
  ['country', country, C,   response, none, 'Country of that account.'],
])

const screening = group('', 'Risk result and registration', [
  ['risk.score',      score, C, response, none, 'Sum of the risk checks, -99999 to 99999.'],
  ['registration.id', id32,  C, response, none, 'Same value as registrationId.'],
])

/**
 * Fields of an answer about a payment or registration, in addition to the echoed groups of the
 * request. A row that is also echoed has the same format there. `merchant.bankAccount` is present
 * only for transfers by the shopper.
 */
export const paymentResponse = together('payment response', 'Payment answer', [
  record, result, details, card, otherAccounts, transferTo, screening,
])

const envelope = ['result.code', 'result.description', 'buildNumber', 'timestamp', 'ndc'] as const

/** The fields of every answer. The id is that of the resource; without a resource, of the request. */
export const answer = excerpt(paymentResponse, ['id', ...envelope], 'answer', 'Every answer')

/** The answer of a search has no id of its own. */
export const answerWithoutId = excerpt(paymentResponse, envelope, 'answer without id', 'Answer without an id')

/** Answer of a request that failed without a resource. Its id is that of the request. */
export const failure = excerpt(paymentResponse, [
  'id', 'retrySafe', 'result.code', 'result.description', 'result.parameterErrors[n].name',
  'result.parameterErrors[n].value', 'result.parameterErrors[n].message', 'buildNumber',
  'timestamp', 'ndc',
], 'error', 'Error')

/** What an authentication by itself proved. Statuses that a merchant cannot send are answered as well. */
export const authenticationResponse = group('threeDSecure', 'Authentication answer', [
  // name                  format                                             need direction class meaning
  ['authenticationStatus', oneOf('Y', 'A', 'U', 'N', 'I', 'R', 'C', 'D'),     C,   response, none, 'Status of the authentication: authenticated, attempted, unavailable, not authenticated, informational, rejected, challenged or decoupled.'],
], [], 'authentication response')

/** The proof, which only the answer about an authentication by itself has. */
export const authenticationProof = group('threeDSecure', 'Proof of an authentication', [
  ['verificationId', AN(28, 28), C, response, sad, 'Proof of authentication (CAVV, AAV), for one payment.'],
], [], 'authentication proof')

/** The list of result codes. */
export const resultCodeListResponse = group('', 'Result code list answer', [
  ['resultCodes[n].code',        resultCode, R, response, none, 'Result code.', { maxIndex: 999 }],
  ['resultCodes[n].description', AN(255),    R, response, none, 'Description of the code.', { maxIndex: 999 }],
], [], 'result code list response')
