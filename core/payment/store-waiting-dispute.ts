/** SQL of chargebacks that were told and are not recorded yet. */
import { type Sql, sql } from '../db/sql.ts'
import { membersOf } from './stored-members.ts'

/**
 * Operations by whose keys an acquirer can name a payment. A chargeback of a capture can come by the key of any
 * authorisation of its chain. One by the key of a capture that is open or failed says that the money of the
 * authorisation was taken.
 */
const namesOf = (paymentId: string | null) => sql`
paid as (
  select id, connector, attempt_key, case effect when 'capture' then parent_id else root_id end as root_id,
    effect in ('authorisation', 'replacement', 'increase') as is_authorisation
  from tollgate.payment
  where id = ${paymentId}::uuid),
${membersOf(sql`id = (select root_id from paid)`)},
named as (
  select id, attempt_key from paid
  union
  select id, attempt_key from member
  union
  select capture.id, capture.attempt_key
  from paid
  cross join member
  cross join lateral (
    select id, attempt_key
    from tollgate.payment
    where referenced_id = member.id and effect = 'capture' and state <> 'approved'
    offset 0) as capture
  where paid.is_authorisation)`

/** Part of a statement: chargebacks of settlement lines that may be about one of `named`, by their own small index. */
const linesOf = (condition: Sql) => sql`
from named
cross join lateral (
  select id
  from tollgate.settlement_record as record
  where record.candidates @> array[named.id] and record.record_type = 'CHARGEBACK' and record.status <> 'FAILED'
    and (record.effect in ('open', 'failed') or record.match_status = 'MULTIPLE_MATCHES') and ${condition}
  offset 0) as record`

/**
 * A verified chargeback, or one of a settlement line, that waited for the end of the payment, perhaps a capture, has its
 * turn now.
 */
export const hurryChargebacks = (connector: string, paymentId: string) => sql`
with recursive ${namesOf(paymentId)},
line as (
  update tollgate.settlement_record set effect_after = now()
  where effect = 'open' and effect_after > now()
    and id = any(array(select record.id ${linesOf(sql`record.effect = 'open'`)}))
  returning scope_id),
due as (
  update tollgate.timer set due_at = now()
  where kind = 'settlement-effect' and due_at > now()
    and ref = any(array(select replace(scope_id::text, '-', '') from line)))
update tollgate.inbound_event set next_at = now()
where processed_at is null and next_at > now() and (connector, account, event_id) in (
    select event.connector, event.account, event.event_id
    from named
    cross join lateral (
      select connector, account, event_id
      from tollgate.inbound_event
      where connector = ${connector}::text and claim ->> 'key' = named.attempt_key and processed_at is null
        and claim ->> 'verified' = 'true' and claim -> 'outcome' ->> 'is' in ('chargeback', 'chargebackReversal')
      offset 0) as event)`

/** Condition of `event`, which names `named`: it was set aside, and no operator took its entry off the list. */
const isAside = sql`event.outcome = 'quarantined' and exists (
      select
      from (values (named.id, event.event_id), ('00000000-0000-0000-0000-000000000000'::uuid,
        event.connector || ' ' || event.account || ' ' || event.event_id)) as listed (payment_id, reference)
      join tollgate.attention as entry
        on coalesce(entry.payment_id, '00000000-0000-0000-0000-000000000000') = listed.payment_id
        and entry.kind = 'event' and entry.reference = listed.reference
      where entry.resolved_at is null)`

/**
 * Condition of `record`. A failed effect has no time once an operator took its entry off the list. A line that several
 * payments fit by a name may be about each of them, until an operator assigns it, or has checked it.
 */
const isWaiting = sql`(record.effect = 'open' or (record.effect = 'failed' and record.effect_after is not null)
      or (record.effect = 'none' and record.match_status = 'MULTIPLE_MATCHES' and record.tier <> 'composite'
        and record.checked_version is distinct from record.version))`

/** Chargebacks that are only listed, because their event id was known: for an operator to carry out or to drop. */
const listed = sql`
select entry.reference as id
from named
cross join lateral (
  select reference
  from tollgate.attention as entry
  where coalesce(entry.payment_id, '00000000-0000-0000-0000-000000000000') = named.id and entry.kind = 'event'
    and entry.resolved_at is null and entry.detail -> 'now' -> 'outcome' ->> 'is' = 'chargeback'
  offset 0) as entry`

/**
 * A chargeback that was told, by a verified message or a settlement line, and is not recorded yet. One that could not
 * be recorded, or is only listed, counts until an operator takes its entry off the list.
 */
export const waitingChargeback = (paymentId: string | null) => sql<{ id: string }>`
with recursive ${namesOf(paymentId)}
select event.event_id as id
from paid
cross join named
cross join lateral (
  select event_id
  from tollgate.inbound_event as event
  where event.connector = paid.connector and event.claim ->> 'key' = named.attempt_key
    and event.claim ->> 'verified' = 'true' and event.claim -> 'outcome' ->> 'is' = 'chargeback'
    and (event.processed_at is null or ${isAside})
  offset 0) as event
union all ${listed}
union all
select replace(record.id::text, '-', '') as id ${linesOf(isWaiting)}
limit 1`
