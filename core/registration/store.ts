/** All SQL of registrations. One changes only here, with its record and its event in the same commit. */

import type { Mode } from '../connector/registry.ts'
import { sql } from '../db/sql.ts'
import { outbox } from '../event/store-outbox.ts'
import type { PaymentState, StoredRequest } from '../payment/types.ts'
import type { Change, Registration } from './types.ts'

export type RegistrationRow = {
  id: string
  channel_id: string
  payment_id: string
  instrument_id: string | null
  short_no: bigint
  mode: Mode
  method: string
  brand: string
  clock_id: string | null
  fingerprint: Buffer | null
  merchant_transaction_id: string | null
  created_at: Date
  removed_at: Date | null
  seq: number
  request: StoredRequest
  payment_state: PaymentState | null
}

/** One registration, when it belongs to one of `channels` (null: any). */
export const registrationById = (id: string, channels: readonly string[] | null) =>
  registrationsById([id], channels)

export const registrationsById = (ids: readonly string[], channels: readonly string[] | null) =>
  sql<RegistrationRow>`
  select g.id, g.channel_id, g.payment_id, g.instrument_id, g.short_no, g.mode, g.method, g.brand,
    g.clock_id, g.fingerprint, g.merchant_transaction_id, g.created_at, g.removed_at, g.seq, g.request,
    p.state as payment_state
  from tollgate.registration g
  left join tollgate.payment p on p.id = g.payment_id
  where g.id = any(${ids}::uuid[]) and (${channels}::uuid[] is null or g.channel_id = any(${channels}::uuid[]))`

export function toRegistration(row: RegistrationRow): Registration {
  return {
    id: row.id,
    channelId: row.channel_id,
    paymentId: row.payment_id,
    instrumentId: row.instrument_id,
    shortNo: row.short_no,
    mode: row.mode,
    method: row.method,
    brand: row.brand,
    clockId: row.clock_id,
    fingerprint: row.fingerprint,
    merchantTransactionId: row.merchant_transaction_id,
    createdAt: row.created_at,
    removedAt: row.removed_at,
    seq: row.seq,
    request: row.request,
    state: row.payment_state ?? 'processing',
  }
}

/**
 * Puts another content in the place of the one that was read, and the notice of its expiry where it
 * now belongs. Empty when somebody else was faster.
 */
export const changeRegistration = (
  change: Change & {
    readonly request: StoredRequest
    /** Null: it stays where it is. */
    readonly notice: { readonly timerId: string; readonly at: Date } | null
  },
) => sql<{
  seq: number
}>`
with g as (
  update tollgate.registration set request = ${JSON.stringify(change.request)}::jsonb, seq = seq + 1
  where id = ${change.id}::uuid and removed_at is null and seq = ${change.seq}::integer
  returning id, seq, channel_id, clock_id),
t as (
  insert into tollgate.timer (id, due_at, kind, ref, clock_id)
  select ${change.notice?.timerId ?? null}::uuid, ${change.notice?.at ?? null}::timestamptz, 'expiring',
    replace(id::text, '-', ''), clock_id
  from g where ${change.notice?.at ?? null}::timestamptz is not null
  on conflict (kind, ref) do update set due_at = excluded.due_at),
r as (
  insert into tollgate.record (id, type, resource, channel_id, short_no, merchant_transaction_id, created_at)
  select ${change.recordId}::uuid, ${change.type}::text, id, channel_id, ${String(change.shortNo)}::bigint,
    ${change.merchantTransactionId}::text, ${change.at}::timestamptz
  from g),
e as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select ${change.eventId}::uuid, id, seq, channel_id, 'registration.updated', '{}'::jsonb
  from g
  returning id, resource, seq),
w as (${outbox.ofRegistration})
select seq from g`

/**
 * Removes a registration for good and erases numbers that it alone holds; those of a payment stay
 * with the payment, which may still be refunded. Empty when it was removed before.
 */
