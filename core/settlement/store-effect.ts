/** SQL of the effects of settlement records: from the decision to the payments. */
import { sql } from '../db/sql.ts'
import { lineSource } from '../payment/store-dispute-read.ts'
import { membersOf } from '../payment/stored-members.ts'
import { isRightWay } from './stored-way.ts'

export type EffectRow = {
  id: string
  record_type: string
  status: string
  /** Whether the money goes the way of the transaction type. */
  is_right_way: boolean
  amount_minor: bigint
  currency: string
  match_status: string | null
  tier: string | null
  reason: string | null
  reference: string | null
  /** The connector of the file, and its references, each in its place. */
  connector: string
  refs: (string | null)[]
  settlement_id: string | null
  age_ms: number
  /** Microseconds: when these payments became the record's: an operator can assign it to others meanwhile. */
  decided_us: bigint
  /** The matched payments; for proven money or a chargeback of a declined payment, that one. */
  payments: string[]
}

/** Payments on which `record` takes effect: those of its match, else the declined one that it names. */
const paymentsOf = sql`
    select match.payment_id
    from tollgate.settlement_match as match
    where match.record_id = record.id and record.match_status = 'MATCHED'
    union all
    select id
    from unnest(record.candidates) as given (id)
    where record.match_status is distinct from 'MATCHED'`

/**
 * Open effects of scopes that are due, in business order: of one payment, its money comes before its
 * chargeback, and that before its reversal.
 */
export const openEffects = (scopeIds: readonly string[], limit: number) => sql<EffectRow>`
select record.id, record.record_type, record.status, record.amount_minor, record.currency, record.match_status,
  record.tier, record.reason, record.reference, record.settlement_id, scope.connector,
  ${isRightWay(sql`record`)} as is_right_way,
  array[record.ref1, record.ref2, record.ref3] as refs,
  (extract(epoch from now() - record.decided_at) * 1000)::double precision as age_ms,
  (extract(epoch from record.decided_at) * 1000000)::bigint as decided_us,
  array(select replace(own.payment_id::text, '-', '') from (${paymentsOf}) as own (payment_id)
    order by own.payment_id) as payments
from tollgate.settlement_record as record
join tollgate.settlement_scope as scope on scope.id = record.scope_id
where record.scope_id = any(${scopeIds}::uuid[]) and record.effect = 'open'
  and (record.effect_after is null or record.effect_after <= now())
order by coalesce(record.requested, record.settlement_date::timestamptz), record.settlement_date,
  case record.record_type when 'SETTLED' then 1 when 'CHARGEBACK' then 2 else 3 end, record.key
limit ${limit}::integer`

/** A record, and the decision whose effect is carried out. */
type Effect = Pick<EffectRow, 'id' | 'decided_us'>

/** Condition: the decision of the record still stands, and its effect is open. */
const isStill = ({
  id,
  decided_us: decidedUs,
}: Effect) => sql`(record.id = ${id}::uuid and record.effect = 'open'
  and (extract(epoch from record.decided_at) * 1000000)::bigint = ${String(decidedUs)}::bigint)`

/** Whether the effect of a record is still the one that was read. */
export const stillOpen = (effect: Effect) => sql<{ id: string }>`
select record.id
from tollgate.settlement_record as record
where ${isStill(effect)}`

/**
 * Fences words about an accepted payment that were judged before: none of them moves it from here on. Nobody holds the
 * lease of such a payment. No row: it is accepted no more.
 */
export const fenceAccepted = (attemptKey: string) => sql<{ key: string }>`
  update tollgate.attempt set lease = lease + 1
  where key = ${attemptKey}::text and state = 'approved'
  returning key`

/** Whether a record is still that of a payment, after the end of an assignment that is being made at this moment. */
export const lockRecord = (id: string, paymentId: string) => sql<{ is_its: boolean }>`
select ${paymentId}::uuid = any(record.candidates) as is_its
from tollgate.settlement_record as record
where record.id = ${id}::uuid
for share`

/** The payment is under way: the record is tried again later. */
export const effectWaits = (effect: Effect, forMs: number) => sql`
update tollgate.settlement_record as record
set effect_after = now() + ${forMs}::bigint * interval '1 millisecond'
where ${isStill(effect)}`

/**
 * The effect took place. The dispute that it led to, or a new discrepancy, makes a new version of the record. One that
 * names an authorisation is that of the capture for which the dispute counts.
 */
