/** Responses of the event feed. */
import type { GatewayEventType } from '@tollgate/plugin-kit'
import { type CurrencyCode, resultDescription } from '@tollgate/schemas'
import { type Answered, listResult } from '../call.ts'
import { wireTimestamp } from '../clock.ts'
import { newId } from '../ids.ts'
import type { PaymentView } from '../payment/view.ts'
import type { RegistrationView } from '../registration/view.ts'
import type { Envelope, ExecutionView, MissedView, ScheduleView } from '../schedule/view.ts'
import type { Notification } from '../webhook/notification.ts'
import type { Action } from '../webhook/notified-events.ts'
import type { FeedPage } from './feed.ts'

type Told = {
  /** The same as `webhook-id` of its deliveries. */
  readonly id: string
  /** Counts the events of the resource, like `webhook-sequence`. */
  readonly sequence: number
  /** `yyyy-MM-dd HH:mm:ss+0000` */
  readonly at: string
}

/** A payment at its event. */
export type PaymentPayload = Readonly<
  Omit<PaymentView, 'nextActions' | 'redirect'> & {
    presentationAmount?: string
    presentationCurrency?: CurrencyCode
  }
>

/** A schedule at its event. */
export type SchedulePayload = Readonly<
  ScheduleView & {
    event: Extract<GatewayEventType, `schedule.${string}`>
    /** Of `schedule.missed`: the missed due times. */
    missed?: readonly Readonly<MissedView>[]
    /** Of `schedule.execution.failed`: the execution without a payment. */
    executions?: readonly Readonly<ExecutionView>[]
  }
>

/** An event of the feed. Its type decides what its payload holds. */
export type EventView = Told &
  (
    | { readonly type: 'PAYMENT'; readonly action?: undefined; readonly payload: PaymentPayload }
    | {
        readonly type: 'REGISTRATION'
        readonly action: Action
        readonly payload: Readonly<RegistrationView>
      }
    | { readonly type: 'SCHEDULE'; readonly action: Action; readonly payload: SchedulePayload }
  )

export type EventsView = Answered & {
  readonly events: readonly EventView[]
  /** The cursor of the next page, also when it is still empty. */
  readonly nextCursor: string
  readonly more: boolean
}

export function eventView(notification: Notification): EventView {
  const { id, event, sequence, body } = notification
  // The same text as in deliveries, with the same order of fields.
  return {
    id,
    sequence,
    at: wireTimestamp(event.at),
    ...JSON.parse(body),
  }
}

const envelopeOf = ({ ndc, buildNumber, now }: Envelope) => ({
  buildNumber,
  timestamp: wireTimestamp(now),
  ndc,
})

export function eventsView(page: FeedPage, about: Envelope): EventsView {
  return {
    id: newId(),
    events: page.notifications.map(eventView),
    nextCursor: page.nextCursor,
    more: page.more,
    ...envelopeOf(about),
    result: listResult(),
  }
}

/** Of one event: the envelope's id is the event's own. */
export type OneEventView = EventView & Answered

export function oneEventView(
  notification: Notification,
  code: string,
  about: Envelope,
): OneEventView {
  const result = { code, description: resultDescription(code as never) }
  return { ...eventView(notification), ...envelopeOf(about), result }
}
