import { sql } from '../db/sql.ts'

/** Why an operator has to look at a payment. */
export type AttentionKind =
  | 'conflict'
  | 'undecided'
  | 'recovered'
  | 'other-amount'
  | 'beyond-sums'
  | 'late-failure'
  | 'unreversed'

export type AttentionRow = {
  id: string
  kind: AttentionKind
  payment_id: string
  attempt_key: string | null
  at: Date
  alarm_at: Date
  detail: Record<string, unknown>
}

/** Puts a payment on the operators' list, once for each kind while it is open. */
export const addAttention = (
  id: string,
  kind: AttentionKind,
  paymentId: string,
  attemptKey: string | null,
  alarmAfterMs: number,
  detail: Readonly<Record<string, unknown>>,
) => sql`
  insert into tollgate.attention (id, kind, payment_id, attempt_key, alarm_at, detail)
  select ${id}::uuid, ${kind}::text, ${paymentId}::uuid, ${attemptKey}::text,
    now() + ${alarmAfterMs}::bigint * interval '1 millisecond', ${JSON.stringify(detail)}::jsonb
  where not exists (
    select from tollgate.attention
    where payment_id = ${paymentId}::uuid and kind = ${kind}::text and resolved_at is null)`

export const openAttention = (limit: number) => sql<AttentionRow>`
  select id, kind, payment_id, attempt_key, at, alarm_at, detail
  from tollgate.attention
  where resolved_at is null
  order by at
  limit ${limit}::integer`

/** Takes what solved itself off the list. */
export const resolveAttention = (paymentId: string, kind: AttentionKind, by: string) => sql`
  update tollgate.attention set resolved_at = now(), resolved_by = ${by}::text
  where payment_id = ${paymentId}::uuid and kind = ${kind}::text and resolved_at is null`

/** Takes an entry off the list by hand, on record. Empty when it is not there or not open. */
export const closeAttention = (
  id: string,
  by: string,
  audit: { readonly id: string; readonly detail: Readonly<Record<string, unknown>> },
) => sql<{ id: string }>`
with t as (
  update tollgate.attention set resolved_at = now(), resolved_by = ${by}::text
  where id = ${id}::uuid and resolved_at is null
    and not (kind = 'undecided' and exists (
      select from tollgate.payment p
      where p.id = attention.payment_id and p.state in ('processing', 'pending', 'unknown')))
  returning id, payment_id, kind),
a as (
  insert into tollgate.audit (id, actor, action, resource, detail)
  select ${audit.id}::uuid, ${by}::text, 'attention.resolved', payment_id,
    ${JSON.stringify(audit.detail)}::jsonb || jsonb_build_object('kind', kind)
  from t)
select id from t`

export const attentionById = (id: string) => sql<{
  id: string
  kind: AttentionKind
  payment_id: string
  resolved_at: Date | null
  resolved_by: string | null
}>`
  select id, kind, payment_id, resolved_at, resolved_by
  from tollgate.attention
  where id = ${id}::uuid`

/** Whether the acquirer said something about an attempt that nobody worked on yet. */
export const waitingWord = (key: string) => sql<{ event_id: string }>`
  select event_id
  from tollgate.inbound_event
  where claim ->> 'key' = ${key}::text and processed_at is null
  limit 1`

export const addAudit = (
  id: string,
  actor: string,
  action: string,
  resource: string,
  detail: Readonly<Record<string, unknown>>,
) => sql`
  insert into tollgate.audit (id, actor, action, resource, detail)
  values (${id}::uuid, ${actor}::text, ${action}::text, ${resource}::uuid, ${JSON.stringify(detail)}::jsonb)`
