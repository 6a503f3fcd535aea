import { AN, C, dateTime, type Format, flag, group, integer, match, none, O, oneOf, R, reference, request, response, secret, stored, url } from '../table.ts'
import { id32, timestamp } from './formats.ts'

const kinds: Format = { kind: 'list', of: oneOf('PAYMENT', 'REGISTRATION', 'SCHEDULE', 'RISK'), max: 4 }
const key = match('[0-9A-Fa-f]{64}', '000102030405060708090a0b0c0d0e0f'.repeat(2), 64, 64)

/** An endpoint that gets notifications, of the entity named by entityId and all below it. */
export const webhook = group('', 'Webhook endpoint', [
  // name     format                         need direction class meaning
  ['url',     url(2048),                     O,   stored, none, 'Where notifications go. Required when the endpoint is made.'],
  ['types',   kinds,                         O,   stored, none, 'Which notifications, comma-separated.', { default: 'PAYMENT,REGISTRATION' }],
  ['wrapper', oneOf('TEXT', 'JSON', 'NONE'), O,   stored, none, 'TEXT sends bare hex, JSON an object around it, NONE the body unencrypted.', { default: 'TEXT' }],
  ['active',  flag,                          O,   stored, none, 'Whether notifications are sent.', { default: 'true' }],
], [], 'webhook')

/** Answer about a webhook endpoint. */
export const webhookResponse = group('', 'Webhook answer', [
  // name           format                         need direction class   meaning
  ['id',            id32,                          R,   response, none,   'Id of the endpoint.'],
  ['url',           url(2048),                     R,   response, none,   'Where notifications go.'],
  ['types',         kinds,                         R,   response, none,   'Which notifications.'],
  ['wrapper',       oneOf('TEXT', 'JSON', 'NONE'), R,   response, none,   'How the body is wrapped.'],
  ['active',        flag,                          R,   response, none,   'Whether notifications are sent.'],
  ['encryptionKey', key,                           C,   response, secret, 'Key of the encryption. Shown once, when it is made.'],
  ['signingSecret', AN(255),                       C,   response, secret, 'Secret of the signature. Shown once, when it is made.'],
  ['createdAt',     timestamp,                     C,   response, none,   'When it was made.'],
  ['previousSecretUntil', timestamp,               C,   response, none,   'Until then the secret before the last rotation signs as well.'],
  ['previousKeyUntil', timestamp,                  C,   response, none,   'Until then the encryption key before the last rotation may still be used: keep both, and try both.'],
  ['failingSince',  timestamp,                     C,   response, none,   'First of an unbroken row of failures.'],
  ['failures',      integer(0, 2147483647),        C,   response, none,   'How many there were.'],
  ['disabledAt',    timestamp,                     C,   response, none,   'When the gateway stopped sending.'],
  ['disabledReason', AN(255),                      C,   response, none,   'Why it did.'],
  ['removedAt',     timestamp,                     C,   response, none,   'When it was removed; its log can still be read.'],
], [], 'webhook response')

/** Which endpoints to list. */
export const webhookQuery = group('', 'Webhook list parameters', [
  ['removed', flag, O, request, none, 'Whether those that were removed are listed as well.', { default: 'false' }],
], [], 'webhook query')

/** Several endpoints. */
export const webhookListResponse = group('', 'Webhook list answer', [
  ['webhooks[n].id', id32,    C, response, none, 'Endpoints, newest first; each as when it is read by itself.', { maxIndex: 499 }],
  ['nextCursor',     AN(255), C, response, none, 'Where the next page begins; absent on the last.'],
], [], 'webhook list response')

/** Which notifications of an endpoint to list. */
export const deliveryQuery = group('', 'Delivery log parameters', [
  ['state', oneOf('PENDING', 'DELIVERED', 'DEAD'), O, request, none, 'Only notifications in this state; DEAD ones were given up.'],
], [], 'delivery query')

