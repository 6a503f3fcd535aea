import { AN, amount, C, currency, group, none, oneOf, R, response } from '../table.ts'
import { id32 } from './formats.ts'

/**
 * Body of a webhook. The payload is the answer that a read of the resource gives; only what it
 * holds besides stands here.
 */
export const notification = group('', 'Notification', [
  // name                          format                                                need direction class meaning
  ['type',                         oneOf('PAYMENT', 'REGISTRATION', 'SCHEDULE', 'RISK'), R,   response, none, 'What changed.', { because: 'SCHEDULE and RISK come only to those who ask for them.' }],
  ['action',                       oneOf('CREATED', 'UPDATED', 'DELETED'),               C,   response, none, 'What became of it; absent for payments.'],
  ['payload.id',                   id32,                                                 R,   response, none, 'Id of the resource; the rest of the payload is its usual answer.'],
  ['payload.presentationAmount',   amount,                                               C,   response, none, 'Amount as the shopper saw it.'],
  ['payload.presentationCurrency', currency,                                             C,   response, none, 'Currency as the shopper saw it.'],
  ['payload.referencedId',         id32,                                                 C,   response, none, 'Payment that a follow-up refers to.'],
  ['payload.source',               oneOf('SCHEDULER'),                                   C,   response, none, 'SCHEDULER when a schedule made the payment.'],
  ['payload.event',                AN(64),                                               C,   response, none, 'What became of a schedule: schedule.created, .changed, .cancelled, .ended, .missed or .execution.failed.'],
  ['payload.scheduleId',           id32,                                                 C,   response, none, 'That schedule.'],
], [], 'notification')