export const effectDone = (effect: Effect, discrepancy: string | null) => sql<{ id: string }>`
with recursive own as (
  select own.payment_id
  from tollgate.settlement_record as record
  cross join lateral (${paymentsOf}) as own (payment_id)
  where record.id = ${effect.id}::uuid and record.record_type in ('CHARGEBACK', 'CHARGEBACK REVERSAL')),
${membersOf(sql`id = any(array(select payment_id from own))`)},
place as (
  select id from member
  union
  select capture.id
  from member
  cross join lateral (
    select id from tollgate.payment where referenced_id = member.id and effect = 'capture' offset 0) as capture),
told as (
  select fact.record_id, fact.payment_id
  from tollgate.settlement_record as record
  cross join place
  join tollgate.chargeback as fact on fact.payment_id = place.id
    and fact.kind = case record.record_type when 'CHARGEBACK' then 'chargeback' else 'reversal' end
    and (lower(btrim(fact.reference)) = lower(btrim(record.reference))
      or ${`${lineSource}${effect.id}`}::text in (fact.source, fact.confirmed_by))
  where record.id = ${effect.id}::uuid
  order by fact.at desc, fact.record_id desc
  limit 1),
result as (
  select record.id, coalesce(record.dispute_record_id, told.record_id) as dispute_record_id,
    case when record.match_status = 'MATCHED' then told.payment_id end as payment_id, array(
      select name
      from unnest(record.discrepancies || ${discrepancy}::text) as given (name)
      where name is not null
      group by name
      order by name) as discrepancies
  from tollgate.settlement_record as record
  left join told on true
  where record.id = ${effect.id}::uuid),
ended as (
  update tollgate.settlement_record as record set effect = 'done', effect_tries = 0,
    candidates = case when result.payment_id is null then record.candidates else array[result.payment_id] end,
    dispute_record_id = result.dispute_record_id, discrepancies = result.discrepancies,
    version = record.version + case when change.is_new then 1 else 0 end,
    txid = case when change.is_new then pg_current_xact_id() else record.txid end
  from result
  cross join lateral (
    select (record_now.dispute_record_id is distinct from result.dispute_record_id
      or record_now.discrepancies <> result.discrepancies) as is_new
    from tollgate.settlement_record as record_now
    where record_now.id = result.id) as change
  where record.id = result.id and ${isStill(effect)}
  returning record.id, result.payment_id),
moved as (
  update tollgate.settlement_match as match set payment_id = ended.payment_id
  from ended
  where match.record_id = ended.id and match.payment_id <> ended.payment_id)
select id
from ended`

/**
 * A try failed. After the last one the effect has failed at this time, until an operator runs the file again. One that
 * an operator gave up has no time.
 */
export const effectFailed = (effect: Effect, tries: number, forMs: number) => sql<{
  effect: string
}>`
update tollgate.settlement_record as record set effect_tries = record.effect_tries + 1,
  effect_after = now() + case when record.effect_tries + 1 >= ${tries}::integer then interval '0'
    else ${forMs}::bigint * interval '1 millisecond' end,
  effect = case when record.effect_tries + 1 >= ${tries}::integer then 'failed' else record.effect end
where ${isStill(effect)}
returning record.effect`

/** Gives scopes with open effects a timer. A timer that is there keeps its time. */
export const planEffects = (scopeIds: readonly string[], afterMs: number) => sql`
  insert into tollgate.timer (id, due_at, kind, ref)
  select gen_random_uuid(), now() + ${afterMs}::bigint * interval '1 millisecond', 'settlement-effect',
    replace(scope.id::text, '-', '')
  from unnest(${scopeIds}::uuid[]) as scope (id)
  where exists (
    select
    from tollgate.settlement_record as record
    where record.scope_id = scope.id and record.effect = 'open')
  on conflict (kind, ref) do nothing`

/** Files of scopes with failed effects that no entry of the operators' list states: after a death, also earlier ones. */
export const filesOfFailed = (scopeIds: readonly string[]) => sql<{ id: string; name: string }>`
select file.id, file.name
from (
  select file_id, max(effect_after) as failed_at
  from tollgate.settlement_record
  where scope_id = any(${scopeIds}::uuid[]) and effect = 'failed' and effect_after is not null
  group by file_id) as failed
join tollgate.settlement_file as file on file.id = failed.file_id
where not exists (
  select
  from tollgate.attention as entry
  where coalesce(entry.payment_id, '00000000-0000-0000-0000-000000000000') = '00000000-0000-0000-0000-000000000000'
    and entry.kind = 'settlement' and entry.reference = 'EFFECT ' || replace(failed.file_id::text, '-', '')
    and entry.resolved_at is null
    and coalesce((entry.detail ->> 'failedAt')::timestamptz, 'infinity') >= failed.failed_at)
order by file.id`
