import { AN, C, date, echoed, group, N, none, O, oneOf, reference } from '../table.ts'

const practice = oneOf(
  'INCREMENTAL_AUTH', 'RESUBMISSION', 'REAUTHORIZATION', 'DELAYED_CHARGES', 'NO_SHOW',
)

/** Card on file: the agreement with the cardholder that a payment belongs to. */
export const standingInstruction = group('standingInstruction', 'Standing instruction', [
  // name                  format                                            need direction class meaning
  ['type',                 oneOf('UNSCHEDULED', 'INSTALLMENT', 'RECURRING'), C,   echoed, none, 'Kind of agreement.'],
  ['recurringType',        oneOf('STANDING_ORDER', 'SUBSCRIPTION'),          C,   echoed, none, 'Kind of merchant-initiated recurring payments.'],
  ['mode',                 oneOf('INITIAL', 'REPEATED'),                     C,   echoed, none, 'First payment of the agreement, or a later one.'],
  ['source',               oneOf('CIT', 'MIT'),                              C,   echoed, none, 'Initiator: cardholder or merchant.'],
  ['initialTransactionId', AN(255),                                          C,   echoed, none, "Scheme's reference to the first payment. Added to later payments by the gateway; a value of the merchant takes precedence.", { because: 'Length and form depend on the acquirer.', reference: true }],
  ['industryPractice',     practice,                                         C,   echoed, none, "Reason of the merchant's further charge."],
  ['expiry',               date,                                             C,   echoed, none, 'Last day of the agreement, for 3-D Secure.'],
  ['frequency',            N(4),                                             C,   echoed, none, 'Minimum number of days between two payments.'],
  ['numberOfInstallments', N(3),                                             C,   echoed, none, 'Maximum number of instalments. 3-D Secure needs it for type INSTALLMENT.'],
  ['agreementId',          AN(35),                                           O,   echoed, none, 'Name of the agreement at one card network, which gradually replaces initialTransactionId.', reference],
])
