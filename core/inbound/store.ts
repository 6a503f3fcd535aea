import { sql } from '../db/sql.ts'

export type InboundRow = {
  connector: string
  account: string
  event_id: string
  claim: StoredClaim
}

/** A claim as stored: amounts as text, and whether the message was proven to be the acquirer's. */
export type StoredClaim = {
  readonly key: string
  readonly verified: boolean
  readonly outcome: { readonly is: string; readonly [name: string]: unknown }
  readonly minor: string
  readonly currency: string
}

/** Stores an event once; what the acquirer sends again changes nothing. */
export const addEvent = (
  connector: string,
  account: string,
  eventId: string,
  claim: StoredClaim,
) => sql<{
  event_id: string
}>`
  insert into tollgate.inbound_event (connector, account, event_id, claim)
  values (${connector}, ${account}, ${eventId}, ${JSON.stringify(claim)}::jsonb)
  on conflict do nothing
  returning event_id`

export const openEvents = (limit: number) => sql<InboundRow>`
  select connector, account, event_id, claim
  from tollgate.inbound_event
  where processed_at is null
  order by received_at
  limit ${limit}::integer`

export const closeEvent = (
  connector: string,
  account: string,
  eventId: string,
  outcome: string,
) => sql`
  update tollgate.inbound_event set processed_at = now(), outcome = ${outcome}::text
  where connector = ${connector} and account = ${account} and event_id = ${eventId}
    and processed_at is null`
