/** SQL that a late success is judged by before it is taken back, and after. */
import { stands } from '../attention/store.ts'
import { type AuditEntry, auditRows } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'

/** Words that money of a late success is gone, also where an operator has taken them off the list. */
export const toldAsGone = (paymentId: string) => sql<{ id: string }>`
  select id
  from tollgate.attention
  where payment_id = ${paymentId}::uuid and kind = 'conflict'
    and (reference ~ '^(reversed|declined)( |$)' or detail @> '{"isGone": true}')
  limit 1`

/** Milliseconds since a late success is listed. */
export const toldSince = (paymentId: string) => sql<{ ms: number }>`
  select (extract(epoch from now() - at) * 1000)::double precision as ms
  from tollgate.attention
  where payment_id = ${paymentId}::uuid and kind = 'conflict' and reference = '' and resolved_at is null`

/** Whether the engine gave a late success up, and whether an operator wants it taken back since. */
export const lastOfTakeBack = (paymentId: string) => sql<{
  stands: boolean
  /** It stands because the acquirer could not reverse it. */
  is_refused: boolean
  is_redriven: boolean
}>`
with begun as (
  select coalesce(max(at), '-infinity') as at
  from tollgate.attention
  where payment_id = ${paymentId}::uuid and kind = 'conflict' and reference = '' and resolved_at is null),
last as (
  select coalesce(max(audit.at) filter (where action = ${stands}::text), '-infinity') as stands,
    coalesce(max(audit.at) filter (where action = ${stands}::text and detail ->> 'outcome' = 'notReversed'),
      '-infinity') as refused,
    coalesce(max(audit.at) filter (where action = 'payment.redriven'), '-infinity') as redriven
  from begun
  join tollgate.audit on audit.at >= begun.at
  where audit.resource = ${paymentId}::uuid)
select stands > redriven as stands, refused > redriven as is_refused, redriven > stands as is_redriven
from last`

/** Whether the last reversal by key found nothing to undo. */
export const lastFoundNothing = (paymentId: string) => sql<{ is_nothing: boolean }>`
  select detail ->> 'result' = 'nothing' as is_nothing
  from tollgate.audit
  where resource = ${paymentId}::uuid and action = 'reverse-by-key'
  order by at desc, id desc
  limit 1`

/**
 * The note of a late success that cannot be taken back, the end of its looks and of its lease, in one commit. No
 * row: another process has the lease, and takes it back itself.
 */
export const leaveToOperators = (key: string, lease: number, note: AuditEntry) => sql<{
  key: string
}>`
with freed as (
  update tollgate.attempt set lease_until = null
  where key = ${key}::text and lease = ${lease}::integer and state = 'late'
  returning key),
without_looks as (
  delete from tollgate.timer
  using freed
  where kind = 'look' and ref = freed.key),
audited as (${auditRows(note, { from: sql`freed` })})
select key from freed`