export const removeRegistration = (change: Omit<Change, 'seq'>) => sql<{ seq: number }>`
with g as (
  update tollgate.registration set removed_at = ${change.at}::timestamptz, seq = seq + 1
  where id = ${change.id}::uuid and removed_at is null
  returning id, seq, channel_id),
d as (
  delete from tollgate.instrument
  using g
  where instrument.id = g.id),
t as (
  delete from tollgate.timer
  using g
  where timer.kind = 'expiring' and timer.ref = replace(g.id::text, '-', '')),
r as (
  insert into tollgate.record (id, type, resource, channel_id, short_no, merchant_transaction_id, created_at)
  select ${change.recordId}::uuid, ${change.type}::text, id, channel_id, ${String(change.shortNo)}::bigint,
    ${change.merchantTransactionId}::text, ${change.at}::timestamptz
  from g),
e as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select ${change.eventId}::uuid, id, seq, channel_id, 'registration.removed', '{}'::jsonb
  from g
  returning id, resource, seq),
w as (${outbox.ofRegistration})
select seq from g`

/**
 * What the acquirer called the last approved payment that a cardholder started with this
 * registration, of one agreement where it is named: later ones of the merchant refer to it.
 */
export const agreementsOf = (
  wanted: readonly { readonly id: string; readonly agreementId: string | null }[],
) => sql<AgreementRow>`
  select w.id, w.agreement_id, c.reference, c.agreement, c.is_verification
  from unnest(${wanted.map(({ id }) => id)}::uuid[], ${wanted.map(({ agreementId }) => agreementId)}::text[])
    as w(id, agreement_id)
  cross join lateral (
    select p.answer ->> 'networkTxId' as reference, p.payment_type = 'RG' as is_verification,
      q.request #>> '{standingInstruction,agreementId}' as agreement
    from tollgate.payment p
    join tollgate.payment_request q on q.id = p.id
    where p.registration_id = w.id and p.schedule_id is null and p.state = 'approved'
      and p.answer ->> 'networkTxId' is not null
      and coalesce(q.request #>> '{standingInstruction,source}', 'CIT') = 'CIT'
      and (w.agreement_id is null or q.request #>> '{standingInstruction,agreementId}' = w.agreement_id)
    order by p.payment_type = 'RG', p.id desc
    limit 1) c`

export type AgreementRow = {
  id: string
  agreement_id: string | null
  reference: string
  agreement: string | null
  is_verification: boolean
}

/** Registrations of these channels that hold the same account, oldest first. */
export const withFingerprint = (fingerprint: Buffer, channels: readonly string[] | null) => sql<{
  id: string
}>`
  select g.id
  from tollgate.registration g
  join tollgate.payment p on p.id = g.payment_id
  where g.fingerprint = ${fingerprint}::bytea and g.removed_at is null
    and (${channels}::uuid[] is null or g.channel_id = any(${channels}::uuid[]))
    and p.state = 'approved'
  order by g.id
  limit 1000`

/**
 * Tells that an account is about to expire, once; the timer goes with it. A registration whose
 * payment is still open keeps its timer, one that is not usable just loses it.
 */
export const tellExpiry = (id: string, eventId: string) => sql<{
  channel_id: string
  seq: number
  data: Readonly<Record<string, string>>
}>`
with p as (
  select g.id, p.state
  from tollgate.registration g
  left join tollgate.payment p on p.id = g.payment_id
  where g.id = ${id}::uuid),
t as (
  delete from tollgate.timer
  where timer.kind = 'expiring' and timer.ref = replace(${id}::uuid::text, '-', '')
    and not exists (select from p where state in ('processing', 'pending', 'unknown'))
  returning timer.id),
g as (
  update tollgate.registration set seq = seq + 1
  from p
  where registration.id = p.id and p.state = 'approved' and registration.removed_at is null
    and exists (select from t)
  returning registration.id, registration.seq, registration.channel_id, jsonb_build_object(
    'expiryMonth', coalesce(registration.request #>> '{card,expiryMonth}', registration.request #>> '{tokenAccount,expiryMonth}'),
    'expiryYear', coalesce(registration.request #>> '{card,expiryYear}', registration.request #>> '{tokenAccount,expiryYear}')) as data),
e as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select ${eventId}::uuid, id, seq, channel_id, 'registration.expiring', data
  from g)
select channel_id, seq, data from g`
