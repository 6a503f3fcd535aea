import { AN, C, currency, date, excerpt, type Field, type Group, group, integer, match, none, O, oneOf, R, reference, request, response } from '../table.ts'
import { id32, timestamp } from './formats.ts'
import { reconciliationRecord } from './reconciliation.ts'
import { reporting } from './reporting.ts'

const beyond = { because: 'An addition to the documented parameters.' }
const many = 499
/** Signed, with the decimals of the currency: at least two. */
const signed = match('-?[0-9]{1,16}\\.[0-9]{2,4}', '1240.50', 4, 22)
const count = integer(0, 2147483647)
/** A kind of record, fee or exception, in capital letters. */
const kind = match('[A-Z_]{1,32}', 'NOT_MATCHED', 1, 32)
const [recordType] = reconciliationRecord.fields as readonly [Field, ...Field[]]

/** Days and currency of the payouts to list. */
export const reportDays = { ...excerpt(reporting, ['date.from', 'date.to', 'currency'], 'report days', 'Days of a report'), conditions: reporting.conditions }

/** Order of the records of one payout. */
export const reportOrder = excerpt(reporting, ['sortValue', 'sortOrder'], 'report order', 'Order of a report')

/** A page of the records of one payout. */
export const reportPage = group('', 'Page of a report', [
  // name                format              need direction class meaning
  ['pageNo',             integer(1, 1000000), O,  request, none, 'Number of the page, of 100 records each.', { default: '1' }],
  ['reconciliationType', recordType.format,   O,  request, none, 'Only records of this type.'],
], [], 'report page')

/** A page of the list of payouts. */
export const reportList = group('', 'Page of the list of payouts', [
  ['limit',  integer(1, 500), O, request, none, 'Maximum number of payouts in one answer.', { default: '500', ...beyond }],
  ['cursor', AN(255),         O, request, none, 'Continues at nextCursor of the previous answer.', { ...beyond, reference: true }],
], [], 'report list')

/** What one payout in one currency consists of. Amounts are positive in favour of the merchant. */
export const aggregationResponse = group('', 'Aggregation answer', [
  // name                        format    need direction class meaning
  ['id',                           id32,      R, response, none, 'Id of the payout in this currency.'],
  ['date',                         date,      R, response, none, 'First day of settlement of its records, in the time zone of the clearing institute.'],
  ['valueDate',                    date,      O, response, none, 'Day on which the money of the payout reaches the merchant, as the clearing institute reports it.'],
  ['payoutId',                     AN(64),    O, response, none, "The clearing institute's reference of the payout, as on the merchant's bank statement."],
  ['clearingInstitute.name',       AN(64),    R, response, none, 'Name of the clearing institute.'],
  ['clearingInstitute.merchantId', AN(5, 64), R, response, none, "The merchant's number at the clearing institute."],
  ['merchantAccount.id',           AN(32),    O, response, none, 'Acquirer account of all records, if they have one in common.'],
  ['merchantAccount.name',         AN(255),   O, response, none, 'Name of its channel.'],
  ['testClock',                    AN(64),    O, response, none, 'Test clock of the payments.', reference],
  ['currency',                     currency,  R, response, none, 'Currency of the payout.'],
  ['count',                        count,     R, response, none, 'Number of records.'],
  ['opening',                      signed,    C, response, none, 'Balance before the payout, which the payout before left. Only for readers who see the whole payout, like tax, reserve, adjustments, closing, payout and status.'],
  ['gross',                        signed,    R, response, none, 'Settled payments, less credits (CD).'],
  ['refunds',                      signed,    R, response, none, 'Refunds.'],
  ['chargebacks',                  signed,    R, response, none, 'Chargebacks.'],
  ['reversals',                    signed,    R, response, none, 'Reversals of chargebacks.'],
  ['fees[n].kind',                 kind,      C, response, none, 'SETTLEMENT_FEE: kept from single records. PAYOUT_FEE: of the payout. Others: transaction types of fee records.'],
  ['fees[n].amount',               signed,    C, response, none, 'Sum of these fees.'],
  ['tax',                          signed,    C, response, none, 'Taxes.'],
  ['reserve',                      signed,    C, response, none, 'Reserve released, less reserve held.'],
  ['adjustments',                  signed,    C, response, none, 'Adjustments and transfers.'],
  ['net',                          signed,    R, response, none, 'All amounts above, less closing: the computed payout.'],
  ['closing',                      signed,    C, response, none, 'Balance after the payout, which the next payout carries on.'],
  ['payout',                       signed,    C, response, none, 'The payout as the clearing institute reports it. Absent until then.'],
  ['status',                       oneOf('OPEN', 'BALANCED', 'UNBALANCED'), C, response, none, 'OPEN: the clearing institute has not reported the payout yet. BALANCED: the reported payout equals net. UNBALANCED: it does not.'],
  ['exceptions[n].kind',           kind,      C, response, none, 'Why records need a check: NOT_MATCHED, MULTIPLE_MATCHES, or a discrepancy. CONTROL: the payout is UNBALANCED.'],
  ['exceptions[n].count',          count,     C, response, none, 'Number of these records.'],
], [], 'aggregation response')

