import { AN, C, dateTime, type Format, flag, group, integer, match, none, O, oneOf, R, reference, request, response, secret, stored, url } from '../table.ts'
import { id32, notificationId, timestamp } from './formats.ts'

const kinds: Format = { kind: 'list', of: oneOf('PAYMENT', 'REGISTRATION', 'SCHEDULE'), max: 3 }
const key = match('[0-9A-Fa-f]{64}', '000102030405060708090a0b0c0d0e0f'.repeat(2), 64, 64)

/** An endpoint for notifications about the entity named by entityId and all below it. */
export const webhook = group('', 'Webhook endpoint', [
  // name     format                         need direction class meaning
  ['url',     url(2048),                     O,   stored, none, 'Address of the notifications. Required at creation.'],
  ['types',   kinds,                         O,   stored, none, 'Types of notifications, comma-separated.', { default: 'PAYMENT,REGISTRATION' }],
  ['wrapper', oneOf('TEXT', 'JSON', 'NONE'), O,   stored, none, 'TEXT sends bare hex, JSON an object around it, NONE the unencrypted body.', { default: 'TEXT' }],
  ['active',  flag,                          O,   stored, none, 'Whether notifications are sent.', { default: 'true' }],
], [], 'webhook')

/** Answer about a webhook endpoint. */
export const webhookResponse = group('', 'Webhook answer', [
  // name           format                         need direction class   meaning
  ['id',            id32,                          R,   response, none,   'Id of the endpoint.'],
  ['url',           url(2048),                     R,   response, none,   'Address of the notifications.'],
  ['types',         kinds,                         R,   response, none,   'Types of notifications.'],
  ['wrapper',       oneOf('TEXT', 'JSON', 'NONE'), R,   response, none,   'Wrapper of the body.'],
  ['active',        oneOf('true', 'false'),        R,   response, none,   'Whether notifications are sent.'],
  ['entityId',      id32,                          R,   response, none,   'Entity whose notifications the endpoint receives, with those of all entities below it.'],
  ['encryptionKey', key,                           C,   response, secret, 'Encryption key. Shown once, at creation.'],
  ['signingSecret', AN(255),                       C,   response, secret, 'Signing secret. Shown once, at creation.'],
  ['createdAt',     timestamp,                     C,   response, none,   'Time of creation.'],
  ['previousSecretUntil', timestamp,               C,   response, none,   'End of the time in which the previous secret signs as well.'],
  ['previousKeyUntil', timestamp,                  C,   response, none,   'End of the time in which the previous encryption key may be used: keep both keys, and try both.'],
  ['failingSince',  timestamp,                     C,   response, none,   'Time of the first of the current consecutive failures.'],
  ['failures',      integer(0, 2147483647),        C,   response, none,   'Number of consecutive failures.'],
  ['disabledAt',    timestamp,                     C,   response, none,   'Time at which the gateway disabled the endpoint.'],
  ['disabledReason', AN(255),                      C,   response, none,   'Reason of the disabling.'],
  ['removedAt',     timestamp,                     C,   response, none,   'Time of removal; the delivery log stays readable.'],
], [], 'webhook response')

/** Selection of endpoints to list. */
export const webhookQuery = group('', 'Webhook list parameters', [
  ['removed', flag, O, request, none, 'Whether removed endpoints are included.', { default: 'false' }],
], [], 'webhook query')

/** Several endpoints. */
export const webhookListResponse = group('', 'Webhook list answer', [
  ['webhooks[n].id', id32,    C, response, none, 'Endpoints, newest first; each as in a single read.', { maxIndex: 499 }],
  ['nextCursor',     AN(255), C, response, none, 'Cursor of the next page; absent on the last.'],
], [], 'webhook list response')

/** Selection of an endpoint's notifications to list. */
export const deliveryQuery = group('', 'Delivery log parameters', [
  ['state', oneOf('PENDING', 'DELIVERED', 'DEAD'), O, request, none, 'Only notifications in this state; DEAD ones were given up.'],
], [], 'delivery query')

