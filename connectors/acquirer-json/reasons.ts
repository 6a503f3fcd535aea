import { type Reason, reasonTable } from '@tollgate/plugin-kit'

/** The bank's codes and their reasons, as a table for comparison with the manual. */
// biome-ignore format: a table reads best with one row on one line.
const reasons = {
  '05':                '800.100.152', // do not honour
  '51':                '800.100.155', // not sufficient funds
  '54':                '800.100.157', // expired or wrong expiry date
  '82':                '800.100.153', // wrong security code
  'AC04':              '800.100.203', // account without money
  'cancelled':         '100.396.101', // the shopper cancelled on the bank's page
  'bad-credentials':   '900.100.200', // merchant or key unknown
  'bad-request':       '900.100.200', // a field is missing or wrong
  'key-reused':        '200.300.405', // the key was used for another order
  'key-blocked':       '900.100.400', // the key was reversed before it was used
  'key-reversed':      '900.100.301', // the key's payment was reversed
  'unknown-payment':   '700.100.100', // the referenced payment does not exist
  'not-possible':      '700.300.100', // the referenced payment is of another type, or not done
  'capture-too-high':  '700.400.100',
  'refund-too-high':   '700.400.200',
  'reversal-too-high': '700.400.300',
} as const satisfies Readonly<Record<string, Reason>>

/**
 * A code outside the table gets the general reason: the status states the decline, and new codes
 * appear without notice.
 */
export const reasonFor = reasonTable(reasons)

/** The only code of an approval. A new one, such as that of a partial approval, must be read before it counts. */
export const approvalCode = '00'

/** "96: the system failed after it took the order, which may have been carried out." */
export const malfunctionCode = '96'

/** The bank's words for chargebacks. */
// biome-ignore format: a table reads best with one row on one line.
export const disputeReasonFor = reasonTable({
  'fraud':        '000.100.220',
  'not-received': '000.100.221',
  'unrecognised': '000.100.222',
  'duplicate':    '000.100.224',
}, '000.100.200')
