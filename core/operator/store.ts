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

export const addAudit = (
  id: string,
  actor: string,
  action: string,
  resource: string,
  detail: Readonly<Record<string, unknown>>,
) => sql`
  insert into tollgate.audit (id, actor, action, resource, detail)
  values (${id}::uuid, ${actor}::text, ${action}::text, ${resource}::uuid, ${JSON.stringify(detail)}::jsonb)`
