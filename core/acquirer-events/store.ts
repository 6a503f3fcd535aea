import { type Sql, sql } from '../db/sql.ts'

export type InboundRow = {
  connector: string
  account: string
  event_id: string
  claim: StoredClaim
  /** The number of failures, and the number of waits. */
  tries: number
  waits: number
  /** Time since the arrival. */
  age_ms: number
  /** Instant of the arrival, to the microsecond. */
  received_at: string
}

/** An event of an account: the id is the acquirer's. */
export type EventOf = {
  readonly connector: string
  readonly account: string
  readonly eventId: string
}

/** A claim in its stored form: amounts as text, and whether the message was verified. */
export type StoredClaim = {
  readonly key: string
  readonly verified: boolean
  readonly outcome: { readonly is: string; readonly [name: string]: unknown }
  readonly minor: string
  readonly currency: string
  /** The acquirer's own reference, for example of a chargeback. */
  readonly reference?: string
}

/** How an event of another account of the merchant came to the payment's account. */
export type Handed = {
  /** The account that heard of it. */
  readonly by: string
  /** Instant of its arrival there, to the microsecond. */
  readonly receivedAt: string
}

/** A handed event that the account heard of later itself takes its place in the order of arrival. */
export const advanceTurn = ({
  connector,
  account,
  event_id: eventId,
  claim,
  received_at: receivedAt,
}: InboundRow) => sql`
  update tollgate.inbound_event set received_at = ${receivedAt}::timestamptz
  where connector = ${connector}::text and account = ${account}::text
    and split_part(event_id, ' ', 1) = split_part(${eventId}::text, ' ', 1)
    and claim = ${JSON.stringify(claim)}::jsonb and claim ->> 'key' = ${claim.key}::text
    and processed_at is null and received_at > ${receivedAt}::timestamptz`

/** Works again on a handed event that was given up because no payment had its key. */
export const reopenUnclaimed = ({ connector, account, event_id, claim }: InboundRow) => sql<{
  event_id: string
}>`
  update tollgate.inbound_event
  set processed_at = null, outcome = null, tries = 0, waits = 0, next_at = now()
  where connector = ${connector}::text and account = ${account}::text and event_id = ${event_id}::text
    and outcome = 'unknown-key' and claim ->> 'verified' = 'true' and claim ->> 'key' = ${claim.key}::text
  returning event_id`

/** The number of recent unverified events of an account, up to `most`. */
export const countUnverified = (
  connector: string,
  account: string,
  withinMs: number,
  most: number,
) => sql<{ count: number }>`
  select count(*)::integer as count
  from (
    select from tollgate.inbound_event
    where connector = ${connector}::text and account = ${account}::text
      and claim ->> 'verified' = 'false'
      and received_at > now() - ${withinMs}::bigint * interval '1 millisecond'
    limit ${most}::integer) as lately`

/** The merchant of an account, and the mode; null for payments without an account. */
export const merchantOf = (account: Sql) => sql`(
  select channel.parent_id::text || ' ' || held.mode
  from tollgate.merchant_account as held
  join tollgate.entity as channel on channel.id = held.channel_id
  where held.id = substring(${account} from '^[0-9a-f]{32}$')::uuid)`

/** Condition: the account is that of `event`, or another one of its merchant. */
const isOfItsMerchant = (account: Sql) => sql`
  (${account} = event.account or ${merchantOf(account)} = ${merchantOf(sql`event.account`)})`

/**
 * Whether an open event is to be worked on now: it is due, and no earlier verified event about the
 * same operation is open, at its account or at another one of its merchant: events of strangers hold up
 * nobody. A chargeback may wait for the end of its payment without blocking later words, and so may those behind
 * it at any address of the merchant; a reversal may wait for its chargeback without blocking any event.
 */
const hasItsTurn = sql`
  event.processed_at is null and event.next_at <= now()
    and not exists (
      select from tollgate.inbound_event as earlier
      where earlier.connector = event.connector and earlier.claim ->> 'key' = event.claim ->> 'key'
        and earlier.processed_at is null and earlier.claim ->> 'verified' = 'true'
        and (earlier.received_at, earlier.event_id) < (event.received_at, event.event_id)
        and not (earlier.waits > 0 and earlier.claim -> 'outcome' ->> 'is' = 'chargebackReversal')
        and not (earlier.claim -> 'outcome' ->> 'is' in ('chargeback', 'chargebackReversal')
          and event.claim -> 'outcome' ->> 'is' not in ('chargeback', 'chargebackReversal')
          and exists (
            select from tollgate.inbound_event as waiting
            where waiting.connector = event.connector and waiting.claim ->> 'key' = event.claim ->> 'key'
              and waiting.processed_at is null and waiting.claim ->> 'verified' = 'true' and waiting.waits > 0
              and waiting.claim -> 'outcome' ->> 'is' in ('chargeback', 'chargebackReversal')
              and ${isOfItsMerchant(sql`waiting.account`)}))
        and ${isOfItsMerchant(sql`earlier.account`)})`

