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

/**
 * The money that records have paid out of a payment. `minor`: without records in another currency, and without those
 * that can be about another operation of the same order.
 */
export const settledSum = (paymentId: string, currency: string) => sql<{
  minor: bigint
  is_paid: boolean
}>`
select coalesce(sum(match.allocated_minor) filter (where record.currency = ${currency}::text
    and not (match.tier in ('merchant-reference', 'short-id')
      and coalesce(record.ref1, record.ref2, record.ref3) is not null)), 0)::bigint as minor,
  count(*) > 0 as is_paid ${settling(sql`${paymentId}::uuid`)}`
