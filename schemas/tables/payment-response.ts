import { A, AN, amount, C, country, currency, excerpt, type Format, flag, group, match, N, none, O, oneOf, person, R, response, together } from '../table.ts'
import { bic, id32, merchantReference, month, openKey, shortId, timestamp, year } from './formats.ts'

const brand: Format = { kind: 'brand' }
const paymentType: Format = { kind: 'payment-type' }
const resultCode = match('[0-9.]{2,11}', '000.100.110', 2, 11)
const score: Format = { kind: 'decimal', integer: 5, fraction: 0, signed: true }
const lastFour = match('[a-zA-Z0-9]{4}', '4242', 4, 4)
const requestNumber = match('[a-zA-Z0-9.-]{1,69}', '8a82944a4cc25ebf-9f3c', 1, 69)
const beyond = 'Given beyond the documented fields.'

const record = group('', 'Payment', [
  // name                   format             need direction class meaning
  ['id',                    id32,              R,   response, none, 'Id of the payment or registration; of the request where no resource exists yet.'],
  ['shortId',               shortId,           C,   response, none, 'Short number of the payment, for people.', { because: beyond }],
  ['referencedId',          id32,              C,   response, none, 'Payment that a follow-up refers to.'],
  ['paymentBrand',          brand,             C,   response, none, 'Brand that was used.'],
  ['paymentType',           paymentType,       C,   response, none, 'Payment type of this record.'],
  ['amount',                amount,            C,   response, none, 'Amount that was approved.'],
  ['currency',              currency,          C,   response, none, 'Currency of that amount.'],
  ['descriptor',            AN(127),           C,   response, none, 'Text on the statement.'],
  ['merchantTransactionId', merchantReference, C,   response, none, 'Reference that the merchant sent.', { because: beyond }],
  ['registrationId',        id32,              C,   response, none, 'Registration that was made or used.'],
  ['nextActions[n]',        paymentType,       C,   response, none, 'Payment types of the follow-ups that are possible now.', { because: beyond }],
  ['retrySafe',             flag,              C,   response, none, 'True when nothing reached the acquirer, so that the request may be sent again.', { because: beyond }],
  ['buildNumber',           AN(255),           R,   response, none, 'Version of the gateway, for support.'],
  ['timestamp',             timestamp,         R,   response, none, 'When the answer was made.'],
  ['ndc',                   requestNumber,     R,   response, none, "The gateway's own number of the request; of a checkout its id.", { because: 'The dot is allowed because a checkout answers with its id here.' }],
  ['brandResult',           AN(16),            O,   response, none, 'Brand that was recognised from the number.'],
])

const result = group('result', 'Result', [
  // name                        format                          need direction class meaning
  ['code',                       resultCode,                     R,   response, none, 'Result code.'],
  ['description',                AN(255),                        O,   response, none, 'The code in words.'],
  ['avsResponse',                oneOf('A', 'Z', 'N', 'U', 'F'), C,   response, none, 'Address check: A address, Z postal code, F both match, N neither, U not known.'],
  ['cvvResponse',                A(1),                           C,   response, none, "Acquirer's answer about the security code."],
  ['parameterErrors[n].name',    AN(64),                         C,   response, none, 'Field that is wrong.'],
  ['parameterErrors[n].value',   AN(2048),                       C,   response, none, 'What was sent; only for fields that everybody may see.'],
  ['parameterErrors[n].message', AN(2048),                       C,   response, none, 'What would be right.'],
])

const details = group('', 'Result details', [
  ['resultDetails[name]',              AN(2048), O, response, none, "The acquirer's own words, by name.", { key: openKey }],
  ['resultDetails.AcquirerResponse',   AN(2048), C, response, none, "The acquirer's own code."],
  ['resultDetails.MerchantAdviceCode', N(2),     O, response, none, 'Advice of the scheme after a decline, where the connector has it.'],
])

const card = group('card', 'Card', [
  // name            format                             need direction class   meaning
  ['bin',            match('[0-9]{6}', '420000', 6, 6), O,   response, none,   'First six digits of the number.'],
  ['last4Digits',    lastFour,                          C,   response, none,   'Last four digits of the number.', { because: beyond }],
  ['holder',         AN(3, 128),                        O,   response, person, 'Name on the card, as sent.'],
  ['expiryMonth',    month,                             O,   response, none,   'Expiry month, as sent.'],
  ['expiryYear',     year,                              O,   response, none,   'Expiry year, as sent.'],
  ['issuer.bank',    AN(2048),                          O,   response, none,   'Bank that issued the card.'],
  ['issuer.phone',   AN(2048),                          O,   response, none,   'Phone number of that bank.'],
  ['issuer.website', AN(2048),                          O,   response, none,   'Web site of that bank.'],
  ['type',           AN(255),                           O,   response, none,   'Credit, debit and the like.', { because: 'The document gives no length.' }],
  ['level',          AN(255),                           O,   response, none,   'Product level of the card.', { because: 'The document gives no length.' }],
  ['regulatedFlag',  AN(255),                           O,   response, none,   'Whether interchange of the card is regulated.', { because: 'The document gives no length.' }],
])

const otherAccounts = group('', 'Accounts', [
  ['bankAccount.last4Digits',  lastFour, C, response, none, 'Last four characters of IBAN or account number.', { because: beyond }],
  ['tokenAccount.last4Digits', lastFour, C, response, none, 'Last four digits of the token.', { because: beyond }],
])

const transferTo = group('merchant.bankAccount', "Merchant's bank account", [
  // name     format   need direction class meaning
  ['holder',  AN(128), R,   response, none, 'Who the shopper must transfer to.'],
  ['number',  AN(64),  C,   response, none, 'Account to transfer to, an IBAN for SEPA.'],
  ['bic',     bic,     C,   response, none, 'Bank of that account.'],
  ['country', country, C,   response, none, 'Country of that account.'],
])

const screening = group('', 'Risk result and registration', [
  ['risk.score',      score, C, response, none, 'Sum of the risk checks, -99999 to 99999.'],
  ['registration.id', id32,  C, response, none, 'The same as registrationId.'],
])

/**
 * Answer about a payment or registration, besides what the request groups echo. A row that one of
 * them echoes too has the same format there. `merchant.bankAccount` comes only when the shopper has
 * to transfer money to it.
 */
export const paymentResponse = together('payment response', 'Payment answer', [
  record, result, details, card, otherAccounts, transferTo, screening,
])

/** What every answer holds; the answer about a resource adds its id. */
export const answer = excerpt(paymentResponse, [
  'result.code', 'result.description', 'result.parameterErrors[n].name',
  'result.parameterErrors[n].value', 'result.parameterErrors[n].message', 'buildNumber',
  'timestamp', 'ndc',
], 'answer', 'Every answer')

/** Answer of a request that failed before a resource came of it. Its id is that of the request. */
export const failure = excerpt(
  paymentResponse, ['id', ...answer.fields.map((field) => field.name)], 'error', 'Error',
)
