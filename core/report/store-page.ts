/** SQL of the records of one payout, in the order of their days. */
import { sql } from '../db/sql.ts'
import { type RecordRow, recordColumns, recordsOfPage } from './stored-record.ts'

/** A payout in one currency. */
export type BatchKey = {
  readonly scope_id: string
  readonly name: string
  readonly currency: string
}

const isOf = (batch: BatchKey, type: string | null) => sql`record.scope_id = ${batch.scope_id}::uuid
      and record.batch = ${batch.name}::text and record.settled_currency = ${batch.currency}::text
      and (${type}::text is null or record.record_type = ${type}::text)`

/** Numbers of records by day and entity, in this order: by them a page is found without counting to it. */
export const runsOf = (batch: BatchKey, own: readonly string[], type: string | null) => sql<{
  day: string
  entity_id: string
  count: number
}>`
  select record.settlement_date::text as day, record.entity_id, count(*)::integer as count
  from tollgate.settlement_record as record
  where ${isOf(batch, type)} and record.entity_id = any(${own}::uuid[])
  group by record.settlement_date, record.entity_id
  order by record.settlement_date, record.entity_id`

/** Some records of one day and entity: those after an id, without the first ones. */
export type Slice = {
  readonly day: string
  readonly entityId: string
  readonly afterId: string
  readonly skip: number
  readonly take: number
}

/** The order is that of the index of pages; by ids alone, Postgres would search them among all records. */
export const recordsOf = (
  batch: BatchKey,
  type: string | null,
  slices: readonly Slice[],
) => sql<RecordRow>`
  with slice as (
    select slice.no, slice.day, slice.entity_id, slice.after_id, slice.skip, slice.take
    from unnest(${slices.map(({ day }) => day)}::date[], ${slices.map(({ entityId }) => entityId)}::uuid[],
      ${slices.map(({ afterId }) => afterId)}::uuid[], ${slices.map(({ skip }) => skip)}::integer[],
      ${slices.map(({ take }) => take)}::integer[])
      with ordinality as slice (day, entity_id, after_id, skip, take, no)),
  page as materialized (
    select slice.no, found.id
    from slice
    cross join lateral (
      select record.id
      from tollgate.settlement_record as record
      where ${isOf(batch, type)} and record.entity_id = slice.entity_id
        and (record.settlement_date, record.id) > (slice.day, slice.after_id) and record.settlement_date <= slice.day
      order by record.settlement_date, record.id
      offset slice.skip
      limit slice.take) as found)
  select ${recordColumns}
  from ${recordsOfPage}
  order by page.no, page.id`
