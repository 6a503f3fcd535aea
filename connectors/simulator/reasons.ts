import { type Reason, reasonTable } from '@tollgate/plugin-kit'
import { isResultCode } from '@tollgate/schemas'

/**
 * The simulated acquirer's codes and their reasons. Numbers are response codes of card networks,
 * words are refusals of its ledger. A code of the result table stands for itself.
 */
// biome-ignore format: a table reads best with one row on one line.
export const reasons = {
  '05':                  '800.100.152', // do not honour
  '51':                  '800.100.155', // insufficient credit
  '41':                  '800.100.165', // lost
  '43':                  '800.100.159', // stolen
  '54':                  '800.100.157', // expiry
  '82':                  '800.100.153', // CVV
  '61':                  '800.100.162', // limit
  '04':                  '800.300.401', // listed
  '1A':                  '300.100.100', // authentication wanted
  '14':                  '800.100.195', // no such account
  '53':                  '800.100.203', // account without money
  'cancelled':           '100.396.101', // the shopper cancelled on the bank's page
  'abandoned':           '100.396.103', // the shopper did not return from the bank's page
  'key-reused':          '200.300.405', // the key was used for another operation
  'key-reversed':        '900.100.301', // the key's operation was reversed
  'key-closed':          '900.100.400', // the key was reversed before it was used
  'no-original':         '700.100.100', // the original operation does not exist
  'no-authorisation':    '700.400.510', // capture
  'no-charge':           '700.400.520', // refund
  'nothing-to-reverse':  '700.400.530', // reversal
  'nothing-disputed':    '700.400.550', // chargeback
  'original-open':       '700.400.570', // the original operation is still pending
  'wrong-original':      '700.300.100', // the original operation is of the wrong type
  'wrong-currency':      '700.100.500', // another currency than the original operation
  'over-capture':        '700.400.100', // sum of captures
  'over-refund':         '700.400.200', // sum of refunds
  'over-reversal':       '700.400.300', // sum of reversals, or refunded before
  'closed':              '700.300.300', // final, replaced or reversed in full
  'charged-back':        '700.300.600', // a chargeback is open
  'second-chargeback':   '700.300.500', // there was a chargeback before
  'no-chargeback':       '700.400.420', // none to reverse
  'chargeback-reversed': '700.400.410', // reversed before
} as const satisfies Readonly<Record<string, Reason>>

export type Code = keyof typeof reasons

const codes = new Map<string, string>(
  Object.entries(reasons)
    .filter(([code]) => /^[0-9A-Z]{2}$/.test(code))
    .map(([code, reason]) => [reason, code]),
)

/** The acquirer's code for a reason of the rules. */
export const codeFor = (reason: Reason): string => codes.get(reason) ?? reason

const listed = reasonTable(reasons)

/** The engine's reason for an acquirer's code; an unknown code gets the general reason. */
export const reasonFor = (code: string): Reason => (isResultCode(code) ? code : listed(code))
