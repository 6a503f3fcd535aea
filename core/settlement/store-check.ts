/** SQL of what accountants do with records and payments: they check a record, and list what never settled. */
import { auditRows } from '../audit/stored-rows.ts'
import { type Sql, sql } from '../db/sql.ts'
import { isSettled } from '../payment/stored-settlement.ts'
import type { AuditOfDecision } from './store-assign.ts'
import { isExceptional } from './stored-exceptional.ts'

/** Marks the present version of a record as checked. Records that an operator confirms or runs again are left out. */
export const checkRecord = (recordId: string, audit: AuditOfDecision) => sql<{
  file_id: string
  file_name: string
  match_status: string
  discrepancies: string[]
}>`
with moved as (
  update tollgate.settlement_record as record set checked_version = record.version
  from tollgate.settlement_file as file
  where record.id = ${recordId}::uuid and file.id = record.file_id and ${isExceptional}
    and record.effect not in ('open', 'failed') and not record.is_unconfirmed
  returning record.id, record.entity_id, record.match_status, record.discrepancies, record.file_id, file.name),
audited as (${auditRows(
  {
    id: audit.id,
    actor: audit.actor,
    action: 'settlement-record.checked',
    detail: audit.remarks,
  },
  {
    from: sql`moved`,
    resource: sql`moved.id`,
    entityId: sql`moved.entity_id`,
    before: sql`jsonb_build_object('status', moved.match_status, 'discrepancies', moved.discrepancies)`,
  },
)})
select file_id, name as file_name, match_status, discrepancies
from moved`

export type UnsettledRow = {
  id: string
  short_no: bigint
  channel_id: string
  connector: string
  mode: string
  payment_type: string
  merchant_transaction_id: string | null
  minor: bigint
  currency: string
}

/**
 * Approved payments that moved money in a time frame and that no record has settled, by id. Wholly reversed ones never
 * settle. Payments on a test clock count by the time of the clock.
 *
 * @param channels Null: all.
 */
export function unsettledPayments(
  { from, to, after, limit }: { from: Date; to: Date; after: string; limit: number },
  connectors: readonly string[],
  channels: readonly string[] | null,
) {
  const among = (made: Sql) => sql`
(select payment.id, payment.short_no, payment.channel_id, payment.connector, payment.mode, payment.payment_type,
  payment.merchant_transaction_id, coalesce(payment.approved_minor, payment.amount_minor) as minor, payment.currency
from tollgate.payment
left join tollgate.payment_balance as balance on balance.payment_id = payment.id
where ${made} and payment.id > ${after}::uuid
  and payment.state = 'approved' and payment.payment_type in ('DB', 'CP', 'RB', 'RC', 'CD', 'RF')
  and payment.connector = any(${connectors}::text[])
  and (${channels}::uuid[] is null or payment.channel_id = any(${channels}::uuid[]))
  and coalesce(balance.reversed, 0) < coalesce(payment.approved_minor, payment.amount_minor)
  and not ${isSettled(sql`payment.id`)}
order by payment.id
limit ${limit}::integer)`
  // Two reads, each in the order of one index.
  return sql<UnsettledRow>`${among(sql`payment.clock_id is null
  and payment.id >= tollgate.id_at(${from}::timestamptz) and payment.id < tollgate.id_at(${to}::timestamptz)`)}
union all${among(sql`payment.clock_id is not null
  and payment.created_at >= ${from}::timestamptz and payment.created_at < ${to}::timestamptz`)}
order by id
limit ${limit}::integer`
}
