/** SQL of the audit trail: how rows come into it. They are only ever added. */
import { type Sql, sql } from '../db/sql.ts'
import { type AuditEntry, auditRows } from './stored-rows.ts'

/** A row by itself, for whoever writes it in the transaction of what it tells. Safe to run again. */
export const addAudit = (entry: AuditEntry): Sql =>
  auditRows(entry, { from: sql`(select) as told` })

/** Whether this very row is there: its answer may have been lost and its statement run again. */
export const auditById = (id: string) => sql<{ id: string }>`
  select id
  from tollgate.audit
  where id = ${id}::uuid`

/** The same of a decision that was made under a lease, whose number nobody else decided under. */
export const auditUnderLease = (resource: string, actor: string, action: string, lease: number) =>
  sql<{ id: string }>`
  select id
  from tollgate.audit
  where resource = ${resource}::uuid and actor = ${actor}::text and action = ${action}::text
    and detail @> jsonb_build_object('lease', ${lease}::integer)
  limit 1`
