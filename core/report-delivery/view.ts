/** The responses about report destinations. */
import { resultDescription } from '@tollgate/schemas'
import { type Answered, listResult } from '../call.ts'
import { wireTimestamp } from '../clock.ts'
import type { Page } from '../page/by-id.ts'
import { approvedCode } from '../payment/decide.ts'
import type { About } from '../webhook/view.ts'
import type { DeliveryRow } from './store.ts'
import type { Destination, Replayed, Tried } from './types.ts'

export type ReportDestinationView = Answered & {
  folderUrl: string
  login: { user: string; type: 'PASSWORD' | 'KEY' }
  /** Comma-separated. */
  hostKey?: string
  certificate?: string
  raw: 'true' | 'false'
  active: 'true' | 'false'
  entityId: string
  createdAt: string
  failingSince?: string
  failures?: number
  removedAt?: string
}

export type ReportDestinationsView = Answered & {
  destinations: ReportDestinationView[]
  nextCursor?: string
}

export type ReportActionView = Answered & {
  delivered?: boolean
  error?: string
  message?: string
  durationMs?: number
  replayed?: number
  /** Of the first file that the replay left out. */
  nextNo?: number
}

export type ReportDeliveryView = {
  id: string
  fileId: string
  name: string
  bytes: number
  state: 'PENDING' | 'DELIVERED' | 'DEAD'
  reason?: string
  replay: boolean
  createdAt: string
  nextAttemptAt?: string
  attempts: { at: string; durationMs: number; result: string; message?: string }[]
}

export type ReportDeliveriesView = Answered & {
  deliveries: ReportDeliveryView[]
  nextCursor?: string
}

export function bare(id: string, { ndc, buildNumber, now, environment }: About): Answered {
  const code = approvedCode[environment === 'test' ? 'INTERNAL' : 'LIVE']
  const result = { code, description: resultDescription(code) }
  return { id, result, buildNumber, timestamp: wireTimestamp(now), ndc }
}

export function destinationView(destination: Destination, about: About): ReportDestinationView {
  const { hostKeys, certificate, failingSince, removedAt } = destination
  return {
    ...bare(destination.id, about),
    folderUrl: destination.url,
    login: { user: destination.user, type: destination.login },
    ...(hostKeys.length === 0 ? {} : { hostKey: hostKeys.join(',') }),
    ...(certificate === null ? {} : { certificate }),
    raw: destination.raw ? 'true' : 'false',
    active: destination.active ? 'true' : 'false',
    entityId: destination.entityId,
    createdAt: wireTimestamp(destination.createdAt),
    ...(failingSince === null
      ? {}
      : { failingSince: wireTimestamp(failingSince), failures: destination.failures }),
    ...(removedAt === null ? {} : { removedAt: wireTimestamp(removedAt) }),
  }
}

export const destinationsView = (
  id: string,
  page: Page<Destination>,
  about: About,
): ReportDestinationsView => ({
  ...bare(id, about),
  result: listResult(),
  destinations: page.entries.map((destination) => destinationView(destination, about)),
  ...nextOf(page),
})

export const reportTestView = (
  id: string,
  { delivered, result, message, durationMs }: Tried,
  about: About,
): ReportActionView => ({
  ...bare(id, about),
  delivered,
  ...(delivered ? {} : { error: result }),
  ...(message === null ? {} : { message }),
  durationMs,
})

export const reportReplayView = (
  id: string,
  { replayed, nextNo }: Replayed,
  about: About,
): ReportActionView => ({
  ...bare(id, about),
  replayed,
  ...(nextNo !== undefined && { nextNo }),
})

export const reportDeliveriesView = (
  id: string,
  page: Page<DeliveryRow>,
  about: About,
): ReportDeliveriesView => ({
  ...bare(id, about),
  result: listResult(),
  deliveries: page.entries.map(deliveryView),
  ...nextOf(page),
})

const deliveryView = (row: DeliveryRow): ReportDeliveryView => ({
  id: row.id,
  fileId: row.file_id,
  name: row.name,
  bytes: Number(row.bytes),
  state: row.state.toUpperCase() as ReportDeliveryView['state'],
  ...(row.reason === null ? {} : { reason: row.reason }),
  replay: row.replay,
  createdAt: wireTimestamp(row.created_at),
  ...(row.state === 'pending' ? { nextAttemptAt: wireTimestamp(row.due_at) } : {}),
  attempts: row.tries.map(({ at, durationMs, result, message }) => ({
    at: wireTimestamp(new Date(at)),
    durationMs,
    result,
    ...(message === null ? {} : { message }),
  })),
})

export const nextOf = ({ nextCursor }: Page<unknown>) =>
  nextCursor === undefined ? {} : { nextCursor }