/** Events whose turn has come. */
export const dueEvents = sql<Record<string, never>>`
  select
  from tollgate.inbound_event as event
  where ${hasItsTurn}`

const taken = sql`
  returning event.connector, event.account, event.event_id, event.claim, event.tries, event.waits,
    event.received_at::text as received_at, (extract(epoch from now() - event.received_at) * 1000)::double precision as age_ms`

/**
 * Due events, each for one process. Unclosed events come back after a time.
 *
 * @param without The connectors whose events wait.
 */
export const takeDue = (
  limit: number,
  againMs: number,
  without: readonly string[],
) => sql<InboundRow>`
  update tollgate.inbound_event as event
  set next_at = now() + ${againMs}::bigint * interval '1 millisecond'
  where (connector, account, event_id) in (
    select connector, account, event_id
    from tollgate.inbound_event as event
    where ${hasItsTurn} and event.connector <> all(${without}::text[])
    order by next_at
    limit ${limit}::integer
    for update of event skip locked)
  ${taken}`

/** The event about one operation whose turn has come, at an account or at another one of its merchant. */
export const takeNext = (
  connector: string,
  account: string,
  key: string,
  againMs: number,
) => sql<InboundRow>`
  update tollgate.inbound_event as event
  set next_at = now() + ${againMs}::bigint * interval '1 millisecond'
  where (connector, account, event_id) in (
    select connector, account, event_id
    from tollgate.inbound_event as event
    where connector = ${connector}::text and claim ->> 'key' = ${key}::text and ${hasItsTurn}
      and (account = ${account}::text
        or ${merchantOf(sql`event.account`)} = ${merchantOf(sql`${account}::text`)})
    order by received_at, event_id
    limit 1
    for update of event skip locked)
  ${taken}`

/** The row is open, and no other message replaced its claim. */
const isOpen = ({ connector, account, event_id, claim }: InboundRow) => sql`
  connector = ${connector}::text and account = ${account}::text and event_id = ${event_id}::text
    and processed_at is null and claim = ${JSON.stringify(claim)}::jsonb`

/** The same, and it did not fail meanwhile. */
const stillTaken = (row: InboundRow) => sql`
  ${isOpen(row)} and tries = ${row.tries}::integer and waits = ${row.waits}::integer`

/** Delays an event. A closed event stays closed. */
export const postponeEvent = (row: InboundRow, afterMs: number) => sql`
  update tollgate.inbound_event
  set waits = waits + 1, next_at = now() + ${afterMs}::bigint * interval '1 millisecond'
  where ${stillTaken(row)}`

export const failEvent = (row: InboundRow, afterMs: number) => sql`
  update tollgate.inbound_event
  set tries = tries + 1, next_at = now() + ${afterMs}::bigint * interval '1 millisecond'
  where ${stillTaken(row)}`

/** Puts an event aside after too many failures. */
export const quarantineEvent = (row: InboundRow) => sql<{ event_id: string }>`
  update tollgate.inbound_event
  set tries = tries + 1, processed_at = now(), outcome = 'quarantined'
  where ${stillTaken(row)}
  returning event_id`

/** Closes the event, unless another message replaced it meanwhile. */
export const closeEvent = (row: InboundRow, outcome: string) => sql`
  update tollgate.inbound_event set processed_at = now(), outcome = ${outcome}::text
  where ${isOpen(row)}`

/** A batch of unverified messages past their retention, in any state. */
export const purgeUnverified = (days: number, batch: number) => sql<{ event_id: string }>`
  delete from tollgate.inbound_event
  where ctid in (
    select ctid
    from tollgate.inbound_event
    where claim ->> 'verified' = 'false' and received_at < now() - ${days}::integer * interval '1 day'
    limit ${batch}::integer)
  returning event_id`

/** A batch of events past the time in which the acquirer may repeat them. */
export const purgeEvents = (days: number, batch: number) => sql<{ event_id: string }>`
  delete from tollgate.inbound_event
  where ctid in (
    select ctid
    from tollgate.inbound_event
    where received_at < now() - ${days}::integer * interval '1 day'
      and processed_at is not null and outcome <> 'quarantined'
    order by received_at
    limit ${batch}::integer)
  returning event_id`
