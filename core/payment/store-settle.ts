/** Everything that moves an attempt after its first commit, outside the group lane. */
import { sql } from '../db/sql.ts'
import { outbox } from '../webhook/store-outbox.ts'
import { notifies } from './announce.ts'
import type { SettleFirstRow } from './store-first.ts'
import type { Payment } from './types.ts'

/** What settling does to the balance the payment was reserved on. All numbers are differences. */
export type BalanceMove = {
  readonly authorised: bigint
  readonly increasing: bigint
  readonly capturing: bigint
  readonly captured: bigint
  readonly reversing: bigint
  readonly reversed: bigint
  readonly refunding: bigint
  readonly refunded: bigint
  readonly captures: number
  /** Takes this payment's final marks, closing mark or chargeback mark away again. */
  readonly release: boolean
  /** Closes the rest of the authorisation that this payment replaced. */
  readonly closeRest: boolean
  /** On the reversal of a capture: the capture that no longer counts on the balance it came from. */
  readonly undo: { readonly captureId: string; readonly balanceId: string } | null
}

/** T2 of anything that is not an undisturbed first payment: also moves the balance and ends timers. */
export const settleOne = (
  row: SettleFirstRow,
  paymentParent: string | null,
  move: BalanceMove,
  undecided: boolean,
) => sql<{ id: string; seq: number }>`
with a as (
  update tollgate.attempt set state = ${row.attempt_state}::text, settled_by = ${row.source}::text,
    lease_until = null
  where key = ${row.attempt_key}::text and lease = ${row.lease}::integer
    and lease_until is not null and state in ('sending', 'pending', 'unknown')
  returning key),
p as (
  update tollgate.payment set state = ${row.state}::text, result_code = ${row.result_code}::text,
    approved_minor = ${bigint(row.approved_minor)}::bigint, final_by = ${row.final_by}::text, settled_at = now(),
    answer = ${row.answer}::jsonb, seq = payment.seq + 1
  from a
  where payment.id = ${row.id}::uuid
  returning payment.id, payment.seq, payment.channel_id, payment.clock_id),
m as (
  update tollgate.payment_balance set
    authorised = authorised + ${bigint(move.authorised)}::bigint,
    increasing = increasing + ${bigint(move.increasing)}::bigint,
    capturing = capturing + ${bigint(move.capturing)}::bigint,
    captured = captured + ${bigint(move.captured)}::bigint,
    reversing = reversing + ${bigint(move.reversing)}::bigint,
    reversed = case when ${move.closeRest}::boolean then authorised - captured
      else reversed + ${bigint(move.reversed)}::bigint end,
    refunding = refunding + ${bigint(move.refunding)}::bigint,
    refunded = refunded + ${bigint(move.refunded)}::bigint,
    captures = captures + ${move.captures}::integer,
    capture_final_by = case when ${move.release}::boolean and capture_final_by = ${row.id}::uuid
      then null else capture_final_by end,
    refund_final_by = case when ${move.release}::boolean and refund_final_by = ${row.id}::uuid
      then null else refund_final_by end,
    reverse_final_by = case when ${move.release}::boolean and reverse_final_by = ${row.id}::uuid
      then null else reverse_final_by end,
    closed_by = case when ${move.release}::boolean and closed_by = ${row.id}::uuid
      then null else closed_by end,
    charged_back_by = case when ${move.release}::boolean and charged_back_by = ${row.id}::uuid
      then null else charged_back_by end
  from p
  where payment_balance.payment_id = ${paymentParent}::uuid),
u as (
  update tollgate.payment_balance set
    captured = captured - ${bigint(move.reversed)}::bigint,
    captures = captures - 1,
    capture_final_by = case when capture_final_by = ${move.undo?.captureId ?? null}::uuid
      then null else capture_final_by end
  from p
  where payment_balance.payment_id = ${move.undo?.balanceId ?? null}::uuid),
b as (
  insert into tollgate.payment_balance (payment_id, kind, authorised, captured, max_captures)
  select id, ${row.balance_kind}::text, ${bigint(row.authorised)}::bigint, ${bigint(row.captured)}::bigint,
    ${row.max_captures}::integer
  from p where ${row.balance_kind}::text is not null
  on conflict do nothing),
e as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select ${row.event_id}::uuid, id, seq, channel_id, ${row.event_type}::text, ${row.event_data}::jsonb
  from p
  returning id, resource, seq),
w as (${outbox.ofPayment(row.notifies === true)}),
d as (
  delete from tollgate.instrument
  using p
  where ${row.erase_instrument}::boolean and instrument.id = p.id),
x as (
  delete from tollgate.timer
  using a
  where timer.ref = a.key and (
    (not ${undecided}::boolean and timer.kind in ('enquire', 'poll', 'expire'))
    or (timer.kind in ('enquire', 'poll') and timer.kind is distinct from ${row.timer_kind}::text))),
t as (
  insert into tollgate.timer (id, due_at, kind, ref, clock_id)
  select ${row.timer_id}::uuid, now() + ${bigint(row.timer_after_ms)}::bigint * interval '1 millisecond',
    ${row.timer_kind}::text, ${row.timer_ref}::text, null::uuid
  from p where ${row.timer_id}::uuid is not null
  union all
  select ${row.expire_id}::uuid, ${row.expire_at}::timestamptz, 'expire', ${row.timer_ref}::text, clock_id
  from p where ${row.expire_id}::uuid is not null
  on conflict (kind, ref) do update set due_at =
    case when timer.kind = 'expire' then least(timer.due_at, excluded.due_at) else excluded.due_at end)
select id, seq from p`

function bigint(value: bigint | number | null): string | null {
  return value === null ? null : String(value)
}

export type LeaseRow = { key: string; payment_id: string; lease: number; enquiries: number }

