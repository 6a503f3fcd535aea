/** SQL that measures rows of a response without reading them. */
import { sql } from '../db/sql.ts'

export type WeightRow = { id: string; bytes: number }

/**
 * The maximum size of a value after it is read. A compressed value shows only its compressed size, and
 * Postgres compresses no value to less than this fraction.
 */
const weightOf = (column: string) => {
  const strings = [
    `coalesce(pg_column_size(${column})::bigint * case when pg_column_compression(${column}) is null then 1 else 255 end, 0)`,
  ]
  return { strings, values: [] }
}

/** Weights of the payments, registrations and schedules among these ids. */
export const weightsOf = (ids: readonly string[]) => {
  const sorted = [...ids].sort()
  return sql<WeightRow>`
  select payment.id, ${weightOf('payment.answer')} + ${weightOf('asked.request')} as bytes
  from tollgate.payment
  left join lateral (
    select request from tollgate.payment_request where payment_request.id = payment.id limit 1) asked on true
  where payment.id = any(${sorted}::uuid[])
    and payment.id >= ${sorted[0]!}::uuid and payment.id <= ${sorted.at(-1)!}::uuid
  union all
  select id, ${weightOf('request')}
  from tollgate.registration
  where id = any(${sorted}::uuid[])
  union all
  select id, ${weightOf('request')}
  from tollgate.schedule
  where id = any(${sorted}::uuid[])`
}
