/** Every statement that moves an attempt after its first commit, outside the group lane. */

import type { Refs } from '@tollgate/plugin-kit'
import { toldSuccess } from '../attention/store-told.ts'
import { storable } from '../db/json.ts'
import { sql } from '../db/sql.ts'
import { newEvent } from '../event/store-outbox.ts'
import type { Mark, Move, Sums } from './balance-rules.ts'
import { standingOf } from './store-dispute-read.ts'
import type { SettleFirstRow } from './store-first.ts'
import { waitingChargeback } from './store-waiting-dispute.ts'
import type { Payment, Stage } from './types.ts'

/** For a reversal: the reversed capture, and the authorisation that gets the amount back. */
export type Returns = { readonly captureId: string; readonly balanceId: string }

/**
 * Second commit of all but undisturbed first payments: also moves the balance and ends timers.
 *
 * @param knowsReversal Whether the outcome may end or continue a reversal by key that is under way. Any
 * other outcome moves nothing while one is.
 */
export const settleOne = (
  row: SettleFirstRow,
  paymentParent: string | null,
  move: Move,
  returns: Returns | null,
  undecided: boolean,
  knowsReversal: boolean,
) => sql<{
  id: string
  seq: number
  event_id: string
  /** Fingerprint of the erased number. */
  fingerprint: Buffer | null
}>`
with attempt_moved as (
  update tollgate.attempt set state = ${row.attempt_state}::text, settled_by = ${row.source}::text,
    lease_until = null, returned_at = null
  where key = ${row.attempt_key}::text and lease = ${row.lease}::integer
    and lease_until is not null and state in ('sending', 'pending', 'unknown')
    -- The time of an expired payment is over for good.
    and (${row.state}::text <> 'pending' or settled_by is distinct from 'expiry')
    and (${knowsReversal}::boolean or not exists (
      select from tollgate.payment where payment.id = ${row.id}::uuid and payment.answer ? 'reversal'))
  returning key),
payment_moved as (
  update tollgate.payment set state = ${row.state}::text, result_code = ${row.result_code}::text,
    approved_minor = ${bigint(row.approved_minor)}::bigint, final_by = ${row.final_by}::text, settled_at = now(),
    answer = ${row.answer}::jsonb, seq = payment.seq + 1
  from attempt_moved
  where payment.id = ${row.id}::uuid
  returning payment.id, payment.seq, payment.channel_id, payment.clock_id),
balance_moved as (
  update tollgate.payment_balance set
    authorised = authorised + ${bigint(move.own.authorised)}::bigint,
    increasing = increasing + ${bigint(move.own.increasing)}::bigint,
    capturing = capturing + ${bigint(move.own.capturing)}::bigint,
    captured = captured + ${bigint(move.own.captured)}::bigint,
    reversing = reversing + ${bigint(move.own.reversing)}::bigint,
    reversed = reversed + ${bigint(move.own.reversed)}::bigint,
    refunding = refunding + ${bigint(move.own.refunding)}::bigint,
    refunded = refunded + ${bigint(move.own.refunded)}::bigint,
    captures = captures + ${move.own.captures}::integer,
    excess = least(excess, greatest(0, case kind
      when 'authorisation' then captured + capturing + reversed + reversing - authorised
        + ${bigint(overOf(move.own).authorisation)}::bigint
      when 'sale' then refunded + refunding + reversed + reversing - captured
        + ${bigint(overOf(move.own).sale)}::bigint
      else 0 end)),
    excess_captures = least(excess_captures,
      greatest(0, captures + ${move.own.captures}::integer - max_captures)),
    capture_final_by = case when ${isReleased(move, 'capture_final_by')}::boolean
      then nullif(capture_final_by, ${row.id}::uuid) else capture_final_by end,
    refund_final_by = case when ${isReleased(move, 'refund_final_by')}::boolean
      then nullif(refund_final_by, ${row.id}::uuid) else refund_final_by end,
    reverse_final_by = case when ${isReleased(move, 'reverse_final_by')}::boolean
      then nullif(reverse_final_by, ${row.id}::uuid) else reverse_final_by end,
    closed_by = case when ${isReleased(move, 'closed_by')}::boolean
      then nullif(closed_by, ${row.id}::uuid) else closed_by end
  from payment_moved
  where payment_balance.payment_id = ${paymentParent}::uuid
  returning closed_by is distinct from payment_id as stands,
    reversed = ${bigint(move.own.reversed)}::bigint as is_first),
returned as (
  -- A failed or already reversed capture has returned its amount before.
  update tollgate.payment_balance set
    captured = captured + ${bigint(move.returned.captured)}::bigint,
    captures = captures + ${move.returned.captures}::integer,
    excess = least(excess, greatest(0, captured + capturing + reversed + reversing - authorised
      + ${bigint(move.returned.captured)}::bigint)),
    excess_captures = least(excess_captures,
      greatest(0, captures + ${move.returned.captures}::integer - max_captures)),
    capture_final_by = nullif(capture_final_by, ${returns?.captureId ?? null}::uuid)
  from balance_moved
  where payment_balance.payment_id = ${returns?.balanceId ?? null}::uuid and balance_moved.stands
    and balance_moved.is_first
    and ${move.returned.captures !== 0}::boolean),
new_balance as (
  insert into tollgate.payment_balance (payment_id, kind, authorised, captured, max_captures, frozen_by)
  select payment_moved.id, ${row.balance_kind}::text, ${bigint(row.authorised)}::bigint,
    ${bigint(row.captured)}::bigint, ${row.max_captures}::integer,
    -- The join makes the function look once the balance above is locked.
    tollgate.frozen_from_the_start(payment_moved.id,
      case when balance_moved.stands is null then null else ${paymentParent}::uuid end)
  from payment_moved
  left join balance_moved on true
  where ${row.balance_kind}::text is not null
  on conflict do nothing),
${newEvent.ofPayment(
  { id: row.event_id!, type: row.event_type!, data: row.event_data! },
  sql`payment_moved`,
  row.notifies === true,
)},
erased as (
  delete from tollgate.instrument
  using payment_moved
  where ${row.erase_instrument}::boolean and instrument.id = payment_moved.id
  returning instrument.fingerprint),
ended_timers as (
  delete from tollgate.timer
  using attempt_moved
  where timer.ref = attempt_moved.key and (
    (timer.kind = 'look' and ${row.timer_kind}::text is distinct from 'look')
    -- The ladder also covers the rest of an expired payment.
    or (timer.kind = 'expire' and ${row.expire_id}::uuid is null
      and (not ${undecided}::boolean or ${row.source}::text = 'expiry')))),
new_timer as (
  insert into tollgate.timer (id, due_at, kind, ref, clock_id)
  select ${row.timer_id}::uuid, now() + ${bigint(row.timer_after_ms)}::bigint * interval '1 millisecond',
    ${row.timer_kind}::text, ${row.timer_ref}::text, null::uuid
  from payment_moved where ${row.timer_id}::uuid is not null
  union all
  select ${row.expire_id}::uuid, ${row.expire_at}::timestamptz, 'expire', ${row.timer_ref}::text, clock_id
  from payment_moved where ${row.expire_id}::uuid is not null
  on conflict (kind, ref) do update set due_at =
    case when timer.kind = 'expire' then least(timer.due_at, excluded.due_at) else excluded.due_at end)
select id, seq, ${row.event_id}::uuid as event_id, (select fingerprint from erased) as fingerprint
from payment_moved`

