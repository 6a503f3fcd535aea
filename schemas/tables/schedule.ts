import { AN, C, echoed, group, N, none, O, R, response, stored } from '../table.ts'
import { id32, timestamp } from './formats.ts'

/** What a schedule charges. */
export const schedule = group('', 'Schedule request', [
  ['registrationId', id32, R, echoed, none, 'Stored instrument that the schedule charges.'],
], [], 'schedule')

/** What the answer about a schedule holds beyond what was sent. */
export const scheduleResponse = group('', 'Schedule answer', [
  // name               format     need direction class meaning
  ['id',                id32,      R,   response, none, 'Id of the schedule.'],
  ['job.startDate',     N(16),     C,   response, none, 'First moment at which it may run, in milliseconds since 1970 UTC.', { because: 'Clients of this API family read a number here.' }],
  ['job.endDate',       N(16),     C,   response, none, 'Last moment at which it may run, in milliseconds since 1970 UTC.', { because: 'Clients of this API family read a number here.' }],
  ['nextExecutions[n]', timestamp, C,   response, none, 'The next moments at which it runs, five at most, in UTC.', { maxIndex: 4 }],
  ['effectiveDate',     timestamp, C,   response, none, 'When a cancellation takes effect.'],
], [], 'schedule response')

/** Clock of its own for simulated time. Test environment only; what comes of the resource inherits it. */
export const testClock = group('', 'Test clock', [
  ['testClock', AN(64), O, stored, none, 'Id of the test clock that the new resource lives on.'],
], [], 'testClock')
