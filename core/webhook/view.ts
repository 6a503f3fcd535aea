/** The responses about webhook endpoints. */
import { type Answered, listResult } from '../call.ts'
import { wireTimestamp } from '../clock.ts'
import type { Page } from '../page/by-id.ts'
import { doneResult } from '../payment/decide.ts'
import type { Envelope } from '../schedule/view.ts'
import type { Shown } from './endpoints.ts'
import type { DeliveryRow } from './store.ts'
import type { Endpoint, Tried, Wrapper } from './types.ts'

export type About = Envelope & { readonly environment: 'test' | 'live' }

export type WebhookView = Answered & {
  url: string
  /** Comma-separated. */
  types: string
  wrapper: Wrapper
  active: 'true' | 'false'
  entityId: string
  createdAt: string
  /** 64 hex digits; shown once, on creation. */
  encryptionKey?: string
  /** `whsec_…`; shown once, on creation. */
  signingSecret?: string
  previousSecretUntil?: string
  previousKeyUntil?: string
  failingSince?: string
  failures?: number
  disabledAt?: string
  disabledReason?: string
  removedAt?: string
}

export type WebhooksView = Answered & { webhooks: WebhookView[]; nextCursor?: string }

export type WebhookActionView = Answered & {
  delivered?: boolean
  httpStatus?: number
  error?: string
  answer?: string
  durationMs?: number
  replayed?: number
  nextFrom?: string
}

export type DeliveryView = {
  id: string
  eventId?: string
  type: string
  resource: string
  state: 'PENDING' | 'DELIVERED' | 'DEAD'
  reason?: string
  replay: boolean
  createdAt: string
  nextAttemptAt?: string
  attempts: {
    at: string
    durationMs: number
    httpStatus?: number
    error?: string
    answer?: string
  }[]
}

export type DeliveriesView = Answered & { deliveries: DeliveryView[]; nextCursor?: string }

function bare(id: string, { ndc, buildNumber, now, environment }: About): Answered {
  return { id, result: doneResult(environment), buildNumber, timestamp: wireTimestamp(now), ndc }
}

export function webhookView({ endpoint, secrets }: Shown, about: About): WebhookView {
  const { previousUntil, previousKeyUntil, failingSince, disabledAt, disabledReason, removedAt } =
    endpoint
  const isRotating = previousUntil !== null && previousUntil > about.now
  return {
    ...bare(endpoint.id, about),
    url: endpoint.url,
    types: endpoint.types.join(','),
    wrapper: endpoint.wrapper,
    active: endpoint.active ? 'true' : 'false',
    entityId: endpoint.entityId,
    createdAt: wireTimestamp(endpoint.createdAt),
    ...secrets,
    ...(isRotating ? { previousSecretUntil: wireTimestamp(previousUntil) } : {}),
    ...(previousKeyUntil !== null && previousKeyUntil > about.now
      ? { previousKeyUntil: wireTimestamp(previousKeyUntil) }
      : {}),
    ...(failingSince === null
      ? {}
      : { failingSince: wireTimestamp(failingSince), failures: endpoint.failures }),
    ...(disabledAt === null ? {} : { disabledAt: wireTimestamp(disabledAt) }),
    ...(disabledReason === null ? {} : { disabledReason }),
    ...(removedAt === null ? {} : { removedAt: wireTimestamp(removedAt) }),
  }
}

export function webhooksView(id: string, page: Page<Endpoint>, about: About): WebhooksView {
  return {
    ...bare(id, about),
    result: listResult(),
    webhooks: page.entries.map((endpoint) => webhookView({ endpoint }, about)),
    ...cursorOf(page),
  }
}

export function testView(id: string, tried: Tried, about: About): WebhookActionView {
  return {
    ...bare(id, about),
    delivered: tried.delivered,
    durationMs: tried.durationMs,
    ...answerOf(tried),
  }
}

export function replayView(
  id: string,
  { replayed, nextFrom }: { replayed: number; nextFrom?: Date },
  about: About,
): WebhookActionView {
  const more = nextFrom === undefined ? {} : { nextFrom: wireTimestamp(nextFrom) }
  return { ...bare(id, about), replayed, ...more }
}

export function deliveriesView(id: string, page: Page<DeliveryRow>, about: About): DeliveriesView {
  return {
    ...bare(id, about),
    result: listResult(),
    deliveries: page.entries.map(deliveryView),
    ...cursorOf(page),
  }
}

function deliveryView(row: DeliveryRow): DeliveryView {
  return {
    id: row.id,
    ...(row.event_id === null ? {} : { eventId: row.event_id }),
    type: row.kind,
    resource: row.resource,
    state: row.state.toUpperCase() as DeliveryView['state'],
    ...(row.reason === null ? {} : { reason: row.reason }),
    replay: row.replay,
    createdAt: wireTimestamp(row.created_at),
    ...(row.state === 'pending' ? { nextAttemptAt: wireTimestamp(row.due_at) } : {}),
    attempts: row.tries.map((one) => ({
      at: wireTimestamp(new Date(one.at)),
      durationMs: one.durationMs,
      ...answerOf(one),
    })),
  }
}

const answerOf = (one: Pick<Tried, 'status' | 'error' | 'answer'>) => ({
  ...(one.status === null ? {} : { httpStatus: one.status }),
  ...(one.error === null ? {} : { error: one.error }),
  ...(one.answer === null ? {} : { answer: one.answer }),
})

const cursorOf = ({ nextCursor }: Page<unknown>) => (nextCursor === undefined ? {} : { nextCursor })
