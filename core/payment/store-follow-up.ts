/**
 * First commit of a follow-up, in the single lane: the amount is reserved on the balance it counts
 * against, and the payment, attempt and idempotency rows are written from that row. No row back =
 * the balance refused, and nothing was written. Running it again after it committed violates the
 * payment's primary key, and so reserves nothing twice.
 */
import { type Sql, sql } from '../db/sql.ts'

export type FollowUpRow = {
  readonly id: string
  readonly channelId: string
  readonly entityId: string
  /** Null: its own. */
  readonly rootId: string | null
  /** Balance row that the reservation is taken from. */
  readonly parentId: string
  readonly referencedId: string
  readonly accountId: string | null
  readonly shortNo: bigint
  /** Null: the whole open rest. */
  readonly amountMinor: bigint | null
  readonly createdAt: Date
  readonly currency: string
  readonly paymentType: string
  readonly effect: string
  readonly mode: string
  readonly method: string | null
  readonly brand: string | null
  readonly connector: string
  readonly merchantTransactionId: string | null
  readonly clockId: string | null
  readonly request: string
  readonly attemptKey: string
  readonly attemptKind: string
  readonly leaseMs: number
  readonly final: boolean
  readonly dataKeyId: string | null
  readonly fingerprint: Buffer | null
  readonly sealed: Buffer | null
  readonly idempotencyKey: string | null
  readonly idempotencyFingerprint: Buffer | null
}

export type Reserved = { id: string; amount_minor: bigint }

const write = (row: FollowUpRow): Sql<Reserved> => sql<Reserved>`,
i as (
  insert into tollgate.idempotency (entity_id, key, fingerprint, payment_id)
  select ${row.entityId}::uuid, ${row.idempotencyKey}::text, ${row.idempotencyFingerprint}::bytea, ${row.id}::uuid
  from b where ${row.idempotencyKey}::text is not null),
p as (
  insert into tollgate.payment (id, channel_id, entity_id, root_id, parent_id, referenced_id, account_id,
    short_no, amount_minor, created_at, currency, payment_type, effect, mode, method, brand, connector,
    attempt_key, merchant_transaction_id, clock_id, state, result_code)
  select ${row.id}::uuid, ${row.channelId}::uuid, ${row.entityId}::uuid, ${row.rootId ?? row.id}::uuid,
    ${row.parentId}::uuid, ${row.referencedId}::uuid, ${row.accountId}::uuid, ${row.shortNo}::bigint,
    b.amount, ${row.createdAt}::timestamptz, ${row.currency}::text, ${row.paymentType}::text, ${row.effect}::text,
    ${row.mode}::text, ${row.method}::text, ${row.brand}::text, ${row.connector}::text,
    ${row.attemptKey}::text, ${row.merchantTransactionId}::text, ${row.clockId}::uuid, 'processing', '000.200.001'
  from b
  returning id, amount_minor),
q as (
  insert into tollgate.payment_request (id, request)
  select id, ${row.request}::jsonb from p),
v as (
  insert into tollgate.instrument (id, data_key_id, fingerprint, sealed)
  select id, ${row.dataKeyId}::uuid, ${row.fingerprint}::bytea, ${row.sealed}::bytea
  from p where ${row.sealed}::bytea is not null),
a as (
  insert into tollgate.attempt (key, payment_id, kind, connector, state, lease_until)
  select ${row.attemptKey}::text, id, ${row.attemptKind}::text, ${row.connector}::text, 'sending',
    now() + ${row.leaseMs}::integer * interval '1 millisecond'
  from p)
select id, amount_minor from p`

/** CP, and RC on an authorisation: takes from the open rest, and counts. */
export const reserveCapture = (row: FollowUpRow) => sql<Reserved>`
with b as (
  update tollgate.payment_balance set
    capturing = capturing + ${row.amountMinor}::bigint,
    captures = captures + 1,
    capture_final_by = case when ${row.final}::boolean then ${row.id}::uuid end
  where payment_id = ${row.parentId}::uuid and kind = 'authorisation'
    and reversing = 0 and closed_by is null and charged_back_by is null and capture_final_by is null
    and (max_captures is null or captures < max_captures)
    and captured + capturing + reversed + ${row.amountMinor}::bigint <= authorised
  returning ${row.amountMinor}::bigint as amount)${write(row)}`

