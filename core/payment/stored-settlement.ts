/** Parts of statements: that a payment is settled is derived from the records of settlement files that match it. */
import { type Sql, sql } from '../db/sql.ts'

/** Composite matches may still change; disputes, fees and money that goes the other way settle nothing. */
const settling = (paymentId: Sql) => sql`
  from tollgate.settlement_match as match
  join tollgate.settlement_record as record on record.id = match.record_id
  where match.payment_id = ${paymentId} and match.is_final and record.record_type = 'SETTLED'
    and record.status = 'SUCCESS' and match.allocated_minor > 0`

export const isSettled = (paymentId: Sql) => sql`exists (select ${settling(paymentId)})`

/** A join that adds `settled` with `settled_minor` and `settled_on`; both null before the settlement. */
export const withSettlement = (paymentId: Sql) => sql`
cross join lateral (
  select sum(match.allocated_minor)::bigint as settled_minor,
    to_char(max(record.settlement_date), 'YYYY-MM-DD') as settled_on ${settling(paymentId)}) as settled`

/** Minor units that records have settled of a payment. */
export const settledSum = (paymentId: string) => sql<{ minor: bigint }>`
select coalesce(sum(match.allocated_minor), 0)::bigint as minor ${settling(sql`${paymentId}::uuid`)}`
