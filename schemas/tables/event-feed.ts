import { AN, C, date, dateTime, either, flag, group, integer, none, O, oneOf, R, request, response } from '../table.ts'
import { id32, notificationId, timestamp } from './formats.ts'

const beyond = { because: 'An addition to the documented parameters.' }
const many = { maxIndex: 499 }
const types = oneOf('PAYMENT', 'REGISTRATION', 'SCHEDULE')
const action = oneOf('CREATED', 'UPDATED', 'DELETED')

/** Parameters of a feed request, in addition to those of a page. */
export const eventFeed = group('', 'Reading of events', [
  // name   format                                    need direction class meaning
  ['types', { kind: 'list', of: types, max: 4 },      O,   request, none, 'Types of notifications, comma-separated; all types by default.', beyond],
  ['since', either(dateTime, date, oneOf('NOW')),     O,   request, none, 'Starts at this moment, UTC, or at the present. The first event by default without a cursor.', beyond],
  ['wait',  integer(0, 30),                           O,   request, none, 'Longest wait in seconds for an event when there is none.', { default: '0', ...beyond }],
], [
  { rule: 'not-together', of: ['since', 'cursor'], message: 'send only one start: omit since or cursor' },
], 'event feed')

/** One notification. */
export const eventResponse = group('', 'Event answer', [
  // name       format         need direction class meaning
  ['id',         notificationId,       R,   response, none, 'Id of the notification, as in webhook-id.'],
  ['sequence',   integer(0, 2147483647), R, response, none, 'Sequence number among the events of the resource, as in webhook-sequence.'],
  ['at',         timestamp,     R,   response, none, 'Time of storage.'],
  ['type',       types,         R,   response, none, 'Type of the resource.'],
  ['action',     action,        C,   response, none, 'Change of the resource; absent for payments.'],
  ['payload.id', id32,          R,   response, none, 'Id of the resource; the rest of the payload is its usual answer.'],
], [], 'event response')

/** A page of the feed. */
export const eventListResponse = group('', 'Event list answer', [
  // name                 format    need direction class meaning
  ['events[n].id',         notificationId,   C,   response, none, 'Notifications, oldest first; each as in a single read.', many],
  ['events[n].sequence',   integer(0, 2147483647), C, response, none, 'Sequence number among the events of the resource.', many],
  ['events[n].at',         timestamp, C,   response, none, 'Time of storage.', many],
  ['events[n].type',       types,     C,   response, none, 'Type of the resource.', many],
  ['events[n].action',     action,    C,   response, none, 'Change of the resource; absent for payments.', many],
  ['events[n].payload.id', id32,      C,   response, none, 'Id of the resource; the rest of the payload is its usual answer.', many],
  ['nextCursor',           AN(255),   R,   response, none, 'Cursor of the next page, which can still be empty.'],
  ['more',                 flag,      R,   response, none, 'Whether more events are available.'],
], [], 'event list response')
