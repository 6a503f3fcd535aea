import type { Engine } from '../engine.ts'
import type { NewEvent } from '../event/store-outbox.ts'
import type { Payment, PaymentState } from './types.ts'

/** What an event of a payment tells; also stored with it. */
export type PaymentEvent = {
  readonly id: string
  readonly type: `payment.${PaymentState}`
  readonly data: {
    readonly paymentType: string
    readonly state: PaymentState
    readonly code: string
  }
}

/** Whether its request named a URL of its own that wants to be told. */
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

/** The same, ready for its row. */
export const storedEvent = ({ id, type, data }: PaymentEvent): NewEvent => ({
  id,
  type,
  data: JSON.stringify(data),
})

/** Tells this process's subscribers what was committed. */
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
