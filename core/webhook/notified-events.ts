/** Which events merchants are told of, and as what: one table for deliveries, replays and the feed. */
export type NotificationType = 'PAYMENT' | 'REGISTRATION' | 'SCHEDULE' | 'RISK'
export type Action = 'CREATED' | 'UPDATED' | 'DELETED'

type Row = readonly [event: string, type: NotificationType, action?: Action]

/** A payment of which nobody knows anything is an open question: nobody is told of that. */
const table: readonly Row[] = [
  ['payment.pending', 'PAYMENT'],
  ['payment.approved', 'PAYMENT'],
  ['payment.declined', 'PAYMENT'],
  ['payment.expired', 'PAYMENT'],
  // Of the payment that made it.
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
  'RISK',
]

/** Types of the events that are told as this notification; that of a payment may be told as two. */
export const eventTypesOf = (type: NotificationType): readonly string[] =>
  table.filter(([, told]) => told === type).map(([event]) => event)

/** Undefined of payments. */
export const actionOf = (event: string, type: NotificationType): Action | undefined =>
  table.find(([name, told]) => name === event && told === type)?.[2]

/** Whether a registration is told of by the event of the payment that made it. */
export const isMadeBy = (event: string): boolean => event.startsWith('payment.')

/** The verification of an account is no payment: what comes of it is the registration. */
export const verificationType = 'RG'

/**
 * What an event is told as, in this order.
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
 * Counts what is told of one resource. A registration's own events count from one; before them is the one
 * that made it.
 */
export const sequenceOf = (
  type: NotificationType,
  event: { readonly type: string; readonly seq: number },
): number => {
  if (type !== 'REGISTRATION') return event.seq
  return isMadeBy(event.type) ? 1 : event.seq + 1
}