/** Deliveries to an endpoint and its answers. */
export const deliveryResponse = group('', 'Delivery log answer', [
  // name                                format         need direction class meaning
  ['deliveries[n].id',                   id32,          C,   response, none, 'Notifications, newest first.', { maxIndex: 499 }],
  ['deliveries[n].eventId',              id32,          C,   response, none, 'Event of the notification.', { maxIndex: 499 }],
  ['deliveries[n].type',                 oneOf('PAYMENT', 'REGISTRATION', 'SCHEDULE', 'CALLBACK'), C, response, none, 'Type of the resource.', { maxIndex: 499 }],
  ['deliveries[n].resource',             id32,          C,   response, none, 'Payment, registration or schedule.', { maxIndex: 499 }],
  ['deliveries[n].state',                oneOf('PENDING', 'DELIVERED', 'DEAD'), C, response, none, 'DEAD: given up.', { maxIndex: 499 }],
  ['deliveries[n].reason',               AN(255),       C,   response, none, 'Reason for giving the notification up.', { maxIndex: 499 }],
  ['deliveries[n].replay',               flag,          C,   response, none, 'Whether the notification was replayed.', { maxIndex: 499 }],
  ['deliveries[n].createdAt',            timestamp,     C,   response, none, 'Time of the event.', { maxIndex: 499 }],
  ['deliveries[n].nextAttemptAt',        timestamp,     C,   response, none, 'Time of the next attempt.', { maxIndex: 499 }],
  ['deliveries[n].attempts[n].at',         timestamp,   C,   response, none, 'Time of an attempt.', { maxIndex: 499 }],
  ['deliveries[n].attempts[n].durationMs', integer(0, 2147483647), C, response, none, 'Duration of the attempt.', { maxIndex: 499 }],
  ['deliveries[n].attempts[n].httpStatus',   integer(100, 999), C, response, none, 'Status of the answer.', { maxIndex: 499 }],
  ['deliveries[n].attempts[n].error',    AN(255),       C,   response, none, 'Reason for a missing answer.', { maxIndex: 499 }],
  ['deliveries[n].attempts[n].answer',   AN(2048),      C,   response, none, 'Start of the answer, without secrets.', { maxIndex: 499 }],
  ['nextCursor',                         AN(255),       C,   response, none, 'Cursor of the next page; absent on the last.'],
], [], 'delivery response')

/** The rotated secret of an endpoint. */
export const webhookRotation = group('', 'Webhook rotation', [
  ['key', oneOf('SIGNING', 'ENCRYPTION'), O, request, none, 'The signing secret, or the encryption key. The previous one stays valid for a day.', { default: 'SIGNING' }],
], [], 'webhook rotation')

/** Selection of notifications to replay. */
export const webhookReplay = group('', 'Replay request', [
  // name      format                need direction class meaning
  ['eventId',  notificationId,       O,   request, none, 'A single event: its id, or the webhook-id of a notification.', reference],
  ['from',     dateTime,             O,   request, none, 'Start of a range of events, UTC.'],
  ['until',    dateTime,             O,   request, none, 'End of the range, UTC; the present by default.'],
  ['which',    oneOf('ALL', 'DEAD'), O,   request, none, 'DEAD: only notifications that were given up.', { default: 'ALL' }],
], [
  { rule: 'at-least-one', of: ['eventId', 'from'], message: 'a replay needs eventId or from' },
  { rule: 'not-together', of: ['eventId', 'from'], message: 'a replay needs one selection: omit eventId or from' },
], 'webhook replay')

/** Result of a test or of a replay. */
export const webhookActionResponse = group('', 'Webhook action answer', [
  ['delivered',  flag,                   C, response, none, 'Whether the endpoint accepted the test.'],
  ['httpStatus', integer(100, 999),      C, response, none, "Status of the endpoint's answer."],
  ['error',      AN(255),                C, response, none, 'Reason for a missing answer.'],
  ['answer',     AN(2048),               C, response, none, "Start of the endpoint's answer, without secrets."],
  ['durationMs', integer(0, 2147483647), C, response, none, 'Duration of the test.'],
  ['replayed',   integer(0, 2147483647), C, response, none, 'Number of replayed notifications.'],
  ['nextFrom',   timestamp,              C, response, none, 'Start of the next request when the range exceeds the limit of one replay.'],
], [], 'webhook action response')
