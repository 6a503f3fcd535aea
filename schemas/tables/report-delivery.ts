import { AN, C, type Format, flag, group, integer, match, none, O, oneOf, R, reference, request, response, secret, stored } from '../table.ts'
import { id32, timestamp } from './formats.ts'

const folderUrl = match('[a-z]{3,5}://[!-~]{1,500}', 'sftp://sftp.example.com/reports', 8, 508)
const fingerprint = match('SHA256:[A-Za-z0-9+/]{43}', `SHA256:${'uNiVztksCsDhcc0u9e8BgrJXVGDTzFyF'.padEnd(43, 'A')}`, 50, 50)
const fingerprints: Format = { kind: 'list', of: fingerprint, max: 4 }
const login = oneOf('PASSWORD', 'KEY')
const pem = (max: number): Format => ({ kind: 'text', min: 1, max, multiline: true })
const deliveryState = oneOf('PENDING', 'DELIVERED', 'DEAD')
const many = { maxIndex: 499 }

/** A folder on a server of the entity named by entityId. Its report files are taken there. */
export const reportDestination = group('', 'Report destination', [
  // name        format                need direction class   meaning
  ['folderUrl',  folderUrl,            O,   stored,   none,   'Server and folder: sftp://host:port/folder, or ftps:// for FTP over TLS. A path that begins with /~/ is below the folder of the login. Required at creation.'],
  ['login.user', AN(128),              O,   stored,   none,   'Name of the login. Required at creation.'],
  ['login.password', AN(255),          O,   request,  secret, 'Password of the login.'],
  ['login.privateKey', pem(16384),     O,   request,  secret, 'Private key of the login in OpenSSH format, or RSA or ECDSA in PEM, without a passphrase; RSA of 2048 to 8192 bits. SFTP only.'],
  ['hostKey',    fingerprints,         O,   stored,   none,   "SHA256 fingerprints of the server's host keys, comma-separated. SFTP needs one."],
  ['certificate', pem(32768),          O,   stored,   none,   'Certificates of the only authorities that may vouch for the server, in PEM format. FTPS only. Default: the public authorities.'],
  ['raw',        flag,                 O,   stored,   none,   'Whether text that a spreadsheet would run as a formula stays as it is.', { default: 'false' }],
  ['active',     flag,                 O,   stored,   none,   'Whether files are delivered.', { default: 'true' }],
], [
  { rule: 'not-together', of: ['login.password', 'login.privateKey'], message: 'a login has a password or a private key: omit one of them' },
], 'report destination')

/** Answer about a destination. */
export const reportDestinationResponse = group('', 'Report destination answer', [
  // name           format                  need direction class meaning
  ['id',            id32,                   R,   response, none, 'Id of the destination.'],
  ['folderUrl',     folderUrl,              R,   response, none, 'Server and folder.'],
  ['login.user',    AN(128),                R,   response, none, 'Name of the login.'],
  ['login.type',    login,                  R,   response, none, 'What proves the login. Its value is never shown.'],
  ['hostKey',       fingerprints,           C,   response, none, 'Pinned host keys.'],
  ['certificate',   pem(32768),             C,   response, none, 'Certificates of the only trusted authorities.'],
  ['raw',           oneOf('true', 'false'), R,   response, none, 'Whether text that looks like a formula stays as it is.'],
  ['active',        oneOf('true', 'false'), R,   response, none, 'Whether files are delivered.'],
  ['entityId',      id32,                   R,   response, none, 'Entity whose report files are delivered.'],
  ['createdAt',     timestamp,              R,   response, none, 'Time of creation. Files of later times are delivered, earlier ones by a replay.'],
  ['failingSince',  timestamp,              C,   response, none, 'Time of the first of the current consecutive failures.'],
  ['failures',      integer(0, 2147483647), C,   response, none, 'Number of consecutive failures.'],
  ['removedAt',     timestamp,              C,   response, none, 'Time of removal; the delivery log stays readable.'],
], [], 'report destination response')

/** Selection of destinations or keys to list. */
export const reportDestinationQuery = group('', 'Report destination list parameters', [
  ['removed', flag, O, request, none, 'Whether removed ones are included.', { default: 'false' }],
], [], 'report destination query')

/** Several destinations. */
export const reportDestinationListResponse = group('', 'Report destination list answer', [
  ['destinations[n].id', id32,    C, response, none, 'Destinations, newest first; each as in a single read.', many],
  ['nextCursor',         AN(255), C, response, none, 'Cursor of the next page; absent on the last.'],
], [], 'report destination list response')

/** Selection of a destination's deliveries to list. */
export const reportDeliveryQuery = group('', 'Report delivery log parameters', [
  ['state', deliveryState, O, request, none, 'Only files in this state; DEAD ones were given up.'],
], [], 'report delivery query')

