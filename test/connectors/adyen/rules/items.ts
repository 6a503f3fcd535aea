/** Items of webhooks, and what is claimed of them. */
import type { Claim, Inbound, Json, Operation, Records } from '@tollgate/plugin-kit'
import { rememberIncrease } from '../../../../connectors/adyen/modifications.ts'
import { newReference } from '../../../../connectors/adyen/sandbox/ledger.ts'
import type { Item } from '../../../../connectors/adyen/sandbox/messages.ts'
import { undoName } from '../../../../connectors/adyen/undo-record.ts'
import { noWords, type Words } from '../../../../connectors/adyen/undo-words.ts'

export const eur = (value: number) => ({ value, currency: 'EUR' })
export const told = (claims: readonly Claim[]) => claims.map(({ outcome }) => outcome.is)

export const item = (more: Partial<Item>): Item => ({
  eventCode: 'CAPTURE',
  success: true,
  pspReference: newReference(),
  originalReference: 'PAYMENTPAYMENT01',
  merchantReference: `cp.${'a'.repeat(32)}`,
  amount: eur(9200),
  ...more,
})

export const rv = 'rv9200EUR.'

/** Code, success, our reference, and the outcome that is claimed. */
// biome-ignore format: a table reads best with one row on one line.
export const events: readonly (readonly [code: string, success: boolean, mark: string, is: string | undefined])[] = [
  ['AUTHORISATION',            true,  '',     'approved'],
  ['AUTHORISATION',            false, '',     'declined'],
  ['CAPTURE',                  true,  'cp.',  'accepted'],
  ['CAPTURE',                  false, 'cp.',  'declined'],
  ['CAPTURE_FAILED',           true,  'cp.',  'declined'],
  ['CAPTURE_FAILED',           false, 'cp.',  undefined],
  ['REFUND',                   true,  'rf.',  'accepted'],
  ['REFUND',                   false, 'rf.',  'declined'],
  ['REFUND_FAILED',            true,  'rf.',  'declined'],
  ['REFUND_FAILED',            false, 'rf.',  undefined],
  ['REFUNDED_REVERSED',        true,  'rf.',  'declined'],
  ['REFUNDED_REVERSED',        false, 'rf.',  undefined],
  ['CANCELLATION',             true,  rv,  'approved'],
  ['CANCELLATION',             false, rv,  'declined'],
  ['CANCEL_OR_REFUND',         true,  rv,  'accepted'],
  ['CANCEL_OR_REFUND',         false, rv,  'declined'],
  ['REFUND_FAILED',            true,  rv,  'declined'],
  ['AUTHORISATION_ADJUSTMENT', true,  'ia.',  'approved'],
  ['AUTHORISATION_ADJUSTMENT', false, 'ia.',  'declined'],
  // Nobody here asked for these, or by the payment's own name.
  ['TECHNICAL_CANCEL',         true,  '',     'reversed'],
  ['TECHNICAL_CANCEL',         false, '',     undefined],
  ['CANCELLATION',             true,  '',     'reversed'],
  ['CANCELLATION',             false, '',     undefined],
  ['CANCEL_OR_REFUND',         true,  '',     'reversed'],
  ['CANCEL_OR_REFUND',         false, '',     undefined],
  ['CANCEL_OR_REFUND',         true,  'undo1.', 'reversed'],
  ['CANCEL_OR_REFUND',         false, 'undo1.', undefined],
  ['REFUND_FAILED',            true,  'undo1.', 'notReversed'],
  // About something else that was done to the operation.
  ['REFUND',                   false, 'cp.',  undefined],
  ['REFUND_FAILED',            true,  'cp.',  undefined],
  ['CANCELLATION',             true,  'cp.',  undefined],
  ['CAPTURE',                  false, 'rf.',  undefined],
  ['AUTHORISATION_ADJUSTMENT', false, rv,  undefined],
  ['CAPTURE_FAILED',           true,  'ia.',  undefined],
  // Made elsewhere.
  ['CAPTURE',                  true,  '',     undefined],
  ['REFUND',                   true,  '',     undefined],
  ['REFUND_FAILED',            true,  '',     undefined],
  ['CHARGEBACK',               true,  '',     'chargeback'],
  ['CHARGEBACK',               false, '',     undefined],
  ['SECOND_CHARGEBACK',        true,  '',     'chargeback'],
  ['CHARGEBACK_REVERSED',      true,  '',     'chargebackReversal'],
  ['CHARGEBACK',               true,  'cp.',  'chargeback'],
  ['NOTIFICATION_OF_CHARGEBACK', true, '',    undefined],
  ['REQUEST_FOR_INFORMATION',  true,  '',     undefined],
  ['PREARBITRATION_LOST',      true,  '',     undefined],
  ['EXPIRE',                   true,  '',     undefined],
  ['POSTPONED_REFUND',         true,  'rf.',  undefined],
  ['REPORT_AVAILABLE',         true,  '',     undefined],
  ['A_NEW_ONE',                true,  '',     undefined],
]

/** The records of an account that asked for an increase and for the reversal of a payment. */
export async function asked(records: Records, key: string): Promise<void> {
  const amount = { minor: 9200n, currency: 'EUR' }
  const about = { key, amount } as Operation
  await rememberIncrease(records, about)
  const money = { minor: '9200', currency: 'EUR' }
  const words: Words = { ...noWords, amount: money, tries: [{ round: 1 }] }
  await records.swap(undoName(key), undefined, words as unknown as Json)
}

/** A message that nobody signed. */
export const unsigned = (message: Inbound): Inbound => ({
  ...message,
  body: Buffer.from(message.body.toString().replaceAll('hmacSignature', 'hmacSignatura')),
})
