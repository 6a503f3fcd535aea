/** SQL of operators' decisions about records and files. */
import type { Actor } from '../audit/actor.ts'
import { auditRows } from '../audit/stored-rows.ts'
import type { Mode } from '../connector/registry.ts'
import { sql } from '../db/sql.ts'
import { lineSource } from '../payment/store-dispute-read.ts'
import {
  isPaymentOfPlace,
  type Places,
  paymentColumns,
  placesOf,
  withBalance,
} from './match/stored-places.ts'
import { isRightWay } from './stored-way.ts'

export type AuditOfDecision = {
  readonly id: string
  readonly actor: Actor
  readonly remarks: { readonly reason: string; readonly onBehalfOf?: string }
}

export type AssignableRow = {
  id: string
  scope_id: string
  connector: string
  mode: Mode
  file_id: string
  file_name: string
  record_type: string
  transaction_type: string
  status: string
  /** Whether the money goes the way of the transaction type. */
  is_right_way: boolean
  amount_minor: bigint
  currency: string
  match_status: string | null
  tier: string | null
  /** Whether a process carries the record out at this moment, for the payment that it names. */
  is_taking_effect: boolean
}

/** Locks the scope first: matches of one payment are counted by one transaction at a time. */
export const lockForAssignment = (recordId: string) => sql<AssignableRow>`
select record.id, record.scope_id, scope.connector, scope.mode, record.file_id, file.name as file_name,
  record.record_type, record.transaction_type, record.status, record.amount_minor,
  ${isRightWay(sql`record`)} as is_right_way,
  record.currency, record.match_status, record.tier,
  coalesce(record.match_status = 'NOT_MATCHED' and record.effect = 'open' and scope.lease_until > now(), false)
    as is_taking_effect
from tollgate.settlement_record as record
join tollgate.settlement_scope as scope on scope.id = record.scope_id
join tollgate.settlement_file as file on file.id = record.file_id
where record.id = ${recordId}::uuid
for update of scope, record`

/** Gives a record to payments for good, with an audit row. Payments that it had before lose it. */
export const assignRecord = (
  recordId: string,
  payments: readonly { readonly id: string; readonly minor: bigint }[],
  {
    owner,
    discrepancies,
    hasEffect,
  }: {
    readonly owner: { readonly entityId: string; readonly accountId: string | null }
    readonly discrepancies: readonly string[]
    readonly hasEffect: boolean
  },
  audit: AuditOfDecision,
) => sql<{ id: string; was: string[] }>`
with given as materialized (
  select id, minor
  from unnest(${payments.map(({ id }) => id)}::uuid[], ${payments.map(({ minor }) => String(minor))}::bigint[])
    as payment (id, minor)),
before as materialized (
  select id, match_status, tier, candidates
  from tollgate.settlement_record
  where id = ${recordId}::uuid),
moved as (
  update tollgate.settlement_record as record set match_status = 'MATCHED', tier = 'operator',
    candidates = array(select id from given order by id), candidate_count = (select count(*)::integer from given),
    discrepancies = array(
      select name from unnest(record.discrepancies) as known (name)
      where name in ('CHANGED', 'FX', 'FEE', 'ID_UNKNOWN')
      union
      select name from unnest(${[...discrepancies]}::text[]) as found (name)
      order by name),
    entity_id = ${owner.entityId}::uuid, account_id = ${owner.accountId}::uuid,
    effect = case when ${hasEffect}::boolean then 'open' else 'none' end, effect_tries = 0, effect_after = null,
    is_unconfirmed = false, retry_until = null, dispute_record_id = null,
    decided_at = now(), version = record.version + 1, txid = pg_current_xact_id()
  where record.id = ${recordId}::uuid and (record.match_status in ('NOT_MATCHED', 'MULTIPLE_MATCHES')
    or record.tier = 'composite')
  returning record.id, record.entity_id),
removed as (
  delete from tollgate.settlement_match as match
  using moved
  where match.record_id = moved.id and match.payment_id not in (select id from given)
  returning match.payment_id),
matched as (
  insert into tollgate.settlement_match (payment_id, record_id, tier, allocated_minor, is_final)
  select given.id, moved.id, 'operator', given.minor, true
  from moved
  cross join given
  on conflict (payment_id, record_id) do update set tier = excluded.tier,
    allocated_minor = excluded.allocated_minor, is_final = true),
audited as (${auditRows(
  {
    id: audit.id,
    actor: audit.actor,
    action: 'settlement-record.assigned',
    after: { payments: payments.map(({ id }) => id) },
    detail: audit.remarks,
  },
  {
    from: sql`moved join before on before.id = moved.id`,
    resource: sql`moved.id`,
    entityId: sql`moved.entity_id`,
    before: sql`jsonb_build_object('status', before.match_status, 'tier', before.tier, 'payments', before.candidates)`,
  },
)})
select id, array(select payment_id from removed) as was
from moved`

export type AssignablePayment = {
  id: string
  payment_type: string
  account_id: string | null
  channel_id: string
  state: string
  final_by: string | null
  minor: bigint
  is_reversed: boolean
  currency: string
}

