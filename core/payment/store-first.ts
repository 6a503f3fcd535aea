/** The two commits of a first payment (PA, DB, CD), through the group lane. */
import { body, grouped, type RowOf, text } from '../db/group-statement.ts'
import { withoutMoney } from './stored-earlier-tries.ts'

export const acceptColumns = {
  id: 'uuid',
  channel_id: 'uuid',
  entity_id: 'uuid',
  root_id: 'uuid',
  chain_id: 'uuid',
  account_id: 'uuid',
  short_no: 'bigint',
  amount_minor: 'bigint',
  created_at: 'timestamptz',
  currency: 'text',
  payment_type: 'text',
  effect: 'text',
  mode: 'text',
  method: 'text',
  brand: 'text',
  connector: 'text',
  merchant_transaction_id: 'text',
  request: 'jsonb',
  attempt_key: 'text',
  attempt_kind: 'text',
  lease_ms: 'integer',
  data_key_id: 'uuid',
  fingerprint: 'bytea',
  sealed: 'bytea',
  idempotency_key: 'bytea',
  idempotency_fingerprint: 'bytea',
  registration_id: 'uuid',
  schedule_id: 'uuid',
  checkout_id: 'text',
  clock_id: 'uuid',
  authentication: 'jsonb',
  wallet: 'text',
  replay_hash: 'bytea',
  replay_until: 'timestamptz',
} as const

export type ReplayColumns = Pick<
  RowOf<typeof acceptColumns>,
  'wallet' | 'replay_hash' | 'replay_until'
>

export type AcceptRow = RowOf<typeof acceptColumns> & {
  readonly id: string
  readonly attempt_key: string
}

export const registeringColumns = {
  ...acceptColumns,
  registration_short_no: 'bigint',
  registration_request: 'jsonb',
  notice_id: 'uuid',
  notice_at: 'timestamptz',
} as const

export const scheduledColumns = {
  ...acceptColumns,
  occurrence_id: 'uuid',
  occurrence_at: 'timestamptz',
  previous_id: 'uuid',
} as const

/** First commit of a scheduled payment. */
export type ScheduledRow = RowOf<typeof scheduledColumns> & AcceptRow

/** First commit of a payment that also stores its account for later payments. */
export type RegisteringRow = RowOf<typeof registeringColumns> & AcceptRow

const order = 'entity_id, idempotency_key, id'
const keyedOnce = `,
new_key as (
  insert into tollgate.idempotency (entity_id, key, fingerprint, payment_id)
  select entity_id, idempotency_key, idempotency_fingerprint, id
  from given where idempotency_key is not null
  on conflict do nothing
  returning payment_id),
accepted as (
  select * from given
  where idempotency_key is null or id in (select payment_id from new_key))`
/**
 * Every row of the payments in `accepted`. A token of a wallet that has a payment breaks its key, and then nothing is
 * written.
 */
export const written = `,
new_payment as (
  insert into tollgate.payment (id, channel_id, entity_id, root_id, chain_id, account_id, short_no,
    amount_minor, created_at, currency, payment_type, effect, mode, method, brand, connector, attempt_key,
    merchant_transaction_id, registration_id, schedule_id, checkout_id, clock_id, state, result_code, answer)
  select id, channel_id, entity_id, root_id, chain_id, account_id, short_no, amount_minor, created_at,
    currency, payment_type, effect, mode, method, brand, connector, attempt_key, merchant_transaction_id,
    registration_id, schedule_id, checkout_id, clock_id, 'processing', '000.200.001',
    case when authentication is not null then jsonb_build_object('authentication', authentication) end
  from accepted
  returning id),
new_request as (
  insert into tollgate.payment_request (id, request)
  select id, request from accepted),
new_instrument as (
  insert into tollgate.instrument (id, data_key_id, fingerprint, sealed)
  select id, data_key_id, fingerprint, sealed from accepted where sealed is not null),
new_attempt as (
  insert into tollgate.attempt (key, payment_id, kind, connector, state, lease_until, stage)
  select attempt_key, id, attempt_kind, connector, 'sending', now() + lease_ms * interval '1 millisecond',
    case when authentication is null then 'money' else 'authentication' end
  from accepted),
new_replay as (
  insert into tollgate.wallet_replay (wallet, hash, payment_id, until)
  select wallet, replay_hash, id, replay_until from accepted where replay_hash is not null)`

