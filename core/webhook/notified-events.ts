/**
 * Which events cause notifications, and of which type: one table for deliveries, replays and the
 * feed.
 */
export type NotificationType = 'PAYMENT' | 'REGISTRATION' | 'SCHEDULE'
export type Action = 'CREATED' | 'UPDATED' | 'DELETED'

type Row = readonly [event: string, type: NotificationType, action?: Action]

/** An open payment without an outcome causes no notification. */
const table: readonly Row[] = [
  ['payment.pending', 'PAYMENT'],
  ['payment.approved', 'PAYMENT'],
  ['payment.declined', 'PAYMENT'],
  ['payment.expired', 'PAYMENT'],
  // The event of the payment that created the registration.
  ['payment.approved', 'REGISTRATION', 'CREATED'],
  ['registration.updated', 'REGISTRATION', 'UPDATED'],
  ['registration.removed', 'REGISTRATION', 'DELETED'],
  ['schedule.created', 'SCHEDULE', 'CREATED'],
  ['schedule.changed', 'SCHEDULE', 'UPDATED'],
  ['schedule.cancelled', 'SCHEDULE', 'DELETED'],
  ['schedule.ended', 'SCHEDULE', 'DELETED'],
  ['schedule.missed', 'SCHEDULE', 'UPDATED'],
  ['schedule.execution.failed', 'SCHEDULE', 'UPDATED'],
]

export const notificationTypes: readonly NotificationType[] = [
  'PAYMENT',
  'REGISTRATION',
  'SCHEDULE',
]

/** Event types that cause this notification type; a payment's event may cause two. */
export const eventTypesOf = (type: NotificationType): readonly string[] =>
  table.filter(([, told]) => told === type).map(([event]) => event)

/** Undefined for payments. */
export const actionOf = (event: string, type: NotificationType): Action | undefined =>
  table.find(([name, told]) => name === event && told === type)?.[2]

/** Whether the event belongs to the payment that created the registration. */
export const isMadeBy = (event: string): boolean => event.startsWith('payment.')

/** The verification of an account is no payment; its result is the registration. */
export const verificationType = 'RG'

/**
 * The notification types of an event, in order.
 *
 * @param makesRegistration whether its payment also stored an account.
 */
export function typesOf(
  event: { readonly type: string; readonly data: Readonly<Record<string, unknown>> },
  makesRegistration: boolean,
): NotificationType[] {
  const isVerification = event.data.paymentType === verificationType
  return table
    .filter(([name, type]) => {
      if (name !== event.type) return false
      if (type === 'PAYMENT') return !isVerification
      return !isMadeBy(name) || isVerification || makesRegistration
    })
    .map(([, type]) => type)
}

/**
 * The sequence number of a notification about one resource. A registration's own events count from
 * one; the event of the payment that created it comes before them.
 */
export const sequenceOf = (
  type: NotificationType,
  event: { readonly type: string; readonly seq: number },
): number => {
  if (type !== 'REGISTRATION') return event.seq
  return isMadeBy(event.type) ? 1 : event.seq + 1
}
