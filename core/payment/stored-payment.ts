/** The rows of a follow-up, in one shape for every statement that writes them. */
import { type Sql, sql } from '../db/sql.ts'
import type { Payment } from './types.ts'

export type WrittenFrom = {
  /** In minor units: a parameter, or the reserved amount. */
  readonly amount: Sql
  /** `fact where …`: a row here writes the payment. */
  readonly from: Sql
  /** The conflict clause for an existing payment; without it the statement fails. */
  readonly onConflict?: Sql
}

const nothing = sql``

/** Parts of a statement: `new_payment`, open or decided, and `new_request`. */
export const newPayment = (
  payment: Payment,
  { amount, from, onConflict = nothing }: WrittenFrom,
): Sql => {
  const isDecided = payment.state !== 'processing'
  return sql`
new_payment as (
  insert into tollgate.payment (id, channel_id, entity_id, root_id, parent_id, referenced_id, account_id,
    short_no, amount_minor, created_at, currency, payment_type, effect, mode, method, brand, connector,
    attempt_key, merchant_transaction_id, clock_id, seq, state, result_code, approved_minor, settled_at, answer)
  select ${payment.id}::uuid, ${payment.channelId}::uuid, ${payment.entityId}::uuid, ${payment.rootId}::uuid,
    ${payment.parentId}::uuid, ${payment.referencedId}::uuid, ${payment.accountId}::uuid,
    ${String(payment.shortNo)}::bigint, ${amount}, ${payment.createdAt}::timestamptz,
    ${payment.amount.currency}::text, ${payment.paymentType}::text, ${payment.effect}::text,
    ${payment.mode}::text, ${payment.method}::text, ${payment.brand}::text, ${payment.connector}::text,
    ${payment.attemptKey}::text, ${payment.merchantTransactionId}::text, ${payment.clockId}::uuid,
    ${isDecided ? 1 : 0}::integer, ${payment.state}::text, ${payment.resultCode}::text,
    ${payment.approvedMinor === null ? null : String(payment.approvedMinor)}::bigint,
    case when ${isDecided}::boolean then now() end, ${isDecided ? JSON.stringify(payment.answer) : null}::jsonb
  from ${from}
  ${onConflict}
  returning id, seq, channel_id, amount_minor),
new_request as (
  insert into tollgate.payment_request (id, request)
  select id, ${JSON.stringify(payment.request)}::jsonb from new_payment)`
}