/**
 * First commit: payment, request, sealed instrument, attempt and idempotency row. When the
 * idempotency key exists, the row writes nothing and returns nothing.
 */
export const accept = grouped<typeof acceptColumns, { id: string }>(
  'accept',
  acceptColumns,
  order,
  text(`${keyedOnce}${written}
select id from new_payment`),
)

/**
 * First commit of a scheduled payment: the slot of its execution replaces the idempotency key. The
 * row writes only when the slot is unchanged since the read; otherwise it returns nothing.
 *
 * The statement locks the registration until the commit, so a removal comes either before the
 * payment, which then writes nothing, or after it. In the same way, a repeated charge locks its
 * schedule against an immediate cancellation; such a cancellation deletes the executions of first
 * charges itself.
 */
export const acceptScheduled = grouped<typeof scheduledColumns, { id: string }>(
  'accept-scheduled',
  scheduledColumns,
  'occurrence_id, id',
  text(`,
registered as (
  select given.id
  from given
  join tollgate.registration on registration.id = given.registration_id
  where registration.removed_at is null
  for share of registration),
running as (
  select given.id
  from given
  join tollgate.schedule on schedule.id = given.schedule_id
  where given.previous_id is not null
    and (schedule.cancelled_at is null or schedule.effective_end > schedule.cancelled_at)
    and (schedule.effective_end is null or schedule.effective_end > given.created_at)
  for share of schedule),
allowed as materialized (
  select registered.id
  from registered
  join given on given.id = registered.id
  where given.previous_id is null or given.id in (select id from running)),
former as materialized (
  select given.id, payment.id as payment_id, payment.state, attempt.state as attempt_state
  from given
  join tollgate.occurrence on occurrence.id = given.occurrence_id
  cross join lateral unnest(occurrence.earlier || given.previous_id) as before(id)
  join tollgate.payment on payment.id = before.id
  join tollgate.attempt on attempt.key = payment.attempt_key
  where given.previous_id is not null
  for share of attempt),
slot as (
  update tollgate.occurrence set payment_id = given.id,
    earlier = case when given.previous_id is null then earlier else earlier || given.previous_id end
  from given
  join allowed on allowed.id = given.id
  where occurrence.id = given.occurrence_id and occurrence.payment_id is not distinct from given.previous_id
    and occurrence.failure is null
    and (given.previous_id is null or exists (
      select from former
      where former.id = given.id and former.payment_id = given.previous_id
        and former.state in ('declined', 'expired')))
    -- No payment before holds money: a late success may have moved some.
    and not exists (
      select from former
      where former.id = given.id and former.attempt_state not in ${withoutMoney.strings[0]!})
  returning occurrence.payment_id),
accepted as (
  select * from given
  where id in (select payment_id from slot))${written}
select id from new_payment`),
)

/** The registration of an accepted payment, and the notice of its expiry. */
export const registered = `,
new_registration as (
  insert into tollgate.registration (id, channel_id, entity_id, payment_id, instrument_id, short_no, mode,
    method, brand, clock_id, fingerprint, merchant_transaction_id, created_at, request)
  select registration_id, channel_id, entity_id, id, case when sealed is not null then id end,
    registration_short_no, mode, method, brand, clock_id, fingerprint, merchant_transaction_id, created_at,
    registration_request
  from accepted),
new_timer as (
  insert into tollgate.timer (id, due_at, kind, ref, clock_id)
  select notice_id, notice_at, 'expiring', replace(registration_id::text, '-', ''), clock_id
  from accepted where notice_at is not null)`

