/** SQL of records that operators look at: without a match, with several readings, or with a discrepancy. */
import { sql } from '../db/sql.ts'
import { isExceptional } from './stored-exceptional.ts'

export type ExceptionalRecordRow = {
  id: string
  file_id: string
  file_name: string
  line: number
  merchant_number: string
  record_type: string
  transaction_type: string
  cashflow: string
  status: string
  settlement_date: string
  amount_minor: bigint
  currency: string
  merchant_transaction_id: string | null
  references: string[]
  brand: string | null
  last4: string | null
  match_status: string | null
  tier: string | null
  candidates: string[]
  candidate_count: number
  discrepancies: string[]
  is_unconfirmed: boolean
  retry_until: Date | null
  /** The effect on its payment failed. */
  is_failed: boolean
  /** Of `candidates`, by id; null: there are none. */
  payments: readonly ExceptionalPayment[] | null
}

export type ExceptionalPayment = {
  readonly id: string
  readonly merchantTransactionId: string | null
  /** What a record can settle of it, in minor units. */
  readonly minor: string
  readonly currency: string
}

const columns = sql`record.id, record.file_id, file.name as file_name, record.line, record.merchant_number,
    record.record_type, record.transaction_type, record.cashflow, record.status,
    record.settlement_date::text as settlement_date, record.amount_minor, record.currency,
    record.merchant_transaction_id, array_remove(array[record.ref1, record.ref2, record.ref3], null) as references,
    record.brand, record.last4, record.match_status, record.tier,
    array(select replace(id::text, '-', '') from unnest(record.candidates) as given (id)) as candidates,
    record.candidate_count, record.discrepancies, record.is_unconfirmed, record.retry_until,
    record.effect = 'failed' as is_failed, (
      select json_agg(json_build_object('id', replace(payment.id::text, '-', ''),
        'merchantTransactionId', payment.merchant_transaction_id, 'currency', payment.currency, 'minor',
        (coalesce(payment.approved_minor, payment.amount_minor) - coalesce(balance.reversed, 0))::text)
        order by payment.id)
      from tollgate.payment
      left join tollgate.payment_balance as balance on balance.payment_id = payment.id
      where payment.id = any(record.candidates)) as payments
  from tollgate.settlement_record as record
  join tollgate.settlement_scope as scope on scope.id = record.scope_id
  join tollgate.settlement_file as file on file.id = record.file_id`

/** Records by their ids, by line. */
export const recordsById = (ids: readonly string[]) => sql<ExceptionalRecordRow>`
  select ${columns}
  where record.id = any(${ids}::uuid[])
  order by record.line`

/** Records of scopes at this entity and below it, or of all; of one file, or of all; newest first. */
export const exceptionalRecords = (
  limit: number,
  entityId: string | null,
  fileId: string | null,
) => sql<ExceptionalRecordRow>`
  with recursive within as (
    select ${entityId}::uuid as id
    union all
    select entity.id
    from tollgate.entity
    join within on within.id = entity.parent_id)
  select ${columns}
  where ${isExceptional}
    and (${entityId}::uuid is null or scope.entity_id in (select id from within))
    and (${fileId}::uuid is null or record.file_id = ${fileId}::uuid)
  order by record.id desc
  limit ${limit}::integer`

/** The entity above all channels of a record's scope. */
export const entityOfRecord = (id: string) => sql<{ entity_id: string }>`
  select scope.entity_id
  from tollgate.settlement_record as record
  join tollgate.settlement_scope as scope on scope.id = record.scope_id
  where record.id = ${id}::uuid`
