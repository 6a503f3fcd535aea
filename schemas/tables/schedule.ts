import { AN, C, dateTime, echoed, excerpt, group, integer, match, N, none, O, oneOf, R, reference, request, response, stored } from '../table.ts'
import { basic } from './basic.ts'
import { id32, timestamp } from './formats.ts'

const beyond = { because: 'Given beyond the documented fields.' }

/** What a schedule charges. */
export const schedule = group('', 'Schedule request', [
  ['registrationId', id32, R, echoed, none, 'Stored instrument that the schedule charges.', reference],
], [], 'schedule')

/** What each payment of a schedule takes of the basic fields. */
export const schedulePayment = excerpt(basic, [
  'amount', 'currency', 'paymentType', 'descriptor', 'merchantTransactionId', 'merchantInvoiceId', 'merchantMemo',
  'transactionCategory', 'testMode', 'entityId',
], 'schedule payment', 'Payment of a schedule')

/** What a request about a schedule itself takes. */
export const scheduleChange = excerpt(basic, [
  'merchantTransactionId', 'testMode', 'entityId',
], 'schedule change', 'Change of a schedule')

/** A page of a list. */
export const page = group('', 'Page of a list', [
  ['limit',  integer(1, 500), O, request, none, 'How many entries one answer holds at most.', { default: '100', because: 'Given beyond the documented parameters.' }],
  ['cursor', AN(255),         O, request, none, 'Continues where nextCursor of the answer before points.', { because: 'Given beyond the documented parameters.', reference: true }],
], [], 'page')

/** What the answer about a schedule holds beyond what was sent. */
export const scheduleResponse = group('', 'Schedule answer', [
  // name               format     need direction class meaning
  ['id',                id32,      R,   response, none, 'Id of the schedule.'],
  ['job.startDate',     N(16),     C,   response, none, 'First moment at which it may run, in milliseconds since 1970 UTC.', { because: 'Clients of this API family read a number here.' }],
  ['job.endDate',       N(16),     C,   response, none, 'Last moment at which it may run, in milliseconds since 1970 UTC.', { because: 'Clients of this API family read a number here.' }],
  ['nextExecutions[n]', timestamp, C,   response, none, 'The next moments at which it runs, five at most, in UTC.', { maxIndex: 4 }],
  ['effectiveDate',     timestamp, C,   response, none, 'When a cancellation takes effect.'],
  ['state',             oneOf('WAITING', 'ENDING', 'CANCELLED', 'ENDED'), C, response, none, 'Whether it runs on, was cancelled to a later moment, was cancelled, or has run out.', beyond],
  ['timeZone',          AN(64),    C,   response, none, 'IANA zone in which its times are read.', beyond],
  ['createdAt',         timestamp, C,   response, none, 'When it was created.', beyond],
], [], 'schedule response')

/** A list of schedules, or what one schedule did. */
export const scheduleListResponse = group('', 'Schedule list answer', [
  // name                           format     need direction class meaning
  ['schedules[n].id',               id32,      C,   response, none, 'Schedules, newest first; each as when it is read by itself.', { maxIndex: 499 }],
  ['executions[n].id',              id32,      C,   response, none, 'Executions, newest first.', { maxIndex: 499 }],
  ['executions[n].scheduledAt',     timestamp, C,   response, none, 'The moment that it is for.', { maxIndex: 499 }],
  ['executions[n].state',           oneOf('DUE', 'FAILED', 'PROCESSING', 'PENDING', 'APPROVED', 'DECLINED', 'UNKNOWN', 'EXPIRED'), C, response, none, 'DUE: not charged yet. FAILED: no payment could be made. Otherwise the state of its payment.', { maxIndex: 499 }],
  ['executions[n].paymentId',       id32,      C,   response, none, 'The payment of it; the last one when a declined one was repeated.', { maxIndex: 499 }],
  ['executions[n].attempts',        integer(0, 99), C, response, none, 'How many payments were made for it.', { maxIndex: 499 }],
  ['executions[n].result.code',     AN(11),    C,   response, none, 'Result of it.', { maxIndex: 499 }],
  ['executions[n].result.description', AN(255), C,  response, none, 'The same in words.', { maxIndex: 499 }],
  ['missed[n].from',                timestamp, C,   response, none, 'First of a number of moments that passed uncharged.', { maxIndex: 99 }],
  ['missed[n].to',                  timestamp, C,   response, none, 'Last of them.', { maxIndex: 99 }],
  ['missed[n].count',               N(16),     C,   response, none, 'How many there were.', { maxIndex: 99 }],
  ['nextCursor',                    AN(255),   C,   response, none, 'Where the next page begins; absent on the last.'],
], [], 'schedule list response')

/** Clock of its own for simulated time. Test environment only; what comes of the resource inherits it. */
export const testClock = group('', 'Test clock', [
  ['testClock', AN(64), O, stored, none, 'Id of the test clock that the new resource lives on.', reference],
], [], 'testClock')

/** A clock that a test moves. */
export const clock = group('', 'Test clock request', [
  ['name', AN(64),   O, echoed,  none, 'Label of the clock, for people.'],
  ['time', dateTime, O, request, none, 'Where it stands at first, UTC; the present when absent.'],
], [], 'clock')

/** Where a test clock goes. */
export const clockAdvance = group('', 'Advance of a test clock', [
  ['to', dateTime, O, request, none, 'Moment to go to, UTC.'],
  ['by', match('P([0-9]{1,4}Y)?([0-9]{1,4}M)?([0-9]{1,5}W)?([0-9]{1,6}D)?(T([0-9]{1,6}H)?([0-9]{1,8}M)?([0-9]{1,10}S)?)?', 'P1M', 2, 64), O, request, none, 'How far to go, as an ISO 8601 duration by the calendar: P1M is a month.'],
], [
  { rule: 'at-least-one', of: ['to', 'by'], message: 'say where to go: either to or by' },
  { rule: 'not-together', of: ['to', 'by'], message: 'say where to go only once: leave out to or by' },
], 'clock advance')

/** What the answer about a test clock holds. */
export const clockResponse = group('', 'Test clock answer', [
  // name           format                       need direction class meaning
  ['id',            id32,                        R,   response, none, 'Id of the clock: what testClock takes.'],
  ['status',        oneOf('READY', 'ADVANCING'), C,   response, none, 'ADVANCING: what is due on the way is being done.'],
  ['now',           timestamp,                   C,   response, none, 'Where it stands.'],
  ['target',        timestamp,                   C,   response, none, 'Where it is going.'],
  ['progress',      integer(0, 100),             C,   response, none, 'How much of the way lies behind it, in percent.'],
  ['clocks[n].id',  id32,                        C,   response, none, 'Clocks of the entity, newest first.', { maxIndex: 99 }],
], [], 'clock response')