/**
 * Takes the right to settle an attempt: when its caller's lease has ended, or nobody holds one.
 * A swept attempt becomes `unknown`, and the timer that asks again is there before the first question.
 */
export const takeLease = (
  key: string,
  leaseMs: number,
  timerId: string,
  nextEnquiryMs: number,
) => sql<LeaseRow>`
with a as (
  update tollgate.attempt set lease = lease + 1, enquiries = enquiries + 1,
    lease_until = now() + ${leaseMs}::integer * interval '1 millisecond',
    state = case when state = 'sending' then 'unknown' else state end
  where key = ${key}::text and state in ('sending', 'pending', 'unknown')
    and (lease_until is null or lease_until < now())
  returning key, payment_id, lease, enquiries),
t as (
  insert into tollgate.timer (id, due_at, kind, ref)
  select ${timerId}::uuid, now() + ${nextEnquiryMs}::integer * interval '1 millisecond', 'enquire', key
  from a
  on conflict (kind, ref) do update set due_at = excluded.due_at)
select key, payment_id, lease, enquiries from a`

/** Gives a lease back without a decision: the next enquiry may take it. */
export const dropLease = (key: string, lease: number) => sql<{ key: string }>`
  update tollgate.attempt set lease_until = null
  where key = ${key}::text and lease = ${lease}::integer and state in ('sending', 'pending', 'unknown')
  returning key`

/** Attempts whose caller is gone: their lease ran out while the request was under way. */
export const overdue = (limit: number) => sql<{ key: string; kind: string; connector: string }>`
  select key, kind, connector
  from tollgate.attempt
  where state = 'sending' and lease_until < now()
  order by lease_until
  limit ${limit}::integer`

/**
 * An operation that counted as done and failed later (a refund, a direct debit): it becomes
 * declined, what it did to balances is taken back, and its own balance takes nothing more.
 */
export const failAccepted = (
  row: {
    id: string
    attemptKey: string
    parentId: string | null
    resultCode: string
    answer: string
    notifies: boolean
    event: { id: string; type: string; data: string }
  },
  move: BalanceMove,
) => sql<{ id: string; seq: number }>`
with p as (
  update tollgate.payment set state = 'declined', result_code = ${row.resultCode}::text, final_by = null,
    settled_at = now(), answer = ${row.answer}::jsonb, seq = seq + 1
  where id = ${row.id}::uuid and state = 'approved' and final_by is not null
  returning id, seq, channel_id),
m as (
  update tollgate.payment_balance set
    authorised = authorised + ${bigint(move.authorised)}::bigint,
    captured = captured + ${bigint(move.captured)}::bigint,
    reversed = reversed + ${bigint(move.reversed)}::bigint,
    refunded = refunded + ${bigint(move.refunded)}::bigint,
    captures = captures + ${move.captures}::integer,
    capture_final_by = nullif(capture_final_by, ${row.id}::uuid),
    refund_final_by = nullif(refund_final_by, ${row.id}::uuid),
    reverse_final_by = nullif(reverse_final_by, ${row.id}::uuid)
  from p
  where payment_balance.payment_id = ${row.parentId}::uuid),
u as (
  update tollgate.payment_balance set
    captured = captured - ${bigint(move.reversed)}::bigint,
    captures = captures + 1
  from p
  where payment_balance.payment_id = ${move.undo?.balanceId ?? null}::uuid),
o as (
  update tollgate.payment_balance set closed_by = p.id
  from p
  where payment_balance.payment_id = p.id),
a as (
  update tollgate.attempt set state = 'declined'
  from p
  where attempt.key = ${row.attemptKey}::text),
d as (
  delete from tollgate.instrument
  using p
  where instrument.id = p.id),
x as (
  delete from tollgate.timer
  using p
  where timer.ref = ${row.attemptKey}::text and timer.kind = 'finalise'),
e as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select ${row.event.id}::uuid, id, seq, channel_id, ${row.event.type}::text, ${row.event.data}::jsonb
  from p
  returning id, resource, seq),
w as (${outbox.ofPayment(row.notifies)})
select id, seq from p`

/** A first payment that was over and turned out to be paid, where the channel accepts that. */
export const acceptLate = (
  payment: Payment,
  resultCode: string,
  answer: string,
  balance: { kind: string; authorised: bigint; captured: bigint; maxCaptures: number | null },
  event: { id: string; data: string },
) => sql<{ id: string; seq: number }>`
with p as (
  update tollgate.payment set state = 'approved', result_code = ${resultCode}::text,
    approved_minor = amount_minor, settled_at = now(), answer = ${answer}::jsonb, seq = seq + 1
  where id = ${payment.id}::uuid and state in ('declined', 'expired')
  returning id, seq, channel_id),
a as (
  update tollgate.attempt set state = 'approved', settled_by = 'late-success'
  from p
  where attempt.key = ${payment.attemptKey}::text),
b as (
  insert into tollgate.payment_balance (payment_id, kind, authorised, captured, max_captures)
  select id, ${balance.kind}::text, ${String(balance.authorised)}::bigint, ${String(balance.captured)}::bigint,
    ${balance.maxCaptures}::integer
  from p
  on conflict do nothing),
e as (
  insert into tollgate.event (id, resource, seq, channel_id, type, data)
  select ${event.id}::uuid, id, seq, channel_id, 'payment.approved', ${event.data}::jsonb
  from p
  returning id, resource, seq),
w as (${outbox.ofPayment(notifies(payment))})
select id, seq from p`

/** The acquirer's final word on an operation that counted as done: it stays done. */
export const confirmAccepted = (id: string) => sql<{ id: string }>`
  update tollgate.payment set final_by = null
  where id = ${id}::uuid and state = 'approved'
  returning id`