/** The same with the registration, which shares the payment's sealed numbers and outcome. */
export const acceptRegistering = grouped<typeof registeringColumns, { id: string }>(
  'accept-registering',
  registeringColumns,
  order,
  text(`${keyedOnce}${written}${registered}
select id from new_payment`),
)

const settleColumns = {
  id: 'uuid',
  attempt_key: 'text',
  lease: 'integer',
  attempt_state: 'text',
  source: 'text',
  state: 'text',
  result_code: 'text',
  approved_minor: 'bigint',
  final_by: 'text',
  answer: 'jsonb',
  event_id: 'uuid',
  event_type: 'text',
  event_data: 'jsonb',
  balance_kind: 'text',
  authorised: 'bigint',
  captured: 'bigint',
  max_captures: 'integer',
  erase_instrument: 'boolean',
  timer_id: 'uuid',
  timer_kind: 'text',
  timer_ref: 'text',
  timer_after_ms: 'bigint',
  expire_id: 'uuid',
  expire_at: 'timestamptz',
  notifies: 'boolean',
  listeners: 'text',
} as const

export type SettleFirstRow = RowOf<typeof settleColumns>

/**
 * Second commit: the attempt moves only under its lease, and every other row depends on that move.
 * Without the lease the row moves nothing and returns nothing.
 */
export const settleFirst = grouped<
  typeof settleColumns,
  { id: string; seq: number; event_id: string }
>(
  'settle',
  settleColumns,
  'id',
  body`,
attempt_moved as (
  update tollgate.attempt set state = given.attempt_state, settled_by = given.source, lease_until = null
  from given
  where attempt.key = given.attempt_key and attempt.lease = given.lease
    and attempt.lease_until is not null and attempt.state in ('sending', 'pending', 'unknown')
  returning given.*),
payment_moved as (
  update tollgate.payment set state = attempt_moved.state, result_code = attempt_moved.result_code,
    approved_minor = attempt_moved.approved_minor, final_by = attempt_moved.final_by, settled_at = now(),
    answer = attempt_moved.answer, seq = payment.seq + 1
  from attempt_moved
  where payment.id = attempt_moved.id${'payment.id'}
  returning attempt_moved.*, payment.seq, payment.channel_id, payment.clock_id),
new_balance as (
  insert into tollgate.payment_balance (payment_id, kind, authorised, captured, max_captures)
  select id, balance_kind, authorised, captured, max_captures
  from payment_moved where balance_kind is not null
  on conflict do nothing),
new_event as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select event_id, id, seq, channel_id, event_type, event_data from payment_moved),
new_outbox as (
  insert into tollgate.outbox (resource, seq, event_id)
  select id, seq, event_id from payment_moved
  where notifies
    -- Webhooks of other merchants cost nothing here.
    or exists (
      select from tollgate.webhook_endpoint
      where kind = 'webhook' and active and entity_id = any(payment_moved.listeners::uuid[]))
    or (payment_moved.listeners is null and exists (
      select from tollgate.webhook_endpoint where kind = 'webhook' and active))),
erased as (
  delete from tollgate.instrument
  using payment_moved
  where payment_moved.erase_instrument and instrument.id = payment_moved.id),
new_timer as (
  insert into tollgate.timer (id, due_at, kind, ref, clock_id)
  select timer_id, now() + timer_after_ms * interval '1 millisecond', timer_kind, timer_ref, null::uuid
  from payment_moved where timer_id is not null
  union all
  select expire_id, expire_at, 'expire', timer_ref, clock_id from payment_moved where expire_id is not null
  on conflict (kind, ref) do update set due_at =
    case when timer.kind = 'expire' then least(timer.due_at, excluded.due_at) else excluded.due_at end)
select id, seq, event_id from payment_moved`,
)
