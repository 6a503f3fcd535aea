/** SQL of registrations. Every change writes its record and its event in the same commit. */
import { auditRows } from '../audit/stored-rows.ts'
import type { Mode } from '../connector/registry.ts'
import { type Sql, sql } from '../db/sql.ts'
import { newEvent } from '../event/store-outbox.ts'
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

/** One registration within `channels` (null: any). */
export const registrationById = (id: string, channels: readonly string[] | null) =>
  registrationsById([id], channels)

export const registrationsById = (ids: readonly string[], channels: readonly string[] | null) =>
  sql<RegistrationRow>`
  select registration.id, registration.channel_id, registration.payment_id, registration.instrument_id,
    registration.short_no, registration.mode, registration.method, registration.brand,
    registration.clock_id, registration.fingerprint, registration.merchant_transaction_id, registration.created_at,
    registration.removed_at, registration.seq, registration.request,
    payment.state as payment_state
  from tollgate.registration
  left join tollgate.payment on payment.id = registration.payment_id
  where registration.id = any(${ids}::uuid[])
    and (${channels}::uuid[] is null or registration.channel_id = any(${channels}::uuid[]))`

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

const auditedAs = {
  RR: 'registration.changed',
  TE: 'registration.extended',
  DR: 'registration.removed',
} as const

/** The record of a change, its audit row and its event, for the row in `moved`. */
const recordedWithEvent = (change: Omit<Change, 'seq'>, event: string, moved: Sql): Sql => sql`
new_record as (
  insert into tollgate.record (id, type, resource, channel_id, short_no, merchant_transaction_id, created_at)
  select ${change.recordId}::uuid, ${change.type}::text, id, channel_id, ${String(change.shortNo)}::bigint,
    ${change.merchantTransactionId}::text, ${change.at}::timestamptz
  from ${moved}),
audited as (${auditRows(
  {
    actor: change.by,
    action: auditedAs[change.type],
    // Names alone: the trail is kept longer than accounts of shoppers.
    ...(change.type === 'RR' ? { detail: { fields: change.names } } : {}),
  },
  { from: moved, resource: sql`id`, entityId: sql`channel_id` },
)}),
${newEvent.ofRegistration({ id: change.eventId, type: event, data: '{}' }, moved)}`

/**
 * Replaces the content that was read, and moves the timer of the expiry notice. Empty after a
 * concurrent change.
 */
export const changeRegistration = (
  change: Change & {
    readonly request: StoredRequest
    /** Whether the content changes: notifications about earlier events tell the former one. */
    readonly isNew: boolean
    /** Null: the timer stays. */
    readonly notice: { readonly timerId: string; readonly at: Date } | null
  },
) => sql<{
  seq: number
}>`
with former as (
  select id, request
  from tollgate.registration
  where id = ${change.id}::uuid and ${change.isNew}::boolean),
changed as (
  update tollgate.registration set request = ${JSON.stringify(change.request)}::jsonb, seq = seq + 1
  where id = ${change.id}::uuid and removed_at is null and seq = ${change.seq}::integer
  returning id, seq, channel_id, clock_id),
new_former as (
  insert into tollgate.former_registration (registration_id, until_seq, request)
  select changed.id, changed.seq, former.request
  from changed join former on former.id = changed.id),
notice as (
  insert into tollgate.timer (id, due_at, kind, ref, clock_id)
  select ${change.notice?.timerId ?? null}::uuid, ${change.notice?.at ?? null}::timestamptz, 'expiring',
    replace(id::text, '-', ''), clock_id
  from changed where ${change.notice?.at ?? null}::timestamptz is not null
  on conflict (kind, ref) do update set due_at = excluded.due_at),
${recordedWithEvent(change, 'registration.updated', sql`changed`)}
select seq from changed`

/**
 * Removes a registration permanently and erases numbers that it alone holds. Numbers of a payment
 * stay, since the payment may still be refunded. Empty when removed before.
 */
export const removeRegistration = (change: Omit<Change, 'seq'>) => sql<{ seq: number }>`
with removed as (
  update tollgate.registration set removed_at = ${change.at}::timestamptz, seq = seq + 1
  where id = ${change.id}::uuid and removed_at is null
  returning id, seq, channel_id),
erased as (
  delete from tollgate.instrument
  using removed
  where instrument.id = removed.id),
ended as (
  delete from tollgate.timer
  using removed
  where timer.kind = 'expiring' and timer.ref = replace(removed.id::text, '-', '')),
${recordedWithEvent(change, 'registration.removed', sql`removed`)}
select seq from removed`

