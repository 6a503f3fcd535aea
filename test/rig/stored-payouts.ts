/** Decided records as rows, for tests that are not about their decision. */
import { newId } from '../../core/index.ts'
import type { TestGateway } from './gateway.ts'

export type StoredPayout = {
  /** The aggregation. */
  readonly id: string
  readonly record: string
}

/** A payout of 92.00 EUR on 2026-03-31, with one record of a channel of this merchant. */
export async function storePayout(
  { sql }: Pick<TestGateway, 'sql'>,
  { channel, merchant }: { readonly channel: string; readonly merchant: string },
  { holder, reference }: { readonly holder: string; readonly reference: string },
): Promise<StoredPayout> {
  const [scope, file, record, id] = [newId(), newId(), newId(), newId()]
  await sql(
    `with scope as (
       insert into tollgate.settlement_scope (id, connector, mode, merchant_number, entity_id)
       values ($1::uuid, 'simulator', 'INTERNAL', $1::uuid::text, $5::uuid) returning id),
     file as (
       insert into tollgate.settlement_file (id, scope_id, connector, institute, format, name, source, sha256, bytes,
         parts, state, read_at)
       select $2::uuid, id, 'simulator', 'Simulator', 'TEST', 'file', 'simulator', '', 1, 0, 'decided', now() from scope),
     source as (
       insert into tollgate.report_source (scope_id, entity_id, series_entity_id)
       values ($1::uuid, $5::uuid, $6)),
     record as (
       insert into tollgate.settlement_record (id, scope_id, file_id, line, key, content, entity_id, merchant_number,
         record_type, transaction_type, cashflow, status, settlement_id, batch, settlement_date, amount_minor, currency,
         settled_minor, settled_currency, merchant_transaction_id, holder, match_status)
       values ($3, $1::uuid, $2::uuid, 1, '', '', $5::uuid, 'number', 'SETTLED', 'DEBIT', 'POS', 'SUCCESS', 'settled', 'payout',
         '2026-03-31', 9200, 'EUR', 9200, 'EUR', $8, $7, 'NOT_MATCHED'))
     insert into tollgate.settlement_batch (id, scope_id, entity_id, name, currency, settlement_date)
     values ($4, $1::uuid, $5::uuid, 'payout', 'EUR', '2026-03-31')`,
    [scope, file, record, id, channel, merchant, holder, reference],
  )
  return { id, record }
}
