import { amount, C, currency, excerpt, type Group, group, none, oneOf, R, response, together, withHighestIndex } from '../table.ts'
import { id32 } from './formats.ts'
import { scheduleListResponse } from './schedule.ts'

/** Fields of a payment that a schedule made. */
export const scheduledResponse = group('', 'Payment of a schedule, in answers', [
  // name        format              need direction class meaning
  ['source',     oneOf('SCHEDULER'), C,   response, none, 'SCHEDULER if a schedule made the payment.'],
  ['scheduleId', id32,               C,   response, none, 'Id of that schedule.'],
], [], 'scheduled response')

/** Fields of a payment in a notification, in addition to those of its read. */
export const paymentNotification = group('', 'Payment in a notification', [
  // name                  format              need direction class meaning
  ['presentationAmount',   amount,             C,   response, none, 'Amount shown to the shopper.'],
  ['presentationCurrency', currency,           C,   response, none, 'Currency shown to the shopper.'],
], [], 'payment notification')

const change = group('', 'Change of a schedule', [
  ['event', oneOf('schedule.created', 'schedule.changed', 'schedule.cancelled', 'schedule.ended', 'schedule.missed', 'schedule.execution.failed'), R, response, none, 'Change of the schedule. Missed instants come with schedule.missed, an execution with schedule.execution.failed.'],
])

const failures = excerpt(scheduleListResponse, [
  'missed[n].from', 'missed[n].to', 'missed[n].count', 'executions[n].id', 'executions[n].scheduledAt', 'executions[n].state',
  'executions[n].attempts', 'executions[n].result.code', 'executions[n].result.description',
], 'failures', 'Failures of a schedule')

/** Fields of a schedule in a notification, in addition to those of its read. */
export const scheduleNotification = together('schedule notification', 'Schedule in a notification', [change, withHighestIndex(failures, 0)])

const inPayload = ({ fields }: Group) => fields.map((field) => ({ ...field, name: `payload.${field.name}`, need: C }) as const)

const head = group('', 'Notification', [
  // name        format                                                need direction class meaning
  ['type',       oneOf('PAYMENT', 'REGISTRATION', 'SCHEDULE'),         R,   response, none, 'Type of the resource.', { because: 'SCHEDULE needs a subscription.' }],
  ['action',     oneOf('CREATED', 'UPDATED', 'DELETED'),               C,   response, none, 'Change of the resource; absent for payments.'],
  ['payload.id', id32,                                                 R,   response, none, 'Id of the resource; the rest of the payload is its usual answer.'],
], [], 'notification')

/**
 * Body of a webhook. Its payload is the answer of a read of the resource; this table holds only the
 * additional fields.
 */
export const notification: Group = {
  ...head,
  fields: [...head.fields, ...inPayload(paymentNotification), ...inPayload(scheduledResponse), ...inPayload(scheduleNotification)],
}