/** How much more of each kind of limit a move uses than it adds. */
const overOf = (sums: Sums) => ({
  authorisation: sums.captured + sums.capturing + sums.reversed + sums.reversing - sums.authorised,
  sale: sums.refunded + sums.refunding + sums.reversed + sums.reversing - sums.captured,
})

const isReleased = ({ mark }: Move, name: Mark): boolean =>
  mark?.name === name && mark.is === 'released'

function bigint(value: bigint | number | null): string | null {
  return value === null ? null : String(value)
}

export type LeaseRow = {
  key: string
  payment_id: string
  lease: number
  enquiries: number
  take_backs: number
  stage: Stage
  /** Milliseconds since the shopper came back from an authentication that nobody has concluded. */
  returned_ms: number | null
}

/**
 * The purpose of a lease: the engine's own look, another party's question, a word that settles, or a
 * shopper who came back from an authentication.
 */
export type LeaseFor = 'look' | 'question' | 'word' | 'return'

/**
 * Takes the right to settle an attempt when the lease has ended or is free. A swept attempt becomes
 * `unknown`, and its enquiry timer exists before the first enquiry. Only the engine's own look
 * climbs the ladder and delays the next look.
 */
export const takeLease = (
  key: string,
  leaseMs: number,
  timerId: string,
  nextEnquiryMs: number,
  why: LeaseFor,
) => sql<LeaseRow>`
with taken as (
  update tollgate.attempt set lease = lease + 1,
    enquiries = enquiries + case when ${why === 'look'}::boolean and state <> 'late' then 1 else 0 end,
    take_backs = take_backs + case when ${why === 'look'}::boolean and state = 'late' then 1 else 0 end,
    -- A shopper who comes back after the authentication is a question only to the acquirer.
    questions = questions + case when ${why === 'question'}::boolean
      or ${why === 'return'}::boolean and stage = 'authentication' then 1 else 0 end,
    returned_at = case when ${why === 'return'}::boolean and stage = 'authentication' then now() else returned_at end,
    lease_until = now() + ${leaseMs}::integer * interval '1 millisecond',
    state = case when state = 'sending' then 'unknown' else state end
  where key = ${key}::text and state in ('sending', 'pending', 'unknown', 'late')
    and (lease_until is null or lease_until < now())
  returning key, payment_id, lease, enquiries, take_backs, stage, returned_at),
next_look as (
  insert into tollgate.timer (id, due_at, kind, ref)
  select ${timerId}::uuid, now() + ${nextEnquiryMs}::integer * interval '1 millisecond', 'look', key
  from taken
  on conflict (kind, ref) do update set clock_id = null, due_at =
    case when ${why === 'look'}::boolean then excluded.due_at else least(timer.due_at, excluded.due_at) end)
select key, payment_id, lease, enquiries, take_backs, stage,
  (extract(epoch from now() - returned_at) * 1000)::double precision as returned_ms
from taken`

