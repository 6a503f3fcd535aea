/** The part of statements that ends an entry of the operators' list. */
import type { Actor } from '../audit/actor.ts'
import { type AuditEntry, auditRows } from '../audit/stored-rows.ts'
import { type Sql, sql } from '../db/sql.ts'

/** The payments that open entries freeze are locked before the entries, so that no balance begins frozen by an ended one. */
export const lockedBefore = (isEntry: Sql) => sql`
locked as materialized (
  select tollgate.lock_frozen(freezes)
  from tollgate.attention
  where ${isEntry} and resolved_at is null)`

/** The freezes of `ended` entries end; joined to the result of the statement. */
export const thawed = sql`
thawed as (
  select tollgate.thaw(ended.id, ended.freezes)
  from ended)`

/** The audit row of an `ended` entry names the person who ended it. */
export const audited = (by: Actor, audit: Pick<AuditEntry, 'id' | 'detail'>) => sql`
audited as (${auditRows(
  { ...audit, actor: by, action: 'attention.resolved' },
  {
    from: sql`ended left join tollgate.payment as payment on payment.id = ended.payment_id`,
    resource: sql`coalesce(ended.payment_id, ended.id)`,
    entityId: sql`payment.channel_id`,
    detail: sql`jsonb_build_object('kind', ended.kind)`,
  },
)})`

/**
 * The failed effects of settlement records that an entry states, not those that failed since. Locked before the entry,
 * as by an assignment of such a record.
 */
export const failedEffects = (id: string) => sql`
failed as materialized (
  select record.id
  from tollgate.attention as entry
  join tollgate.settlement_record as record on record.file_id = case
    when entry.kind = 'settlement' and entry.detail ->> 'exception' = 'EFFECT' then (entry.detail ->> 'file')::uuid end
  where entry.id = ${id}::uuid and entry.resolved_at is null and record.effect = 'failed'
    -- Entries of the version before state all of their file.
    and record.effect_after <= coalesce((entry.detail ->> 'failedAt')::timestamptz, 'infinity')
  order by record.id
  for update of record)`

/** An operator gives the effects of an `ended` entry up: their chargebacks hold up no refund any more. */
export const givenUp = sql`
given_up as (
  update tollgate.settlement_record as record set effect_after = null
  from ended
  cross join failed
  where record.id = failed.id)`
