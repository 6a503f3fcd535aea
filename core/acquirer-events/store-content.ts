/** SQL of events that come again with another content. */
import { type Sql, sql } from '../db/sql.ts'
import type { EventOf } from './store.ts'

/** A verified claim under a known event id, with another content. */
export type Another = EventOf & {
  /** JSON of a StoredClaim. */
  readonly claim: string
  readonly digest: string
}

/** The id of a further content that is an event of its own, like one that an operator retries; no event id has a blank. */
const idOfContent = ({ eventId, digest }: Another) => sql`${`${eventId} says ${digest}`}::text`

/**
 * Condition: this content counts as an event of one of the accounts already, under the plain id or beside it. An earlier
 * version had other digests.
 */
const isCounted = ({ connector, eventId, claim }: Another, accounts: readonly string[]): Sql => sql`
  exists (
    select from tollgate.inbound_event as beside
    where beside.claim ->> 'key' = ${claim}::jsonb ->> 'key' and beside.connector = ${connector}::text
      and beside.account = any(${accounts}::text[])
      and split_part(beside.event_id, ' ', 1) = ${eventId}::text and beside.claim = ${claim}::jsonb)`

/**
 * Stores what an account hears of itself beside what was handed to it, so that both count, since a connector knows
 * most of the account's own payments. Only about the same operation: accounts of one merchant number share the
 * ids of events, so a claim about another one may be the same news. Empty when it does not count, or is known.
 */
export const addVerifiedBeside = (another: Another) => sql<{ event_id: string }>`
  insert into tollgate.inbound_event (connector, account, event_id, claim)
  select known.connector, known.account, ${idOfContent(another)}, ${another.claim}::jsonb
  from tollgate.inbound_event as known
  where known.connector = ${another.connector}::text and known.account = ${another.account}::text
    and known.event_id = ${another.eventId}::text and known.claim ->> 'verified' = 'true'
    and known.heard_by is not null and known.claim <> ${another.claim}::jsonb
    and known.claim ->> 'key' = ${another.claim}::jsonb ->> 'key'
    and not ${isCounted(another, [another.account])}
  on conflict do nothing
  returning event_id`

/** Condition: the event that is known at that account says something else, and nobody knows this content. */
const isNewContent = (another: Another, at: string, counting: readonly string[]): Sql => sql`
  connector = ${another.connector}::text and account = ${at}::text
    and event_id = ${another.eventId}::text
    and claim ->> 'verified' = 'true' and claim <> ${another.claim}::jsonb
    and not exists (select from jsonb_array_elements(others) as known where known = ${another.claim}::jsonb)
    and not ${isCounted(another, counting)}`

/**
 * Notes a verified event with a known id and another content for operators. Empty when this content is known, or when
 * there are too many.
 *
 * @param at The account that the event is known at.
 * @param counting The accounts of which it may be an event already.
 */
export const addOtherContent = (
  another: Another,
  at: string,
  counting: readonly string[],
  most: number,
) => sql<{ event_id: string }>`
  update tollgate.inbound_event as event set others = others || jsonb_build_array(${another.claim}::jsonb)
  where ${isNewContent(another, at, counting)} and jsonb_array_length(others) < ${most}::integer
  returning event_id`

/** The event, when it has too many contents for this one, which is new. */
export const withoutRoom = (
  another: Another,
  at: string,
  counting: readonly string[],
  most: number,
) => sql<{ event_id: string }>`
  select event_id
  from tollgate.inbound_event
  where ${isNewContent(another, at, counting)} and jsonb_array_length(others) >= ${most}::integer`

/**
 * Counts a message whose content is not kept, in one entry of the operators' list per event and payment, or per event
 * without one. The entry of a payment says the last content; a chargeback stays in it, because it holds refunds back.
 */
export const countNotKept = (
  id: string,
  of: { readonly id: string; readonly attemptKey: string } | undefined,
  detail: Readonly<Record<string, unknown>>,
  reference: string,
) => sql`
  insert into tollgate.attention as entry (id, kind, payment_id, attempt_key, alarm_at, detail, reference)
  values (${id}::uuid, 'event', ${of?.id ?? null}::uuid, ${of?.attemptKey ?? null}::text, now(),
    ${JSON.stringify(detail)}::jsonb || '{"notKept": 1}', ${reference}::text)
  on conflict (coalesce(payment_id, '00000000-0000-0000-0000-000000000000'), kind, reference)
    where resolved_at is null
  do update set detail = entry.detail
    || case when excluded.detail #>> '{now,outcome,is}' = 'chargeback'
        or entry.detail #>> '{now,outcome,is}' is distinct from 'chargeback'
      then excluded.detail else '{}' end
    || jsonb_build_object('notKept', (entry.detail ->> 'notKept')::bigint + 1)`