/** Returns a lease without a decision, so that the next enquiry may take it. */
export const dropLease = (key: string, lease: number) => sql<{ key: string }>`
  update tollgate.attempt set lease_until = null
  where key = ${key}::text and lease = ${lease}::integer
    and state in ('sending', 'pending', 'unknown', 'late')
  returning key`

/** The same for the lease of a process that died: the next sweep takes it. */
export const runOutLease = (key: string, lease: number) => sql<{ key: string }>`
  update tollgate.attempt set lease_until = now()
  where key = ${key}::text and lease = ${lease}::integer
    and state in ('sending', 'pending', 'unknown', 'late')
  returning key`

/**
 * Records before a reversal by key that it is asked for, unless the payer may have the money back by a chargeback: a
 * record ends the wait for it. No row: there is one, or another process has the lease.
 */
export const markAsked = ({ id, attemptKey }: Payment, lease: number) => sql<{ id: string }>`
  update tollgate.payment set answer = coalesce(answer, '{}') || '{"asked": true}'
  from tollgate.attempt
  where attempt.key = ${attemptKey}::text and attempt.lease = ${lease}::integer
    and attempt.state in ('sending', 'pending', 'unknown', 'late') and payment.id = attempt.payment_id
    and not exists (${waitingChargeback(id)})
    and not (attempt.state = 'late' and exists (${standingOf(id)}))
  returning payment.id`

/** Records after the answer to a reversal by key that none is open. */
export const forgetAsked = (key: string, lease: number) => sql`
  update tollgate.payment set answer = answer - 'asked'
  from tollgate.attempt
  where attempt.key = ${key}::text and attempt.lease = ${lease}::integer
    and attempt.state in ('sending', 'pending', 'unknown', 'late') and payment.id = attempt.payment_id`

/**
 * Gives an open payment the references of a success that does not decide it.
 *
 * @param named The name of the first one among them.
 */
export const learnWhileOpen = (paymentId: string, refs: Refs, named: string | undefined) => sql`
  update tollgate.payment set answer = coalesce(answer, '{}')
    || jsonb_build_object('refs', coalesce(answer -> 'refs', '{}') || ${storable(refs)}::jsonb)
    || ${named === undefined ? '{}' : storable({ named })}::jsonb
  where id = ${paymentId}::uuid and state in ('processing', 'pending', 'unknown')`

/** An open payment, none of whose told successes is left, is known by no success any more. */
export const forgetSuccess = (paymentId: string) => sql`
  update tollgate.payment set answer = answer - 'named'
  where id = ${paymentId}::uuid and state in ('processing', 'pending', 'unknown') and answer ? 'named'
    and not exists (${toldSuccess(paymentId)})`

/** Returns a lease and sets the next look; for another party's question, sets the latest time. */
export const lookLater = (
  key: string,
  lease: number,
  timerId: string,
  afterMs: number,
  isOwn: boolean,
) => sql<{ key: string }>`
with freed as (
  update tollgate.attempt set lease_until = null
  where key = ${key}::text and lease = ${lease}::integer
    and state in ('sending', 'pending', 'unknown', 'late')
  returning key),
looks as (
  insert into tollgate.timer (id, due_at, kind, ref)
  select ${timerId}::uuid, now() + ${afterMs}::bigint * interval '1 millisecond', 'look', key
  from freed
  on conflict (kind, ref) do update set clock_id = null, due_at =
    case when ${isOwn}::boolean then excluded.due_at else least(timer.due_at, excluded.due_at) end)
select key from freed`

/** Moves the look at an attempt to a test clock. */
export const lookOnClock = (key: string, clockId: string, at: Date) => sql`
  update tollgate.timer set clock_id = ${clockId}::uuid, due_at = ${at}::timestamptz
  where kind = 'look' and ref = ${key}::text`

/** Attempts without a process: the lease ended while the request was under way. */
export const overdue = (limit: number) => sql<{ key: string; kind: string; connector: string }>`
  select key, kind, connector
  from tollgate.attempt
  where state = 'sending' and lease_until < now()
  order by lease_until
  limit ${limit}::integer`