/** Condition of `other`: it pays out just the money that `payment` moved. */
const paysItsMoney = sql`other.record_type = 'SETTLED' and other.status = 'SUCCESS' and ${isRightWay(sql`other`)}
      and other.amount_minor = payment.moved and other.currency = payment.moved_in`

/**
 * Payments that were over, and for which the money of a record counts: late successes, whoever told of them first,
 * and those that an operator approved since. Not where another record of the payment pays out that money and stays.
 */
export const lateByRecord = (recordId: string) => sql<{ id: string; is_kept: boolean }>`
select payment.id, payment.state = 'approved' as is_kept
from tollgate.settlement_record as record
cross join lateral unnest(record.candidates) as named (payment_id)
cross join lateral (
  select id, state, attempt_key, coalesce((answer -> 'late' ->> 'minor')::bigint, approved_minor, amount_minor) as moved,
    coalesce(answer -> 'late' ->> 'currency', currency) as moved_in
  from tollgate.payment
  where payment.id = named.payment_id
  offset 0) as payment
join tollgate.attempt on attempt.key = payment.attempt_key
where record.id = ${recordId}::uuid and record.record_type = 'SETTLED' and record.match_status = 'NOT_MATCHED'
  and record.effect <> 'none'
  and (attempt.state = 'late' or payment.state = 'approved')
  and not exists (
    select
    from tollgate.settlement_match as match
    join tollgate.settlement_record as other on other.id = match.record_id
    where match.payment_id = payment.id and match.is_final and ${paysItsMoney})
  and not exists (
    select
    from tollgate.settlement_record as other
    where other.scope_id = record.scope_id and other.match_status = 'NOT_MATCHED' and other.id <> record.id
      and other.effect <> 'none' and payment.id = any(other.candidates) and ${paysItsMoney})
order by payment.id`

/** The standing chargeback that a record told of a declined payment, as long as that is the record's. */
export const chargebackByRecord = (recordId: string) => sql<{ id: string; payment_id: string }>`
select fact.record_id as id, fact.payment_id
from tollgate.settlement_record as record
join tollgate.chargeback as fact on fact.payment_id = any(record.candidates) and fact.kind = 'chargeback'
  and ${`${lineSource}${recordId}`}::text in (fact.source, fact.confirmed_by) and fact.given_back < fact.minor
where record.id = ${recordId}::uuid and record.record_type = 'CHARGEBACK' and record.match_status = 'NOT_MATCHED'
limit 1`

/** Payments with these ids that belong to the scope. */
export const assignablePayments = (
  ids: readonly string[],
  scopeId: string,
  places: Places,
) => sql<AssignablePayment>`
with ${placesOf(places)}
select payment.id, payment.payment_type, payment.account_id, payment.channel_id, payment.state, payment.final_by,
  payment.minor - coalesce(balance.reversed, 0) as minor, payment.currency,
  coalesce(balance.reversed > 0 and balance.reversed >= payment.minor, false) as is_reversed
from unnest(${ids}::uuid[]) as asked (id)
cross join lateral (
  select ${paymentColumns}
  from tollgate.payment
  where payment.id = asked.id
  offset 0) as payment
join place on place.scope_id = ${scopeId}::uuid and ${isPaymentOfPlace(places)}
${withBalance}
order by payment.id`

/** A file is read again from its stored bytes; its records that are not matched get another 30 days, from now on. */
export const readAgain = (
  fileId: string,
  /** The entity whose merchants the file may name, unless it may name all; null: all. */
  reachEntityId: string | null,
  audit: AuditOfDecision,
) => sql<{ id: string }>`
with moved as (
  update tollgate.settlement_file as file set state = 'arrived', tries = 0, due_at = now(), done_at = null,
    refused_line = null, refused_why = null,
    reach_entity_id = case when file.reach_entity_id is not null then ${reachEntityId}::uuid end
  where file.id = ${fileId}::uuid and file.state in ('decided', 'done', 'refused')
    and (select count(*) from tollgate.settlement_part as part where part.file_id = file.id) = file.parts
  returning file.id, file.scope_id),
again as (
  update tollgate.settlement_record as record set retry_until = now() + interval '30 days'
  from moved
  where record.file_id = moved.id and (record.match_status in ('NOT_MATCHED', 'MULTIPLE_MATCHES')
    or record.tier = 'composite')
  returning record.scope_id),
effects as (
  update tollgate.settlement_record as record set effect = 'open', effect_tries = 0, effect_after = null
  from moved
  where record.file_id = moved.id and record.effect = 'failed'),
due as (
  insert into tollgate.timer (id, due_at, kind, ref)
  select gen_random_uuid(), now(), 'settlement-retry', replace(scope_id::text, '-', '') || ' all'
  from (select distinct scope_id from again) as scope
  on conflict (kind, ref) do update set due_at = excluded.due_at),
audited as (${auditRows(
  {
    id: audit.id,
    actor: audit.actor,
    action: 'settlement-file.rerun',
    detail: audit.remarks,
  },
  {
    from: sql`moved join tollgate.settlement_scope as scope on scope.id = moved.scope_id`,
    resource: sql`moved.id`,
    entityId: sql`scope.entity_id`,
  },
)})
select id
from moved`
