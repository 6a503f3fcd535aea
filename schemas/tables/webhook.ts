import { AN, C, type Format, flag, group, match, none, O, oneOf, R, response, secret, stored, url } from '../table.ts'
import { id32 } from './formats.ts'

const kinds: Format = { kind: 'list', of: oneOf('PAYMENT', 'REGISTRATION', 'SCHEDULE', 'RISK'), max: 4 }
const key = match('[0-9A-Fa-f]{64}', '000102030405060708090a0b0c0d0e0f'.repeat(2), 64, 64)

/** An endpoint that gets notifications, of the entity named by entityId and all below it. */
export const webhook = group('', 'Webhook endpoint', [
  // name     format                         need direction class meaning
  ['url',     url(2048),                     R,   stored, none, 'Where notifications go.'],
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
  ['encryptionKey', key,                           C,   response, secret, 'Key of the encryption. Shown once, when the endpoint is made.'],
  ['signingSecret', AN(255),                       C,   response, secret, 'Secret of the signature. Shown once, when it is made.'],
], [], 'webhook response')
