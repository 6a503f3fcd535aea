import type { Engine } from '../engine.ts'
import type { NewEvent } from '../event/store-outbox.ts'
import type { Payment, PaymentState } from './types.ts'

/** The content of a payment's event, also stored with the event. */
export type PaymentEvent = {
  readonly id: string
  readonly type: `payment.${PaymentState}`
  readonly data: {
    readonly paymentType: string
    readonly state: PaymentState
    readonly code: string
  }
}

/** Whether the request named a notification URL of its own. */
export const notifies = (payment: Payment): boolean =>
  typeof payment.request.notificationUrl === 'string'

export function eventOf(
  id: string,
  payment: Payment,
  state: PaymentState,
  code: string,
): PaymentEvent {
  return { id, type: `payment.${state}`, data: { paymentType: payment.paymentType, state, code } }
}

/** The event in the form of its row. */
export const storedEvent = ({ id, type, data }: PaymentEvent): NewEvent => ({
  id,
  type,
  data: JSON.stringify(data),
})

/** Publishes a committed event to this process's subscribers. */
export function announce(
  engine: Pick<Engine, 'clock' | 'events'>,
  payment: Payment,
  event: PaymentEvent,
  seq: number,
): void {
  if (!engine.events.wanted) return
  engine.events.emit({
    ...event,
    resource: payment.id,
    channelId: payment.channelId,
    sequence: seq,
    at: new Date(engine.clock.realMs()),
  })
}
