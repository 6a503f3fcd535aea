import { AN, C, date, dateTime, either, flag, group, integer, match, none, O, oneOf, R, request, response } from '../table.ts'
import { id32, timestamp } from './formats.ts'

const beyond = { because: 'Given beyond the documented parameters.' }
const many = { maxIndex: 499 }
/** That of an event; a second notification of the same event has one of its own. */
const eventId = match('[0-9a-f]{32}(-[a-z]{1,16})?', '0192f0c41b7a7cc2a3f0d1e2c3b4a596', 32, 49)
const types = oneOf('PAYMENT', 'REGISTRATION', 'SCHEDULE', 'RISK')
const action = oneOf('CREATED', 'UPDATED', 'DELETED')

/** What a reader of the feed asks for, beside a page. */
export const eventFeed = group('', 'Reading of events', [
  // name   format                                    need direction class meaning
  ['types', { kind: 'list', of: types, max: 4 },      O,   request, none, 'Which notifications, comma-separated; all of them when absent.', beyond],
  ['since', either(dateTime, date, oneOf('NOW')),     O,   request, none, 'Begins with what happened at this moment, UTC, or with what happens from now on. From the first event on when neither this nor a cursor is sent.', beyond],
  ['wait',  integer(0, 30),                           O,   request, none, 'How many seconds an answer without events may be kept back for some to come.', { default: '0', ...beyond }],
], [
  { rule: 'not-together', of: ['since', 'cursor'], message: 'say where to begin only once: leave out since or cursor' },
], 'event feed')

/** One notification. */
export const eventResponse = group('', 'Event answer', [
  // name       format         need direction class meaning
  ['id',         eventId,       R,   response, none, 'Id of the notification, as in webhook-id.'],
  ['sequence',   integer(0, 2147483647), R, response, none, 'Counts the events of the resource, as webhook-sequence does.'],
  ['at',         timestamp,     R,   response, none, 'When it was stored.'],
  ['type',       types,         R,   response, none, 'What changed.'],
  ['action',     action,        C,   response, none, 'What became of it; absent for payments.'],
  ['payload.id', id32,          R,   response, none, 'Id of the resource; the rest of the payload is its usual answer.'],
], [], 'event response')

/** A page of the feed. */
export const eventListResponse = group('', 'Event list answer', [
  // name                 format    need direction class meaning
  ['events[n].id',         eventId,   C,   response, none, 'Notifications, oldest first; each as when it is read by itself.', many],
  ['events[n].sequence',   integer(0, 2147483647), C, response, none, 'Counts the events of the resource.', many],
  ['events[n].at',         timestamp, C,   response, none, 'When it was stored.', many],
  ['events[n].type',       types,     C,   response, none, 'What changed.', many],
  ['events[n].action',     action,    C,   response, none, 'What became of it; absent for payments.', many],
  ['events[n].payload.id', id32,      C,   response, none, 'Id of the resource; the rest of the payload is its usual answer.', many],
  ['nextCursor',           AN(255),   R,   response, none, 'Where to go on, also when nothing is there yet.'],
  ['more',                 flag,      R,   response, none, 'Whether more is there already.'],
], [], 'event list response')
