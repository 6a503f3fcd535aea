import type { Actor } from '../audit/actor.ts'
import type { AuditEntry } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'
import { audited, failedEffects, givenUp, lockedBefore, thawed } from './stored-ending.ts'

/** Why an operator has to look at a payment. */
export type AttentionKind =
  /** Two words contradict each other, or the acquirer carried out a payment that was over. */
  | 'conflict'
  /** The outcome is unknown. */
  | 'undecided'
  /** A failover lost its rows, and they were written again. */
  | 'recovered'
  /** A chargeback, or the reversal of one, that does not fit the sums. */
  | 'beyond-sums'
  /** A payment failed after its acceptance, and more was used than can be given back. */
  | 'late-failure'
  /** A final sale failed. */
  | 'return'
  | 'unreversed'
  /** A message of an acquirer that could not be applied, or that contradicts itself. */
  | 'event'
  /** Money without a payment. */
  | 'unclaimed'
  /**
   * Too many declined payments of a merchant: attempts are refused until an operator ends the
   * entry, or time passes.
   */
  | 'card-testing'
  /**
   * A settlement file that was refused, lines of one that became no record or differ from the payments, or a
   * payout that differs from its records.
   */
  | 'settlement'

export type AttentionRow = {
  id: string
  kind: AttentionKind
  /** Null: without a payment. */
  payment_id: string | null
  attempt_key: string | null
  at: Date
  alarm_at: Date
  detail: Record<string, unknown>
  /** Of the payment. Null: without a payment. */
  currency: string | null
  amount_minor: bigint | null
}

/** Adds an entry to the operators' list, once per payment, kind and reference while open. */
export const addAttention = (
  id: string,
  kind: AttentionKind,
  paymentId: string | null,
  attemptKey: string | null,
  alarmAfterMs: number,
  detail: Readonly<Record<string, unknown>>,
  reference = '',
) => sql`
  insert into tollgate.attention (id, kind, payment_id, attempt_key, alarm_at, detail, reference)
  values (${id}::uuid, ${kind}::text, ${paymentId}::uuid, ${attemptKey}::text,
    now() + ${alarmAfterMs}::bigint * interval '1 millisecond', ${JSON.stringify(detail)}::jsonb,
    ${reference}::text)
  on conflict do nothing`

/** Adds an entry about an entity instead of a payment. Its alarm is raised at once. */
export const addEntityAttention = (
  id: string,
  kind: AttentionKind,
  entityId: string,
  detail: Readonly<Record<string, unknown>>,
  reference: string,
) => sql`
  insert into tollgate.attention (id, kind, entity_id, alarm_at, detail, reference)
  values (${id}::uuid, ${kind}::text, ${entityId}::uuid, now(), ${JSON.stringify(detail)}::jsonb,
    ${reference}::text)
  on conflict do nothing`

/**
 * An entry of `addAttention`, and follow-ups of the payment wait until the entry ends. Also freezes for an existing
 * open entry that froze nothing before.
 *
 * @param below Effects of payments that follow this one, and that wait, too, as of this very commit.
 */
export const freezeWith = (
  id: string,
  kind: AttentionKind,
  paymentId: string,
  attemptKey: string,
  alarmAfterMs: number,
  detail: Readonly<Record<string, unknown>>,
  reference: string,
  balanceId: string,
  below: readonly string[] = [],
) => sql`
with entry as (
  insert into tollgate.attention (id, kind, payment_id, attempt_key, alarm_at, detail, reference, freezes)
  values (${id}::uuid, ${kind}::text, ${paymentId}::uuid, ${attemptKey}::text,
    now() + ${alarmAfterMs}::bigint * interval '1 millisecond', ${JSON.stringify(detail)}::jsonb,
    ${reference}::text, array[${balanceId}::uuid])
  on conflict (coalesce(payment_id, '00000000-0000-0000-0000-000000000000'), kind, reference)
    where resolved_at is null
  do update set freezes = array(select unnest(attention.freezes) union select unnest(excluded.freezes))
  returning id)
select tollgate.freeze_below(entry.id, array[${balanceId}::uuid], ${below}::text[])
from entry`

/**
 * Entities whose entries these channels cover: the channels, and merchants with no other channel.
 */