/** What was sent to an endpoint and what came back. */
export const deliveryResponse = group('', 'Delivery log answer', [
  // name                                format         need direction class meaning
  ['deliveries[n].id',                   id32,          C,   response, none, 'Notifications, newest first.', { maxIndex: 499 }],
  ['deliveries[n].eventId',              id32,          C,   response, none, 'Event that it tells of.', { maxIndex: 499 }],
  ['deliveries[n].type',                 oneOf('PAYMENT', 'REGISTRATION', 'SCHEDULE', 'RISK', 'CALLBACK'), C, response, none, 'What changed.', { maxIndex: 499 }],
  ['deliveries[n].resource',             id32,          C,   response, none, 'Payment, registration or schedule.', { maxIndex: 499 }],
  ['deliveries[n].state',                oneOf('PENDING', 'DELIVERED', 'DEAD'), C, response, none, 'DEAD: given up.', { maxIndex: 499 }],
  ['deliveries[n].reason',               AN(255),       C,   response, none, 'Why it was given up.', { maxIndex: 499 }],
  ['deliveries[n].replay',               flag,          C,   response, none, 'Whether it was sent again on request.', { maxIndex: 499 }],
  ['deliveries[n].createdAt',            timestamp,     C,   response, none, 'When its event was.', { maxIndex: 499 }],
  ['deliveries[n].nextAttemptAt',        timestamp,     C,   response, none, 'When it is tried again.', { maxIndex: 499 }],
  ['deliveries[n].attempts[n].at',         timestamp,   C,   response, none, 'One try.', { maxIndex: 499 }],
  ['deliveries[n].attempts[n].durationMs', integer(0, 2147483647), C, response, none, 'How long it took.', { maxIndex: 499 }],
  ['deliveries[n].attempts[n].httpStatus',   integer(100, 999), C, response, none, 'Status of the answer.', { maxIndex: 499 }],
  ['deliveries[n].attempts[n].error',    AN(255),       C,   response, none, 'Why there was none.', { maxIndex: 499 }],
  ['deliveries[n].attempts[n].answer',   AN(2048),      C,   response, none, 'Begin of the answer, without secrets.', { maxIndex: 499 }],
  ['nextCursor',                         AN(255),       C,   response, none, 'Where the next page begins; absent on the last.'],
], [], 'delivery response')

/** What of an endpoint is made anew. */
export const webhookRotation = group('', 'Webhook rotation', [
  ['key', oneOf('SIGNING', 'ENCRYPTION'), O, request, none, 'The signing secret, or the encryption key. The one before is good for another day.', { default: 'SIGNING' }],
], [], 'webhook rotation')

/** What to send to an endpoint again. */
export const webhookReplay = group('', 'Replay request', [
  // name      format                need direction class meaning
  ['eventId',  id32,                 O,   request, none, 'One event.', reference],
  ['from',     dateTime,             O,   request, none, 'First moment of a range of events, UTC.'],
  ['until',    dateTime,             O,   request, none, 'Last moment of it, UTC; the present when absent.'],
  ['which',    oneOf('ALL', 'DEAD'), O,   request, none, 'DEAD: only what was given up.', { default: 'ALL' }],
], [
  { rule: 'at-least-one', of: ['eventId', 'from'], message: 'say what to send again: eventId or from' },
  { rule: 'not-together', of: ['eventId', 'from'], message: 'say what to send again only once: leave out eventId or from' },
], 'webhook replay')

/** What came of a test or of a replay. */
export const webhookActionResponse = group('', 'Webhook action answer', [
  ['delivered',  flag,                   C, response, none, 'Whether the endpoint took it.'],
  ['httpStatus', integer(100, 999),      C, response, none, 'Status of its answer.'],
  ['error',      AN(255),                C, response, none, 'Why there was none.'],
  ['answer',     AN(2048),               C, response, none, 'Begin of its answer, without secrets.'],
  ['durationMs', integer(0, 2147483647), C, response, none, 'How long it took.'],
  ['replayed',   integer(0, 2147483647), C, response, none, 'How many notifications are sent again.'],
  ['nextFrom',   timestamp,              C, response, none, 'Where to go on when the range held more than one request replays.'],
], [], 'webhook action response')
