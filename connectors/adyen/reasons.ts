/** Adyen's codes and our reasons, as tables for comparison with Adyen's documentation. */
import { type Reason, reasonTable } from '@tollgate/plugin-kit'

/** `refusalReasonCode` of payments that were refused or cancelled. */
// biome-ignore format: a table reads best with one row on one line.
export const refusals = {
  '2':  '800.100.152', // Refused
  '3':  '800.100.152', // Referral
  '4':  '900.100.201', // Acquirer Error
  '5':  '800.100.160', // Blocked Card
  '6':  '800.100.157', // Expired Card
  '7':  '800.100.174', // Invalid Amount
  '8':  '800.100.151', // Invalid Card Number
  '9':  '900.100.600', // Issuer Unavailable
  '10': '800.100.170', // Not supported
  '11': '100.390.112', // 3D Not Authenticated
  '12': '800.100.155', // Not enough balance
  '14': '800.100.158', // Acquirer Fraud
  '15': '100.396.101', // Cancelled
  '16': '100.396.101', // Shopper Cancelled
  '17': '800.100.166', // Invalid Pin
  '18': '800.100.178', // Pin tries exceeded
  '19': '800.100.166', // Pin validation not possible
  '20': '800.100.158', // FRAUD
  '21': '800.100.154', // Not Submitted
  '22': '800.100.158', // FRAUD-CANCELLED
  '23': '800.100.170', // Transaction Not Permitted
  '24': '800.100.153', // CVC Declined
  '25': '800.100.168', // Restricted Card
  '26': '800.100.403', // Revocation Of Auth
  '27': '800.100.152', // Declined Non Generic
  '28': '800.100.162', // Withdrawal amount exceeded
  '29': '800.100.179', // Withdrawal count exceeded
  '31': '800.100.158', // Issuer Suspected Fraud
  '32': '800.100.152', // AVS Declined
  '33': '800.100.166', // Card requires online pin
  '34': '800.100.195', // No checking account available on Card
  '35': '800.100.195', // No savings account available on Card
  '38': '300.100.100', // Authentication required
  '39': '100.390.111', // RReq not received from DS
  '42': '100.390.112', // 3DS Authentication Error
  '46': '800.100.163', // Transaction blocked by Adyen to prevent excessive retry fees
} as const satisfies Readonly<Record<string, Reason>>

/** `errorCode` of requests that were refused before anything was done. */
// biome-ignore format: a table reads best with one row on one line.
export const errors = {
  '000': '900.100.200', // HTTP status 401: the API key is wrong
  '010': '900.100.200', // not allowed for this account or credential
  '100': '100.550.300', // no amount specified
  '101': '800.100.151', // invalid card number
  '102': '100.100.700', // unable to determine the variant
  '103': '100.100.601', // CVC has not the right length
  '104': '800.100.156', // billing address problem
  '129': '100.100.201', // expiry date invalid
  '130': '900.100.200', // reference missing
  '132': '900.100.200', // amount invalid or missing
  '137': '100.550.303', // invalid amount specified
  '138': '100.550.401', // unsupported currency specified
  '140': '100.100.201', // expiry month should be between 1 and 12
  '141': '100.100.301', // expiry year should be in the future
  '142': '100.100.301', // expiry year should be 4 digits
  '153': '800.100.153', // CVC required
  '167': '900.100.202', // original psp reference required or unknown
  '174': '900.100.200', // unable to decrypt data
  '901': '900.100.200', // invalid merchant account
  '903': '900.100.200', // internal error in the set-up of the account
} as const satisfies Readonly<Record<string, Reason>>

/** A refusal without a row is a decline all the same: the result code says so. */
export const refusalReasonFor = reasonTable(refusals)

/** A request that Adyen refuses is mostly a fault of the set-up. */
export const errorReasonFor = reasonTable(errors, '900.100.200')

/** "Request already processed or in progress": the first request with this key may have been carried out. */
export const inProgress = '704'

/** Adyen's numbers for the answer of the address check, and the letters of our API. */
// biome-ignore format: a table reads best with one row on one line.
const avs: Readonly<Record<string, string>> = {
  '0': 'U', '1': 'A', '2': 'N', '3': 'U', '4': 'U', '5': 'U', '6': 'Z', '7': 'F', '8': 'U', '9': 'A', '10': 'N',
  '11': 'U', '12': 'A', '13': 'N', '14': 'Z', '15': 'Z', '16': 'N', '17': 'N', '18': 'U', '19': 'Z', '20': 'F',
  '21': 'A', '22': 'U', '23': 'Z', '24': 'F', '25': 'A', '26': 'N',
}

/** Adyen's numbers for the answer of the security code: matches, no match, not processed, missing, not certified. */
// biome-ignore format: a table reads best with one row on one line.
const cvc: Readonly<Record<string, string>> = {
  '1': 'M', '2': 'N', '3': 'P', '4': 'S', '5': 'U', '6': 'S',
}

/** `avsResult` is a number and words: `6 Postal code matches, address doesn't match`. */
export const avsOf = (result: unknown): string | undefined => avs[numberIn(result)]
export const cvcOf = (result: unknown): string | undefined => cvc[numberIn(result)]

const numberIn = (result: unknown): string =>
  typeof result === 'string' ? (/^-?[0-9]{1,2}(?= |$)/.exec(result)?.[0] ?? '') : ''