const covered = (channels: readonly string[]) => sql`
own as materialized (
  select unnest(${channels}::uuid[]) as id),
covered as materialized (
  select own.id
  from own
  union
  select merchant.id
  from (
    select distinct channel.parent_id as id
    from own
    join tollgate.entity as channel on channel.id = own.id and channel.kind = 'channel') as merchant
  where not exists (
    select
    from tollgate.entity as channel
    where channel.parent_id = merchant.id and channel.kind = 'channel'
      and not exists (select from own where own.id = channel.id)))`

/** The entry is older than the payment's row. */
const isOfPayment = sql`exists (
    select
    from tollgate.payment
    join own on own.id = payment.channel_id
    where payment.id = attention.payment_id)`

/** Null: entries of all channels. */
export const openAttention = (limit: number, channels: readonly string[] | null) =>
  channels === null ? allAttention(limit) : attentionOf(limit, channels)

const allAttention = (limit: number) => sql<AttentionRow>`
with found as (
  select id, kind, payment_id, attempt_key, at, alarm_at, detail
  from tollgate.attention
  where resolved_at is null
  order by at
  limit ${limit}::integer)
${withCurrency}
order by at`

/** The amount of the payment, and the currency by which people read the amounts of the detail. */
const withCurrency = sql`select found.id, kind, payment_id, attempt_key, at, alarm_at, detail, paid.currency,
  paid.amount_minor
from found
left join lateral (
  select currency, amount_minor from tollgate.payment where payment.id = found.payment_id
  offset 0) as paid on true`

/** An index read per entity, since other entities may have a million entries. */
const attentionOf = (limit: number, channels: readonly string[]) => sql<AttentionRow>`
with ${covered(channels)},
found as (
  select entry.id, entry.kind, entry.payment_id, entry.attempt_key, entry.at, entry.alarm_at, entry.detail
  from covered
  cross join lateral (
    select id, kind, payment_id, attempt_key, at, alarm_at, detail
    from tollgate.attention
    where attention.entity_id = covered.id and attention.resolved_at is null
    order by attention.at
    limit ${limit}::integer) as entry
  union all
  select id, kind, payment_id, attempt_key, at, alarm_at, detail
  from tollgate.attention
  where resolved_at is null and entity_id is null and payment_id is not null and ${isOfPayment})
${withCurrency}
order by at
limit ${limit}::integer`

export const attentionWithin = (id: string, channels: readonly string[] | null) =>
  channels === null
    ? sql<{ id: string }>`
  select id from tollgate.attention where id = ${id}::uuid`
    : sql<{ id: string }>`
with ${covered(channels)}
select attention.id
from tollgate.attention
where attention.id = ${id}::uuid and (
  attention.entity_id in (select id from covered)
  or attention.entity_id is null and ${isOfPayment})`

/** Ends entries that resolved themselves. `reference` null: any reference. */
export const resolveAttention = (
  paymentId: string,
  kind: AttentionKind,
  by: string,
  reference: string | null = null,
) => {
  const isEntry = sql`payment_id = ${paymentId}::uuid and kind = ${kind}::text
    and (${reference}::text is null or reference = ${reference}::text)`
  return sql`
with ${lockedBefore(isEntry)},
ended as (
  update tollgate.attention set resolved_at = now(), resolved_by = coalesce(resolved_by, ${by}::text)
  where ${isEntry} and resolved_at is null and (select count(*) from locked) >= 0
  returning id, freezes),
${thawed}
select from thawed`
}

/**
 * Ends an entry by hand, with an audit row, the freezes and its failed effects. Empty when the entry is missing or
 * closed, or when its payment needs a decision first.
 */
export const closeAttention = (
  id: string,
  by: Actor,
  audit: Pick<AuditEntry, 'id' | 'detail'>,
) => sql<{ id: string }>`
with ${failedEffects(id)},
${lockedBefore(sql`id = ${id}::uuid`)},
ended as (
  update tollgate.attention set resolved_at = now(), resolved_by = ${by.name ?? by.id}::text
  where id = ${id}::uuid and resolved_at is null
    and (select count(*) from failed) >= 0 and (select count(*) from locked) >= 0
    and not (kind = 'undecided' and exists (
      select from tollgate.payment
      where payment.id = attention.payment_id and payment.state in ('processing', 'pending', 'unknown')))
    and not (kind = 'conflict' and reference = '' and exists (
      select from tollgate.attempt
      where attempt.key = attention.attempt_key and attempt.state = 'late'))
  returning id, payment_id, kind, freezes),
${givenUp},
${thawed},
${audited(by, audit)}
select id from ended left join thawed on true`

