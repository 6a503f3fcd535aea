/** SQL of the effects of settlement records: from the decision to the payments. */
import { sql } from '../db/sql.ts'

export type EffectRow = {
  id: string
  record_type: string
  status: string
  amount_minor: bigint
  currency: string
  match_status: string | null
  tier: string | null
  reason: string | null
  reference: string | null
  settlement_id: string | null
  age_ms: number
  /** The matched payments; for proven money of a declined payment, that one. */
  payments: string[]
}

/**
 * Open effects of scopes that are due, in business order: of one payment, its money comes before its
 * chargeback, and that before its reversal.
 */
export const openEffects = (scopeIds: readonly string[], limit: number) => sql<EffectRow>`
select record.id, record.record_type, record.status, record.amount_minor, record.currency, record.match_status,
  record.tier, record.reason, record.reference, record.settlement_id,
  (extract(epoch from now() - record.decided_at) * 1000)::double precision as age_ms,
  case when record.match_status = 'MATCHED' then array(
      select replace(payment_id::text, '-', '') from tollgate.settlement_match as match
      where match.record_id = record.id order by payment_id)
    else array(select replace(id::text, '-', '') from unnest(record.candidates) as given (id)) end as payments
from tollgate.settlement_record as record
where record.scope_id = any(${scopeIds}::uuid[]) and record.effect = 'open'
  and (record.effect_after is null or record.effect_after <= now())
order by coalesce(record.requested, record.settlement_date::timestamptz), record.settlement_date,
  case record.record_type when 'SETTLED' then 1 when 'CHARGEBACK' then 2 else 3 end, record.key
limit ${limit}::integer`

/** The payment is under way: the record is tried again later. */
export const effectWaits = (id: string, forMs: number) => sql`
update tollgate.settlement_record set effect_after = now() + ${forMs}::bigint * interval '1 millisecond'
where id = ${id}::uuid and effect = 'open'`

/** The effect took place. @param discrepancy A new one, which makes a new version of the record. */
export const effectDone = (id: string, discrepancy: string | null) => sql<{ id: string }>`
update tollgate.settlement_record set effect = 'done', effect_tries = 0,
  version = version + case when ${discrepancy}::text is null or ${discrepancy}::text = any(discrepancies)
    then 0 else 1 end,
  txid = case when ${discrepancy}::text is null or ${discrepancy}::text = any(discrepancies)
    then txid else pg_current_xact_id() end,
  discrepancies = case when ${discrepancy}::text is null or ${discrepancy}::text = any(discrepancies)
    then discrepancies else array(
      select name from unnest(discrepancies || ${discrepancy}::text) as given (name) order by name) end
where id = ${id}::uuid and effect = 'open'
returning id`

/** A try failed. After the last one the effect has failed, until an operator runs the file again. */
export const effectFailed = (id: string, tries: number, forMs: number) => sql<{ effect: string }>`
update tollgate.settlement_record set effect_tries = effect_tries + 1,
  effect_after = now() + ${forMs}::bigint * interval '1 millisecond',
  effect = case when effect_tries + 1 >= ${tries}::integer then 'failed' else effect end
where id = ${id}::uuid and effect = 'open'
returning effect`

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

/** Files with records whose effect failed, for the entries of the operators' list. */
export const filesOfFailed = (recordIds: readonly string[]) => sql<{ id: string; name: string }>`
  select file.id, file.name
  from tollgate.settlement_file as file
  where file.id in (
    select record.file_id from tollgate.settlement_record as record where record.id = any(${recordIds}::uuid[]))
  order by file.id`
