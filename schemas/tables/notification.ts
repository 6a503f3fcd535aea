import { AN, amount, C, currency, group, none, oneOf, R, response } from '../table.ts'
import { id32 } from './formats.ts'

/**
 * Body of a webhook. Its payload is the answer of a read of the resource; this table holds only the
 * additional fields.
 */
export const notification = group('', 'Notification', [
  // name                          format                                                need direction class meaning
  ['type',                         oneOf('PAYMENT', 'REGISTRATION', 'SCHEDULE'), R,   response, none, 'Type of the resource.', { because: 'SCHEDULE needs a subscription.' }],
  ['action',                       oneOf('CREATED', 'UPDATED', 'DELETED'),               C,   response, none, 'Change of the resource; absent for payments.'],
  ['payload.id',                   id32,                                                 R,   response, none, 'Id of the resource; the rest of the payload is its usual answer.'],
  ['payload.presentationAmount',   amount,                                               C,   response, none, 'Amount shown to the shopper.'],
  ['payload.presentationCurrency', currency,                                             C,   response, none, 'Currency shown to the shopper.'],
  ['payload.referencedId',         id32,                                                 C,   response, none, 'Payment that a follow-up refers to.'],
  ['payload.source',               oneOf('SCHEDULER'),                                   C,   response, none, 'SCHEDULER if a schedule made the payment.'],
  ['payload.event',                AN(64),                                               C,   response, none, 'Change of a schedule: schedule.created, .changed, .cancelled, .ended, .missed or .execution.failed.'],
  ['payload.scheduleId',           id32,                                                 C,   response, none, 'Id of that schedule.'],
], [], 'notification')
