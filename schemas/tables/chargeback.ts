import { group, match, none, O, stored } from '../table.ts'

/** Chargebacks that a merchant posts to the simulator. */
export const chargeback = group('', 'Chargeback parameter', [
  ['chargebackResultCode', match('000\\.100\\.2[0-9]{2}', '000.100.220', 11, 11), O, stored, none, "Acquirer's reason of the chargeback."],
], [], 'chargeback')
