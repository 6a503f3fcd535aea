/** The part of statements that ends an entry of the operators' list. */
import type { Actor } from '../audit/actor.ts'
import { type AuditEntry, auditRows } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'

/**
 * Consequences of an `ended` entry: its freezes end, and the audit row names the person who ended
 * it.
 */
export const afterwards = (by: Actor, audit: Pick<AuditEntry, 'id' | 'detail'>) => sql`
thawed as (
  update tollgate.payment_balance set frozen_by = array_remove(frozen_by, ended.id)
  from ended
  where payment_balance.payment_id = any(ended.freezes)),
audited as (${auditRows(
  { ...audit, actor: by, action: 'attention.resolved' },
  {
    from: sql`ended left join tollgate.payment as payment on payment.id = ended.payment_id`,
    resource: sql`coalesce(ended.payment_id, ended.id)`,
    entityId: sql`payment.channel_id`,
    detail: sql`jsonb_build_object('kind', ended.kind)`,
  },
)})`