export const attentionById = (id: string) => sql<{
  id: string
  kind: AttentionKind
  payment_id: string | null
  detail: Readonly<Record<string, unknown>>
  resolved_at: Date | null
  resolved_by: string | null
}>`
  select id, kind, payment_id, detail, resolved_at, resolved_by
  from tollgate.attention
  where id = ${id}::uuid`

/**
 * Whether an acquirer's event about an attempt still waits. Chargebacks do not count, since they
 * wait for the decision itself.
 */
export const waitingWord = (key: string) => sql<{ event_id: string }>`
  select event_id
  from tollgate.inbound_event
  where claim ->> 'key' = ${key}::text and processed_at is null
    and claim -> 'outcome' ->> 'is' not in ('chargeback', 'chargebackReversal')
  limit 1`

/**
 * Fences a late success for a decision by hand, unless a reversal is under way: a process with an
 * older lease moves and reverses nothing from here on. No row: another process holds the lease.
 */
export const fenceLate = (key: string) => sql<{ lease: number }>`
  update tollgate.attempt set lease = lease + 1, lease_until = null
  where key = ${key}::text and state = 'late' and (lease_until is null or lease_until < now())
  returning lease`

/** The engine's own reversal of a late success, unless it failed. */
export const undoOf = (paymentId: string) => sql<{
  id: string
  state: string
  final_by: string | null
}>`
  select id, state, final_by
  from tollgate.payment
  where referenced_id = ${paymentId}::uuid and effect = 'undo' and state not in ('declined', 'expired')
  limit 1`

/** Whether the key was or may have been reversed before; no second reversal is sent then. */
export const keyReversalOf = (paymentId: string) => sql<{ id: string }>`
  select id
  from tollgate.audit
  where resource = ${paymentId}::uuid and action = 'reverse-by-key'
    and detail ->> 'result' in ('reversed', 'requested', 'unknown')
  limit 1`

/** Action of a late success that stands; its detail names the acquirer's word. */
export const stands = 'late-success-stands'

/**
 * The reversals by key of a late success, since the success is listed: an earlier request was about
 * the payment while it was open.
 */
export const requestedReversal = (paymentId: string) => sql<{
  /** The acquirer took one. */
  is_requested: boolean
  /** An operator requested another one since. */
  is_redriven: boolean
  /** The last one failed. */
  is_failed: boolean
  /** One was requested by an operator, and no failure was told since. */
  is_under_way: boolean
}>`
with begun as (
  select coalesce(max(at), '-infinity') as at
  from tollgate.attention
  where payment_id = ${paymentId}::uuid and kind = 'conflict' and reference = '' and resolved_at is null),
last as (
  select max(audit.at) filter (where action = 'reverse-by-key' and detail ->> 'result' = 'requested') as requested,
    max(audit.at) filter (where action = 'payment.redriven') as redriven,
    max(audit.at) filter (where action = ${stands}::text and detail ->> 'outcome' = 'notReversed') as failed
  from begun
  join tollgate.audit on audit.at >= begun.at
  where audit.resource = ${paymentId}::uuid)
select requested is not null as is_requested,
  coalesce(redriven > coalesce(requested, '-infinity'), false) as is_redriven,
  coalesce(failed > coalesce(redriven, '-infinity'), false) as is_failed,
  coalesce(redriven > coalesce(failed, '-infinity'), false) as is_under_way
from last`

/** Failed reversals by the engine, and whether an operator has requested another since. */
export const failedUndos = (paymentId: string) => sql<{ failed: number; is_redriven: boolean }>`
with failed as (
  select count(*)::integer as failed, max(settled_at) as last_at
  from tollgate.payment
  where referenced_id = ${paymentId}::uuid and effect = 'undo' and state in ('declined', 'expired'))
select failed.failed, exists (
    select from tollgate.audit
    where audit.resource = ${paymentId}::uuid and audit.action = 'payment.redriven'
      and audit.at > failed.last_at) as is_redriven
from failed`

/** An open contradiction about the payment. */
export const openConflictOf = (paymentId: string) => sql<{ id: string }>`
  select id
  from tollgate.attention
  where payment_id = ${paymentId}::uuid and kind = 'conflict' and resolved_at is null
  limit 1`

/** Whether a pending payment's time still runs: its expiry is neither due nor under way. */
export const timeLeft = (key: string, businessNow: Date) => sql<{ id: string }>`
  select id
  from tollgate.timer
  where kind = 'expire' and ref = ${key}::text and step = 0
    and due_at > case when clock_id is null then now() else ${businessNow}::timestamptz end`