/** The contents of registrations at earlier events; no row where the content is still the same. */
export const formerContents = (
  wanted: readonly { readonly id: string; readonly seq: number }[],
) => sql<{ id: string; seq: number; request: StoredRequest }>`
  select wanted.id, wanted.seq, former.request
  from unnest(${wanted.map(({ id }) => id)}::uuid[], ${wanted.map(({ seq }) => seq)}::integer[]) as wanted(id, seq)
  cross join lateral (
    select request
    from tollgate.former_registration
    where registration_id = wanted.id and until_seq > wanted.seq
    order by until_seq
    limit 1) former`

/**
 * The acquirer's reference of the last approved payment that a cardholder started with this
 * registration, of one agreement where named. Later payments of the merchant refer to it.
 */
export const agreementsOf = (
  wanted: readonly { readonly id: string; readonly agreementId: string | null }[],
) => sql<AgreementRow>`
  select wanted.id, wanted.agreement_id, latest.reference, latest.agreement, latest.is_verification
  from unnest(${wanted.map(({ id }) => id)}::uuid[], ${wanted.map(({ agreementId }) => agreementId)}::text[])
    as wanted(id, agreement_id)
  cross join lateral (
    select payment.answer ->> 'networkTxId' as reference, payment.payment_type = 'RG' as is_verification,
      payment_request.request #>> '{standingInstruction,agreementId}' as agreement
    from tollgate.payment
    join tollgate.payment_request on payment_request.id = payment.id
    where payment.registration_id = wanted.id and payment.schedule_id is null and payment.state = 'approved'
      and payment.answer ->> 'networkTxId' is not null
      and coalesce(payment_request.request #>> '{standingInstruction,source}', 'CIT') = 'CIT'
      and (wanted.agreement_id is null
        or payment_request.request #>> '{standingInstruction,agreementId}' = wanted.agreement_id)
    order by payment.payment_type = 'RG', payment.id desc
    limit 1) latest`

export type AgreementRow = {
  id: string
  agreement_id: string | null
  reference: string
  agreement: string | null
  is_verification: boolean
}

/** Registrations of these channels with the same account, oldest first. */
export const withFingerprint = (fingerprint: Buffer, channels: readonly string[] | null) => sql<{
  id: string
}>`
  select registration.id
  from tollgate.registration
  join tollgate.payment on payment.id = registration.payment_id
  where registration.fingerprint = ${fingerprint}::bytea and registration.removed_at is null
    and (${channels}::uuid[] is null or registration.channel_id = any(${channels}::uuid[]))
    and payment.state = 'approved'
  order by registration.id
  limit 1000`

/**
 * Announces once that an account expires, and deletes the timer. A registration with an open
 * payment keeps its timer; an unusable one loses it without an event.
 */
export const tellExpiry = (id: string, eventId: string) => sql<{
  channel_id: string
  seq: number
  data: Readonly<Record<string, string>>
}>`
with expiring as (
  select registration.id, payment.state
  from tollgate.registration
  left join tollgate.payment on payment.id = registration.payment_id
  where registration.id = ${id}::uuid),
ended as (
  delete from tollgate.timer
  where timer.kind = 'expiring' and timer.ref = replace(${id}::uuid::text, '-', '')
    and not exists (select from expiring where state in ('processing', 'pending', 'unknown'))
  returning timer.id),
told as (
  update tollgate.registration set seq = seq + 1
  from expiring
  where registration.id = expiring.id and expiring.state = 'approved' and registration.removed_at is null
    and exists (select from ended)
  returning registration.id, registration.seq, registration.channel_id, jsonb_build_object(
    'expiryMonth', coalesce(registration.request #>> '{card,expiryMonth}', registration.request #>> '{tokenAccount,expiryMonth}'),
    'expiryYear', coalesce(registration.request #>> '{card,expiryYear}', registration.request #>> '{tokenAccount,expiryYear}')) as data),
new_event as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select ${eventId}::uuid, id, seq, channel_id, 'registration.expiring', data
  from told)
select channel_id, seq, data from told`
