import type { GatewayEventType } from '@tollgate/plugin-kit'
import { storable } from '../db/json.ts'
import type { Engine } from '../engine.ts'
import type { NewEvent } from '../event/store-outbox.ts'
import { shownFacts } from '../three-d-secure/record.ts'
import type { Answer, Payment, PaymentState } from './types.ts'

/** The content of a payment's event, also stored with the event. */
export type PaymentEvent = {
  readonly id: string
  readonly type: `payment.${PaymentState}`
  readonly data: {
    readonly paymentType: string
    readonly state: PaymentState
    readonly code: string
  }
  /**
   * Of a pending payment, whose final answer replaces it, and of an approval of another amount than
   * requested: notifications tell both later, too.
   */
  readonly then?: ShownAnswer & { readonly approvedMinor?: string }
}

/** The parts of an acquirer's answer that responses show. */
export type ShownAnswer = Pick<Answer, (typeof shown)[number]>

const shown = ['avs', 'cvv', 'details', 'card', 'authentication'] as const

function shownAnswer(answer: Answer): ShownAnswer {
  const facts = { ...answer, authentication: shownFacts(answer.authentication) }
  return Object.fromEntries(
    shown.flatMap((name) => (facts[name] === undefined ? [] : [[name, facts[name]]])),
  )
}

/** Whether the request named a notification URL of its own. */
export const notifies = (payment: Payment): boolean =>
  typeof payment.request.notificationUrl === 'string'

export function eventOf(
  id: string,
  payment: Payment,
  state: PaymentState,
  code: string,
  answer: Answer = {},
  approvedMinor: bigint | null = null,
): PaymentEvent {
  const isOther = approvedMinor !== null && approvedMinor !== payment.amount.minor
  const amount = isOther ? { approvedMinor: String(approvedMinor) } : {}
  const then = state === 'pending' ? shownAnswer(answer) : amount
  return {
    id,
    type: `payment.${state}`,
    data: { paymentType: payment.paymentType, state, code },
    ...(Object.keys(then).length > 0 && { then }),
  }
}

/** The event in the form of its row. */
export const storedEvent = ({ id, type, data, then }: PaymentEvent): NewEvent => ({
  id,
  type,
  data: then === undefined ? JSON.stringify(data) : storable({ ...data, then }),
})

/** Publishes a committed event to this process's subscribers. */
export function announce(
  engine: Pick<Engine, 'clock' | 'events'>,
  payment: Payment,
  { id, type, data }: PaymentEvent,
  seq: number,
): void {
  if (!engine.events.wanted) return
  engine.events.emit({
    // No commit makes a payment `processing` again.
    ...{ id, type: type as GatewayEventType, data },
    resource: payment.id,
    channelId: payment.channelId,
    sequence: seq,
    at: new Date(engine.clock.realMs()),
  })
}
