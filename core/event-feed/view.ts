/** Responses of the event feed. */
import { resultDescription } from '@tollgate/schemas'
import { type Answered, listResult } from '../call.ts'
import { wireTimestamp } from '../clock.ts'
import { newId } from '../ids.ts'
import type { Envelope } from '../schedule/view.ts'
import type { Notification } from '../webhook/notification.ts'
import type { Action, NotificationType } from '../webhook/notified-events.ts'
import type { FeedPage } from './feed.ts'

export type EventView = {
  /** The same as `webhook-id` of its deliveries. */
  readonly id: string
  /** Counts the events of the resource, like `webhook-sequence`. */
  readonly sequence: number
  /** `yyyy-MM-dd HH:mm:ss+0000` */
  readonly at: string
  readonly type: NotificationType
  readonly action?: Action
  readonly payload: Readonly<Record<string, unknown>> & { readonly id: string }
}

export type EventsView = Answered & {
  readonly events: readonly EventView[]
  /** The cursor of the next page, also when it is still empty. */
  readonly nextCursor: string
  readonly more: boolean
}

function eventView(notification: Notification): EventView {
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

export type OneEventView = EventView & Answered

export function oneEventView(
  notification: Notification,
  code: string,
  about: Envelope,
): OneEventView {
  const result = { code, description: resultDescription(code as never) }
  return { ...eventView(notification), ...envelopeOf(about), result }
}