/** RV of an authorisation: the open rest or a part of it, only while nothing else is under way. */
export const reserveRelease = (row: FollowUpRow) => sql<Reserved>`
with b as (
  update tollgate.payment_balance set
    reversing = coalesce(${row.amountMinor}::bigint, authorised - captured - reversed),
    reverse_final_by = case when ${row.final}::boolean then ${row.id}::uuid end
  where payment_id = ${row.parentId}::uuid and kind = 'authorisation'
    and capturing = 0 and reversing = 0 and increasing = 0 and refunding = 0
    and closed_by is null and charged_back_by is null and reverse_final_by is null
    and authorised - captured - reversed > 0
    and coalesce(${row.amountMinor}::bigint, 1) <= authorised - captured - reversed
  returning reversing as amount)${write(row)}`

/** RV of a sale: all of it, only while nothing of it was refunded. */
export const reserveVoid = (row: FollowUpRow) => sql<Reserved>`
with b as (
  update tollgate.payment_balance set
    reversing = captured,
    reverse_final_by = case when ${row.final}::boolean then ${row.id}::uuid end
  where payment_id = ${row.parentId}::uuid and kind = 'sale'
    and refunding = 0 and refunded = 0 and reversing = 0 and reversed = 0
    and closed_by is null and charged_back_by is null and reverse_final_by is null
    and captured > 0 and coalesce(${row.amountMinor}::bigint, captured) = captured
  returning captured as amount)${write(row)}`

/** RF: a part of what was taken. */
export const reserveRefund = (row: FollowUpRow) => sql<Reserved>`
with b as (
  update tollgate.payment_balance set
    refunding = refunding + ${row.amountMinor}::bigint,
    refund_final_by = case when ${row.final}::boolean then ${row.id}::uuid end
  where payment_id = ${row.parentId}::uuid and kind = 'sale'
    and reversing = 0 and reversed = 0
    and closed_by is null and charged_back_by is null and refund_final_by is null
    and refunded + refunding + ${row.amountMinor}::bigint <= captured
  returning ${row.amountMinor}::bigint as amount)${write(row)}`

/** PA with INCREMENTAL_AUTH: announces the increase, so that no reversal overtakes it. */
export const reserveIncrease = (row: FollowUpRow) => sql<Reserved>`
with b as (
  update tollgate.payment_balance set increasing = increasing + ${row.amountMinor}::bigint
  where payment_id = ${row.parentId}::uuid and kind = 'authorisation'
    and reversing = 0 and closed_by is null and charged_back_by is null and capture_final_by is null
    and not (reversed > 0 and captured + reversed >= authorised)
  returning ${row.amountMinor}::bigint as amount)${write(row)}`

/** PA with REAUTHORIZATION: closes the old authorisation while the new one is under way. */
export const reserveReplacement = (row: FollowUpRow) => sql<Reserved>`
with b as (
  update tollgate.payment_balance set closed_by = ${row.id}::uuid
  where payment_id = ${row.parentId}::uuid and kind = 'authorisation'
    and capturing = 0 and reversing = 0 and increasing = 0
    and closed_by is null and charged_back_by is null and capture_final_by is null
    and not (reversed > 0 and captured + reversed >= authorised)
  returning ${row.amountMinor}::bigint as amount)${write(row)}`

/** RB, and RC on a sale: takes nothing from the sale, but needs one that stands. */
export const reserveNothing = (row: FollowUpRow) => sql<Reserved>`
with b as (
  update tollgate.payment_balance set kind = kind
  where payment_id = ${row.parentId}::uuid and closed_by is null and charged_back_by is null
    and reversing = 0 and reversed = 0
  returning ${row.amountMinor}::bigint as amount)${write(row)}`

/** CB: at most one stands at a time. Beyond the sums it is recorded all the same. */
export const reserveChargeback = (row: FollowUpRow) => sql<Reserved>`
with b as (
  update tollgate.payment_balance set charged_back_by = ${row.id}::uuid
  where payment_id = ${row.parentId}::uuid and charged_back_by is null
  returning coalesce(${row.amountMinor}::bigint, captured) as amount)${write(row)}`

/** CR: takes back the chargeback it refers to, once. */
export const reserveChargebackReversal = (row: FollowUpRow) => sql<Reserved>`
with b as (
  update tollgate.payment_balance set charged_back_by = ${row.id}::uuid
  where payment_id = ${row.parentId}::uuid and charged_back_by = ${row.referencedId}::uuid
  returning ${row.amountMinor}::bigint as amount)${write(row)}`
