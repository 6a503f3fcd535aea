import { AN, C, currency, date, dateTime, type FieldOptions, type Format, group, match, none, O, oneOf, person, R, response } from '../table.ts'
import { shortId } from './formats.ts'

const brand16 = AN(16)
const rate = match('[0-9]{1,10}(\\.[0-9]{1,11})?', '1.083412', 1, 13)
/** Institutes report larger amounts than requests may have, and three or four decimals where the amount needs them. */
export const reportedAmount = match('[0-9]{1,16}\\.[0-9]{2,4}', '92.00', 4, 21)
const into = (column: string, because?: string): FieldOptions =>
  because === undefined ? { column } : { column, because }
const entityId: Format = AN(32)
const recordKind = oneOf('SETTLED', 'CHARGEBACK', 'CHARGEBACK REVERSAL', 'FEE')
const transactionKind = oneOf(
  'DEBIT', 'CREDIT', 'REFUND', 'BATCH', 'MONTHLY', 'SUBMERCHANT', 'PAYMENT_FACILITATOR', 'AUTH_FEE',
  'CAPTURE_FEE', 'CANCEL_FEE', 'REFUND_FEE',
)
const matching = oneOf('MATCHED', 'MULTIPLE_MATCHES', 'NOT_MATCHED')

/** One record of a reconciliation report: a settled payment, a chargeback, its reversal, or a fee. */
export const reconciliationRecord = group('', 'Reconciliation record', [
  // name                               format                      need direction class   meaning
  ['recordType',                        recordKind,                 R,   response, none,   'Kind of record.', into('ReconciliationType')],
  ['transactionType',                   transactionKind,            R,   response, none,   'Kind of payment or fee.', into('PaymentType')],
  ['settlement.cashflow',               oneOf('POS', 'NEG'),        R,   response, none,   'POS: the merchant receives the amount. NEG: the merchant pays it.', into('Cashflow')],
  ['clearingInstitute.merchantId',      AN(5, 64),                  R,   response, none,   "The merchant's number at the clearing institute.", into('ClearingInstituteMerchantId')],
  ['merchantAccount.id',                AN(32),                     R,   response, none,   'Acquirer account of the payment, or the one by which the file came.', into('MerchantAccountId')],
  ['merchantAccount.name',              AN(255),                    O,   response, none,   'Name of the channel of that account.', into('MerchantAccountName', 'The document gives no length.')],
  ['pspEntityId',                       entityId,                   R,   response, none,   'Payment service provider.', into('PspId')],
  ['divisionEntityId',                  entityId,                   O,   response, none,   'Division.', into('DivisionId')],
  ['merchantEntityId',                  entityId,                   R,   response, none,   'Merchant.', into('MerchantId')],
  ['settlement.id',                     AN(64),                     O,   response, none,   "The clearing institute's number of the settlement; without one, the id of the record. The same in all versions of a record.", into('SettlementTxId')],
  ['payment.id',                        AN(32),                     O,   response, none,   'Id of the payment.', into('UniqueID')],
  ['shortId',                           shortId,                    O,   response, none,   'Short number of the payment.', into('ShortId', 'The source names the column only; payment answers use this name.')],
  ['clearingInstitute.txId1',           AN(64),                     O,   response, none,   "First of the clearing institute's references.", into('ConnectorTxId1')],
  ['clearingInstitute.txId2',           AN(64),                     O,   response, none,   "Second of the clearing institute's references.", into('ConnectorTxId2')],
  ['clearingInstitute.txId3',           AN(64),                     O,   response, none,   "Third of the clearing institute's references.", into('ConnectorTxId3')],
  ['amount',                            reportedAmount,             R,   response, none,   'Amount as the clearing institute reports it; `AMOUNT` says that it differs from the payment.', into('Amount')],
  ['currency',                          currency,                   R,   response, none,   'Currency of this amount.', into('Currency')],
  ['paymentBrand',                      brand16,                    O,   response, none,   'Brand of the payment.', into('Brand')],
  ['presentmentDate',                   dateTime,                   O,   response, none,   "Order time of the payment in the clearing institute's time zone; the reading time of a file without it.", into('TxRequestTime')],
  ['settlement.amount',                 reportedAmount,             R,   response, none,   'Amount that the clearing institute pays out or takes for the record, before its fee.', into('SettlementAmount')],
  ['settlement.currency',               currency,                   R,   response, none,   'Currency of the settlement.', into('SettlementCurrency')],
  ['settlement.fee',                    reportedAmount,             O,   response, none,   'Fee that the clearing institute keeps, in the currency of the settlement.', into('SettlementFee')],
  ['settlement.fxRate',                 rate,                       R,   response, none,   'Rate from the currency of the amount to that of the settlement.', into('SettlementFxRate', 'Thirteen characters as documented, with as many decimals as fit, because two would lose the rate.')],
  ['settlement.date',                   date,                       R,   response, none,   'Day of settlement, in the time zone of the clearing institute.', into('SettlementDate')],
  ['settlement.status',                 oneOf('SUCCESS', 'FAILED'), R,   response, none,   'SUCCESS: the amount is part of the payout. FAILED: it is not paid out.', into('SettlementStatus')],
  ['descriptor',                        AN(128),                    O,   response, none,   'Text on the statement of the account.', into('Descriptor')],
  ['card.last4Digits',                  AN(4),                      O,   response, none,   'Last four digits of a card.', into('AccountNumberLast4')],
  ['bankAccount.last4Digits',           AN(4),                      O,   response, none,   'Last four characters of a bank account.', into('AccountNumberLast4')],
  ['bankAccount.bankCode',              AN(12),                     O,   response, none,   'Code of the bank.', into('BankCode')],
  ['card.holder',                       AN(128),                    O,   response, person, 'Holder of a card.', into('AccountHolder')],
  ['bankAccount.holder',                AN(128),                    O,   response, person, 'Holder of a bank account.', into('AccountHolder')],
  ['result.code',                       AN(11),                     O,   response, none,   'Reason of a chargeback.', into('ReasonCode')],
  ['result.description',                AN(128),                    O,   response, none,   'Description of that reason.', into('ReasonDesc')],
  ['settlement.format',                 AN(32),                     R,   response, none,   "Format of the record's file.", into('SettlementFileFormat')],
  ['clearingInstitute.name',            AN(64),                     R,   response, none,   'Name of the clearing institute.', into('ClearingInsitituteName')],
  ['matchedTransactions.status',        matching,                   C,   response, none,   'Whether the record matches a payment.', into('MatchingStatus')],
  ['matchedTransactions.payment[n].id', AN(32),                     C,   response, none,   'The matching payments: at most 100 ids, with commas between them in the file.', into('MatchedTransactions')],
  ['chargebackTransaction.id',          AN(32),                     C,   response, none,   'The chargeback that the record told of its payment, or of the declined one that it names.', into('ChargebackId')],
  ['payment.amount',                    reportedAmount,             O,   response, none,   'Amount of the payment, to compare with `amount`. Not in the file.'],
  ['payment.currency',                  currency,                   O,   response, none,   'Currency of the payment. Not in the file.'],
  ['merchantTransactionId',             AN(255),                    R,   response, none,   'Reference of the merchant. Not in the file.'],
  ['merchantInvoiceId',                 AN(255),                    O,   response, none,   'Invoice number of the merchant. Not in the file.'],
], [], 'reconciliation record')

/** Header of the reconciliation file; one odd spelling stays, because programs read files by it. */
export const reconciliationColumns: readonly string[] = [
  'ReconciliationType', 'PaymentType', 'Cashflow', 'ClearingInstituteMerchantId',
  'MerchantAccountId', 'MerchantAccountName', 'PspId', 'DivisionId', 'MerchantId',
  'SettlementTxId', 'UniqueID', 'ShortId', 'ConnectorTxId1', 'ConnectorTxId2', 'ConnectorTxId3',
  'Amount', 'Currency', 'Brand', 'TxRequestTime', 'SettlementAmount', 'SettlementCurrency',
  'SettlementFee', 'SettlementFxRate', 'SettlementDate', 'SettlementStatus', 'Descriptor',
  'AccountNumberLast4', 'BankCode', 'AccountHolder', 'ReasonCode', 'ReasonDesc',
  'SettlementFileFormat', 'ClearingInsitituteName', 'MatchingStatus', 'MatchedTransactions',
  'ChargebackId',
]