/** Deliveries to a destination. */
export const reportDeliveryResponse = group('', 'Report delivery log answer', [
  // name                                format                  need direction class meaning
  ['deliveries[n].id',                   id32,                   C,   response, none, 'Deliveries, newest first.', many],
  ['deliveries[n].fileId',               id32,                   C,   response, none, 'Report file.', many],
  ['deliveries[n].name',                 AN(255),                C,   response, none, 'Name of the file.', many],
  ['deliveries[n].bytes',                integer(0, 2147483647), C,   response, none, 'Size of the file.', many],
  ['deliveries[n].state',                deliveryState,          C,   response, none, 'DEAD: given up.', many],
  ['deliveries[n].reason',               AN(255),                C,   response, none, 'Reason for giving the file up.', many],
  ['deliveries[n].replay',               flag,                   C,   response, none, 'Whether the file was sent by a replay.', many],
  ['deliveries[n].createdAt',            timestamp,              C,   response, none, 'Time at which the file was to be delivered.', many],
  ['deliveries[n].nextAttemptAt',        timestamp,              C,   response, none, 'Time of the next attempt.', many],
  ['deliveries[n].attempts[n].at',         timestamp,              C, response, none, 'Time of an attempt.', many],
  ['deliveries[n].attempts[n].durationMs', integer(0, 2147483647), C, response, none, 'Duration of the attempt.', many],
  ['deliveries[n].attempts[n].result',     AN(255),                C, response, none, 'Result of the attempt: stored, was-there, was-taken, or the code of a failure.', many],
  ['deliveries[n].attempts[n].message',    AN(500),                C, response, none, 'The failure in words.', many],
  ['nextCursor',                         AN(255),                C,   response, none, 'Cursor of the next page; absent on the last.'],
], [], 'report delivery response')

/** Selection of files to deliver again. */
export const reportReplay = group('', 'Report replay request', [
  // name     format                  need direction class meaning
  ['fileId',  id32,                   O,   request, none, 'A single report file.', reference],
  ['fromNo',  integer(1, 2147483647), O,   request, none, 'The file of this number and all later ones.'],
  ['which',   oneOf('ALL', 'DEAD'),   O,   request, none, 'DEAD: only files that were given up.', { default: 'ALL' }],
], [
  { rule: 'at-least-one', of: ['fileId', 'fromNo'], message: 'a replay needs fileId or fromNo' },
  { rule: 'not-together', of: ['fileId', 'fromNo'], message: 'a replay needs one selection: omit fileId or fromNo' },
], 'report replay')

/** Result of a test or of a replay. */
export const reportActionResponse = group('', 'Report action answer', [
  ['delivered',  flag,                   C, response, none, 'Whether the server stored the test file, which was then removed.'],
  ['error',      AN(255),                C, response, none, 'Code of the failure.'],
  ['message',    AN(500),                C, response, none, 'The failure in words.'],
  ['durationMs', integer(0, 2147483647), C, response, none, 'Duration of the test.'],
  ['replayed',   integer(0, 2147483647), C, response, none, 'Number of files that are delivered again.'],
  ['nextNo',     integer(1, 2147483647), C, response, none, 'Number of the first file that the replay left out: the fromNo of the next one.'],
], [], 'report action response')

const publicKey: Format = { kind: 'text', min: 1, max: 8192, multiline: true }

/** A key that reads the report files of the entity named by entityId by SFTP. */
export const sftpKey = group('', 'SFTP key', [
  ['publicKey', publicKey, R, request, none, 'Public key as in authorized_keys: ssh-ed25519, ecdsa-sha2-nistp256, -384, -521, or ssh-rsa of 2048 to 8192 bits.'],
  ['name',      AN(64),    O, stored,  none, 'Name for people.'],
], [], 'sftp key')

export const sftpKeyResponse = group('', 'SFTP key answer', [
  ['id',          id32,        R, response, none, 'Id of the key.'],
  ['fingerprint', AN(64),      R, response, none, 'SHA256 fingerprint, as shown by ssh-keygen -lf.'],
  ['keyType',     AN(64),      R, response, none, 'Type of the key.'],
  ['name',        AN(64),      C, response, none, 'Name for people.'],
  ['entityId',    id32,        R, response, none, 'Entity whose report files the key reads.'],
  ['createdAt',   timestamp,   R, response, none, 'Time of creation.'],
  ['lastUsedAt',  timestamp,   C, response, none, 'Time of the last login.'],
  ['removedAt',   timestamp,   C, response, none, 'Time of removal.'],
], [], 'sftp key response')

export const sftpKeyListResponse = group('', 'SFTP key list answer', [
  ['keys[n].id', id32,    C, response, none, 'Keys, newest first; each as in a single answer.', many],
  ['nextCursor', AN(255), C, response, none, 'Cursor of the next page; absent on the last.'],
], [], 'sftp key list response')
