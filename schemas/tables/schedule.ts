import { AN, C, dateTime, echoed, excerpt, group, integer, match, N, none, O, oneOf, R, reference, request, response, stored } from '../table.ts'
import { basic } from './basic.ts'
import { id32, shortId, timestamp } from './formats.ts'

/** From 1970 to 2099. */
const milliseconds = integer(0, 4_102_444_800_000)
const beyond = { because: 'An addition to the documented fields.' }

/** The charge of a schedule. */
export const schedule = group('', 'Schedule request', [
  ['registrationId', id32, R, echoed, none, 'Stored instrument that the schedule charges.', reference],
], [], 'schedule')

/** A preview takes the request of a creation, and needs nothing of it but the job. */
export const schedulePreview = group('', 'Schedule preview', [
  ['registrationId', id32, O, request, none, 'Stored instrument that the schedule would charge.', reference],
], [], 'schedule preview')

/** The basic fields of a schedule's payments: all but those about one payment of its own. */
export const schedulePayment = excerpt(basic, [
  'amount', 'taxAmount', 'discountAmount', 'currency', 'paymentBrand', 'paymentType', 'descriptor',
  'merchantTransactionId', 'merchantInvoiceId', 'merchantMemo', 'transactionCategory', 'promotionCode', 'locale',
  'transactionPurposeCode', 'integrationType', 'transactionBai', 'transactionTti', 'transactionProcessingCode',
  'testMode', 'entityId',
], 'schedule payment', 'Payment of a schedule')

/** The basic fields of a request about a schedule. */
export const scheduleChange = excerpt(basic, [
  'merchantTransactionId', 'testMode', 'entityId',
], 'schedule change', 'Change of a schedule')

/** A page of a list. */
export const page = group('', 'Page of a list', [
  ['limit',  integer(1, 500), O, request, none, 'Maximum number of entries in one answer.', { default: '100', because: 'An addition to the documented parameters.' }],
  ['cursor', AN(255),         O, request, none, 'Continues at nextCursor of the previous answer.', { because: 'An addition to the documented parameters.', reference: true }],
], [], 'page')

/** Additional fields of the answer about a schedule. */
export const scheduleResponse = group('', 'Schedule answer', [
  // name               format     need direction class meaning
  ['id',                id32,      R,   response, none, 'Id of the schedule.'],
  ['shortId',           shortId,   C,   response, none, 'Short number of the schedule, for people.', beyond],
  ['job.startDate',     milliseconds, C,   response, none, 'First possible run, in milliseconds since 1970 UTC.', { because: 'Clients of this API family read a number.' }],
  ['job.endDate',       milliseconds, C,   response, none, 'Last possible run, in milliseconds since 1970 UTC.', { because: 'Clients of this API family read a number.' }],
  ['nextExecutions[n]', timestamp, C,   response, none, 'The next runs, five at most, in UTC.', { maxIndex: 4 }],
  ['effectiveDate',     timestamp, C,   response, none, 'Effective date of a cancellation.'],
  ['state',             oneOf('WAITING', 'ENDING', 'CANCELLED', 'ENDED'), C, response, none, 'State: waiting, ending at a later moment, cancelled, or ended.', beyond],
  ['timeZone',          AN(64),    C,   response, none, 'IANA time zone of the schedule.', beyond],
  ['createdAt',         timestamp, C,   response, none, 'Time of creation.', beyond],
], [], 'schedule response')

/** A list of schedules, or the executions of one schedule. */
export const scheduleListResponse = group('', 'Schedule list answer', [
  // name                           format     need direction class meaning
  ['schedules[n].id',               id32,      C,   response, none, 'Schedules, newest first; each as in a single read.', { maxIndex: 499 }],
  ['executions[n].id',              id32,      C,   response, none, 'Executions, newest first.', { maxIndex: 499 }],
  ['executions[n].scheduledAt',     timestamp, C,   response, none, 'Instant of the execution.', { maxIndex: 499 }],
  ['executions[n].state',           oneOf('DUE', 'FAILED', 'PROCESSING', 'PENDING', 'APPROVED', 'DECLINED', 'UNKNOWN', 'EXPIRED'), C, response, none, 'DUE: not charged yet. FAILED: no payment could be made. Otherwise the state of its payment.', { maxIndex: 499 }],
  ['executions[n].paymentId',       id32,      C,   response, none, 'Payment of the execution; the last one after retries.', { maxIndex: 499 }],
  ['executions[n].attempts',        integer(0, 99), C, response, none, 'Number of payments of the execution.', { maxIndex: 499 }],
  ['executions[n].result.code',     AN(11),    C,   response, none, 'Result code of the execution.', { maxIndex: 499 }],
  ['executions[n].result.description', AN(255), C,  response, none, 'Description of that code.', { maxIndex: 499 }],
  ['missed[n].from',                timestamp, C,   response, none, 'First of a range of missed instants.', { maxIndex: 99 }],
  ['missed[n].to',                  timestamp, C,   response, none, 'Last instant of the range.', { maxIndex: 99 }],
  ['missed[n].count',               N(16),     C,   response, none, 'Number of instants in the range.', { maxIndex: 99 }],
  ['nextCursor',                    AN(255),   C,   response, none, 'Cursor of the next page; absent on the last.'],
], [], 'schedule list response')

/** A clock for simulated time. Test environment only; resources that follow inherit it. */
export const testClock = group('', 'Test clock', [
  ['testClock', AN(64), O, stored, none, 'Id of the test clock of the new resource.', reference],
], [], 'testClock')

/** A clock that a test advances. */
export const clock = group('', 'Test clock request', [
  ['name', AN(64),   O, echoed,  none, 'Label of the clock, for people.'],
  ['time', dateTime, O, request, none, 'Initial time, UTC; the present by default.'],
], [], 'clock')

/** The target of an advance. */
export const clockAdvance = group('', 'Advance of a test clock', [
  ['to', dateTime, O, request, none, 'Target time, UTC.'],
  ['by', match('P([0-9]{1,4}Y)?([0-9]{1,4}M)?([0-9]{1,5}W)?([0-9]{1,6}D)?(T([0-9]{1,6}H)?([0-9]{1,8}M)?([0-9]{1,10}S)?)?', 'P1M', 2, 64), O, request, none, 'Length of the advance, as an ISO 8601 duration by the calendar: P1M is a month.'],
], [
  { rule: 'at-least-one', of: ['to', 'by'], message: 'an advance needs to or by' },
  { rule: 'not-together', of: ['to', 'by'], message: 'an advance has one target: omit to or by' },
], 'clock advance')

/** The fields of the answer about a test clock. */
export const clockResponse = group('', 'Test clock answer', [
  // name           format                       need direction class meaning
  ['id',            id32,                        R,   response, none, 'Id of the clock, as used in testClock.'],
  ['status',        oneOf('READY', 'ADVANCING'), C,   response, none, 'ADVANCING: due work on the way is under way.'],
  ['now',           timestamp,                   C,   response, none, 'Time of the clock.'],
  ['target',        timestamp,                   C,   response, none, 'Target of the advance.'],
  ['progress',      integer(0, 100),             C,   response, none, 'Progress of the advance in percent.'],
], [], 'clock response')

/** The clocks of an entity. */
export const clockListResponse = group('', 'Test clock list answer', [
  ['clocks[n].id', id32, C, response, none, 'Clocks of the entity, newest first; each as in a single read.', { maxIndex: 99 }],
], [], 'clock list response')
