/** SQL that adds rows to the audit trail. No statement changes a row. */
import { type Sql, sql } from '../db/sql.ts'
import { type AuditEntry, auditRows } from './stored-rows.ts'

/** Adds a single row in the transaction of its action. Safe to run again. */
export const addAudit = (entry: AuditEntry): Sql =>
  auditRows(entry, { from: sql`(select) as told` })

/** Whether this row exists after a lost answer or a repeated statement. */
export const auditById = (id: string) => sql<{ id: string }>`
  select id
  from tollgate.audit
  where id = ${id}::uuid`

/** The same for a decision under a lease, whose number is unique to this decision. */
export const auditUnderLease = (resource: string, actor: string, action: string, lease: number) =>
  sql<{ id: string }>`
  select id
  from tollgate.audit
  where resource = ${resource}::uuid and actor = ${actor}::text and action = ${action}::text
    and detail @> jsonb_build_object('lease', ${lease}::integer)
  limit 1`