/** The same fields below an element of a list. */
const inList = (source: Group, list: string, more: readonly Field[]): readonly Field[] =>
  [...source.fields, ...more].map((field) => ({
    ...field,
    name: `${list}[n].${field.name}`,
    need: field.need === 'R' ? C : field.need,
    options: { ...field.options, maxIndex: many },
  }))

const nextCursor = group('', 'Next page', [
  ['nextCursor', AN(255), C, response, none, 'Cursor of the next page; absent on the last.'],
]).fields

export const aggregationListResponse: Group = {
  name: 'aggregation list response',
  title: 'Aggregation list answer',
  fields: [...inList(aggregationResponse, 'aggregations', []), ...nextCursor],
  conditions: [],
}

/** Members of a record in JSON that the file does not have. */
const additions = group('', 'Additions to a record', [
  ['id',                        id32,  R, response, none, 'Id of the record, the same in all versions.'],
  ['version',                   count, R, response, none, 'Version of the record; rises with each correction.'],
  ['matchedTransactions.count', count, C, response, none, 'Number of matching payments, if more than are listed.'],
  ['discrepancies[n]',          kind,  C, response, none, 'Differences from the payment.'],
]).fields

const pages = group('', 'Number of pages', [
  ['pages', integer(0, 1000000), C, response, none, 'Number of pages, of 100 records each.'],
]).fields

/** Records of one payout. Each has the fields of a reconciliation record, and some more. */
export const recordListResponse: Group = {
  name: 'record list response',
  title: 'Answer with records of a payout',
  fields: [...pages, ...inList(reconciliationRecord, 'records', additions)],
  conditions: [],
}

/** Report files. */
export const reportFileResponse = group('', 'Report file answer', [
  // name             format     need direction class meaning
  ['files[n].id',        id32,      C, response, none, 'Files, newest first.', { maxIndex: many }],
  ['files[n].name',      AN(255),   C, response, none, 'Name of the file.'],
  ['files[n].entity',    id32,      C, response, none, 'Merchant of the records; above merchants, the entity whose records match no payment.'],
  ['files[n].testClock', AN(64),    O, response, none, 'Test clock of the records.', reference],
  ['files[n].no',        count,     C, response, none, 'Number of the file: counts from 1 for each entity and test clock.'],
  ['files[n].rows',      count,     C, response, none, 'Number of records in the file.'],
  ['files[n].bytes',     integer(0, Number.MAX_SAFE_INTEGER), C, response, none, 'Size in bytes.'],
  ['files[n].sha256',    match('[0-9a-f]{64}', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 64, 64), C, response, none, 'SHA-256 of the bytes.'],
  ['files[n].madeAt',    timestamp, C, response, none, 'Time of the file, on the clock of its records.'],
  ['nextCursor',         AN(255),   C, response, none, 'Cursor of the next page; absent on the last.'],
], [], 'report file response')
