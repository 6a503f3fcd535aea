/** SQL of late words: one statement moves a decided payment with all consequences. */

import type { AttentionKind } from '../attention/store.ts'
import { type AuditEntry, auditRows, nobody } from '../audit/stored-rows.ts'
import { type Sql, sql } from '../db/sql.ts'
import { type NewEvent, newEvent } from '../event/store-outbox.ts'
import type { Move, Sums } from './balance-rules.ts'
import { type AttemptRow, columns, type PaymentRow } from './store-read.ts'
import { answerWith, hasSeen, type StoredReferences } from './stored-references.ts'
import type { AttemptState, PaymentState, Stage } from './types.ts'

/** A payment and its attempt at one moment. */
export const heldPayment = (key: string) => sql<PaymentRow & AttemptColumns>`
  select ${columns.ofPayment}, attempt.state as attempt_state, attempt.lease, attempt.lease_until,
    attempt.enquiries, attempt.settled_by, attempt.kind, attempt.stage
  from tollgate.attempt
  join tollgate.payment on payment.id = attempt.payment_id
  left join tollgate.payment_request on payment_request.id = payment.id
  where attempt.key = ${key}::text`

type AttemptColumns = {
  attempt_state: AttemptState
  lease: number
  lease_until: Date | null
  enquiries: number
  settled_by: string | null
  kind: AttemptRow['kind']
  stage: Stage
}

/** An entry of the operators' list that belongs to the move. */
export type Entry = {
  readonly id: string
  readonly kind: AttentionKind
  readonly reference: string
  readonly detail: Readonly<Record<string, unknown>>
}

export type LateMove = {
  readonly paymentId: string
  readonly attemptKey: string
  /** The state at the read; after a change of either, the statement does nothing. */
  readonly from: { readonly attempt: AttemptState; readonly lease: number }
  /** Ends the lease of a process at work, so that its result moves nothing. */
  readonly isFence: boolean
  readonly to: {
    readonly attempt: AttemptState
    readonly state: PaymentState
    readonly resultCode: string
    readonly approvedMinor: bigint | null
    readonly finalBy: string | null
    /** JSON text, whose references do not count; null: unchanged. */
    readonly answer: string | null
    readonly references: StoredReferences
  }
  readonly source: string
  /** For a move that merchants are notified about. */
  readonly event: NewEvent | null
  readonly notifies: boolean
  /** The requested amount. */
  readonly amountMinor: bigint
  readonly move: Move
  /**
   * The same for a reversed capture, whose place `done` counts for nothing on its authorisation.
   */
  readonly ownIfReversed: Sums
  readonly parentId: string | null
  /** Balance of the authorisation that gets a reversed capture's amount back. */
  readonly returnedTo: string | null
  readonly returnedCapture: { readonly id: string; readonly isFinal: boolean } | null
  /** The payment's own balance: closed after a failure, open again after a revived success. */
  readonly own: 'closed' | 'open' | 'kept'
  /** For a reopened balance: the difference between the new and the first amount. */
  readonly ownDifference: bigint
  /** The new balance of a payment that had none. */
  readonly balance: {
    readonly kind: string
    readonly authorised: bigint
    readonly captured: bigint
    readonly maxCaptures: number | null
  } | null
  readonly erasesInstrument: boolean
  /**
   * The entry listed with the move. `freezes`: balances that wait until an operator ends the entry.
   */
  readonly entry: (Entry & { readonly freezes: readonly string[] }) | null
  /** Listed when more was used than can be given back; its detail includes the excess. */
  readonly beyond: Entry | null
  /** Kinds of entries that the move ends, and the person or source. */
  readonly ends: readonly AttentionKind[]
  readonly audit: AuditEntry | null
  /** The next look at the attempt; null: none, unless `keepsLook`. */
  readonly look: { readonly id: string; readonly afterMs: number } | null
  readonly keepsLook: boolean
  /** The authorisation of a two-step payment whose next step is due. */
  readonly goesOn: { readonly id: string; readonly authorisationId: string } | null
  /** The schedule whose execution has to be looked at, because its charge failed after all. */
  readonly execution: { readonly id: string; readonly scheduleId: string } | null
}

const text = (value: bigint | number | null) => (value === null ? null : String(value))

/** A locked balance with the differences added; `excess` is the amount beyond the limit. */
const withSums = (balanceId: string | null, sums: Sums) => sql`
  select balance.payment_id, balance.kind, balance.closed_by, balance.excess as excess_before,
    balance.excess_captures as excess_captures_before, balance.max_captures,
    balance.reversed as reversed_before,
    balance.authorised + ${text(sums.authorised)}::bigint as authorised,
    balance.increasing + ${text(sums.increasing)}::bigint as increasing,
    balance.capturing + ${text(sums.capturing)}::bigint as capturing,
    balance.captured + ${text(sums.captured)}::bigint as captured,
    balance.reversing + ${text(sums.reversing)}::bigint as reversing,
    balance.reversed + ${text(sums.reversed)}::bigint as reversed,
    balance.refunding + ${text(sums.refunding)}::bigint as refunding,
    balance.refunded + ${text(sums.refunded)}::bigint as refunded,
    balance.captures + ${sums.captures}::integer as captures
  from tollgate.payment_balance balance
  where balance.payment_id = ${balanceId}::uuid`

const excessOf = sql`
    greatest(0, case after.kind
      when 'authorisation' then after.captured + after.capturing + after.reversed + after.reversing - after.authorised
      when 'sale' then after.refunded + after.refunding + after.reversed + after.reversing - after.captured
      else 0 end)`

const excessCapturesOf = sql`greatest(0, after.captures - after.max_captures)`

/**
 * Moves a payment from its decided state to its actual one. The attempt's lease number is the
 * fence: a process with an older number moves nothing. Lock order, as everywhere: attempt, payment,
 * own balance, parent's balance, balance of the authorisation above.
 */
export const moveLate = (late: LateMove): Sql<{ id: string; seq: number }> => sql<{
  id: string
  seq: number
}>`
with attempt_moved as (
  update tollgate.attempt set state = ${late.to.attempt}::text, settled_by = ${late.source}::text,
    lease = lease + case when ${late.isFence}::boolean then 1 else 0 end,
    lease_until = case when ${late.isFence}::boolean then null else lease_until end
  where key = ${late.attemptKey}::text and lease = ${late.from.lease}::integer
    and state = ${late.from.attempt}::text
  returning key),
payment_moved as (
  update tollgate.payment set state = ${late.to.state}::text, result_code = ${late.to.resultCode}::text,
    approved_minor = ${text(late.to.approvedMinor)}::bigint, final_by = ${late.to.finalBy}::text,
    answer = ${answerWith(late.to.answer, late.to.references)},
    settled_at = case when ${late.event !== null}::boolean then now() else payment.settled_at end,
    seq = payment.seq + case when ${late.event !== null}::boolean then 1 else 0 end
  from attempt_moved
  where payment.id = ${late.paymentId}::uuid and ${hasSeen(late.to.references)}
  returning payment.id, payment.seq, payment.channel_id),
ended as (
  update tollgate.attention set resolved_at = now(), resolved_by = ${late.audit?.actor.name ?? late.audit?.actor.id ?? 'engine'}::text
  from payment_moved
  where attention.payment_id = payment_moved.id and attention.kind = any(${late.ends}::text[])
    and attention.reference = '' and attention.resolved_at is null
  returning attention.id),
entry as (
  insert into tollgate.attention (id, kind, payment_id, attempt_key, reference, detail, freezes)
  select ${late.entry?.id ?? null}::uuid, ${late.entry?.kind ?? null}::text, id, ${late.attemptKey}::text,
    ${late.entry?.reference ?? null}::text, ${JSON.stringify(late.entry?.detail ?? null)}::jsonb,
    ${late.entry?.freezes ?? []}::uuid[]
  from payment_moved
  where ${late.entry !== null}::boolean
  on conflict (coalesce(payment_id, '00000000-0000-0000-0000-000000000000'), kind, reference)
    where resolved_at is null do update set freezes = (
      select coalesce(array_agg(distinct balance_id), '{}')
      from unnest(attention.freezes || excluded.freezes) as balance_id)
  returning id, freezes),
own as (
  update tollgate.payment_balance set
    closed_by = case ${late.own}::text
      when 'closed' then payment_moved.id
      when 'open' then nullif(closed_by, payment_moved.id)
      else closed_by end,
    authorised = authorised + case when kind = 'authorisation' then ${text(late.ownDifference)}::bigint else 0 end,
    captured = captured + case when kind <> 'authorisation' then ${text(late.ownDifference)}::bigint else 0 end,
    excess = case when ${late.ownDifference !== 0n}::boolean then greatest(0, case kind
      when 'authorisation' then captured + capturing + reversed + reversing - authorised
      when 'sale' then refunded + refunding + reversed + reversing - captured
      else 0 end - ${text(late.ownDifference)}::bigint) else excess end,
    frozen_by = case when payment_balance.payment_id = any(entry.freezes) and not entry.id = any(frozen_by)
      then array_append(frozen_by, entry.id) else frozen_by end
  from payment_moved
  left join entry on true
  where payment_balance.payment_id = payment_moved.id
  returning kind, authorised, captured, capturing, reversed, refunded, refunding, charged_back, excess),
stands as (
  insert into tollgate.payment_balance (payment_id, kind, authorised, captured, max_captures, frozen_by)
  select id, ${late.balance?.kind ?? null}::text, ${text(late.balance?.authorised ?? null)}::bigint,
    ${text(late.balance?.captured ?? null)}::bigint, ${late.balance?.maxCaptures ?? null}::integer,
    -- Entries that are older than the payment's balance.
    array(select older from unnest(tollgate.frozen_from_the_start(payment_moved.id, ${late.parentId}::uuid)) as older
      where not exists (select from tollgate.attention
        where attention.id = older and attention.payment_id = payment_moved.id
          and attention.kind = any(${late.ends}::text[]) and attention.reference = ''))
  from payment_moved
  where ${late.balance !== null}::boolean and not exists (select from own)
  on conflict do nothing),
chosen as (
  select exists (select from own where own.kind = 'sale' and own.reversed > 0) as is_reversed
  from payment_moved),
parent_if_standing as (${withSums(late.parentId, late.move.own)}
    and not (select is_reversed from chosen) for update),
parent_if_reversed as (${withSums(late.parentId, late.ownIfReversed)}
    and (select is_reversed from chosen) for update),
after as (
  select * from parent_if_standing union all select * from parent_if_reversed),
parent as (
  update tollgate.payment_balance set authorised = after.authorised, increasing = after.increasing,
    capturing = after.capturing, captured = after.captured, reversing = after.reversing,
    reversed = after.reversed, refunding = after.refunding, refunded = after.refunded, captures = after.captures,
    excess = ${excessOf}, excess_captures = ${excessCapturesOf},
    capture_final_by = case ${markOf(late, 'capture_final_by')}::text
      when 'taken' then case when (select is_reversed from chosen) then capture_final_by
        else coalesce(capture_final_by, ${late.paymentId}::uuid) end
      when 'released' then nullif(capture_final_by, ${late.paymentId}::uuid) else capture_final_by end,
    refund_final_by = case ${markOf(late, 'refund_final_by')}::text
      when 'taken' then coalesce(refund_final_by, ${late.paymentId}::uuid)
      when 'released' then nullif(refund_final_by, ${late.paymentId}::uuid) else refund_final_by end,
    reverse_final_by = case ${markOf(late, 'reverse_final_by')}::text
      when 'taken' then coalesce(reverse_final_by, ${late.paymentId}::uuid)
      when 'released' then nullif(reverse_final_by, ${late.paymentId}::uuid) else reverse_final_by end,
    closed_by = case ${markOf(late, 'closed_by')}::text
      when 'taken' then coalesce(payment_balance.closed_by, ${late.paymentId}::uuid)
      -- A replacement that failed after its captures: they stand, and an operator decides.
      when 'released' then case when exists (select from own where captured + capturing > 0)
        then payment_balance.closed_by else nullif(payment_balance.closed_by, ${late.paymentId}::uuid) end
      else payment_balance.closed_by end,
    frozen_by = case when payment_balance.payment_id = any(entry.freezes) and not entry.id = any(frozen_by)
      then array_append(frozen_by, entry.id) else frozen_by end
  from after
  left join entry on true
  where payment_balance.payment_id = after.payment_id
  returning payment_balance.payment_id, excess - after.excess_before as more_excess,
    excess_captures - after.excess_captures_before as more_captures,
    greatest(0, payment_balance.charged_back + case after.kind
      when 'authorisation' then after.captured + after.capturing + after.reversed + after.reversing - after.authorised
      when 'sale' then after.refunded + after.refunding + after.reversed + after.reversing - after.captured
      else 0 end) as still_over,
    payment_balance.closed_by is not distinct from payment_balance.payment_id as has_failed,
    (after.reversed_before > 0) <> (payment_balance.reversed > 0) as turns),
after_return as (${withSums(late.returnedTo, late.move.returned)}
    and (select turns and not has_failed from parent) for update),
returned as (
  update tollgate.payment_balance set captured = after.captured, captures = after.captures,
    capture_final_by = case
      when ${late.move.returned.captures < 0}::boolean then nullif(capture_final_by, ${late.returnedCapture?.id ?? null}::uuid)
      when ${late.returnedCapture?.isFinal === true}::boolean
        then coalesce(capture_final_by, ${late.returnedCapture?.id ?? null}::uuid)
      else capture_final_by end,
    excess = ${excessOf}, excess_captures = ${excessCapturesOf},
    frozen_by = array(
      select given
      from unnest(case when payment_balance.payment_id = any(entry.freezes) and not entry.id = any(frozen_by)
        then array_append(frozen_by, entry.id) else frozen_by end) as given
      where given not in (select id from ended))
  from after_return after
  left join entry on true
  where payment_balance.payment_id = after.payment_id
  returning excess - after.excess_before as more_excess,
    excess_captures - after.excess_captures_before as more_captures),
over as (
  select case when ${late.own === 'open'}::boolean
        -- An amount that was reserved before now exceeds the limit for good.
        then greatest(coalesce((select excess from own), 0),
          least(${text(late.amountMinor)}::bigint, coalesce((select still_over from parent), 0)))
        else greatest(0, coalesce((select more_excess from parent), 0)) end
      + greatest(0, coalesce((select more_excess from returned), 0))
      + case when ${late.own === 'closed'}::boolean then coalesce((select case
          when kind = 'authorisation' then captured + capturing else refunded + refunding end
        from own), 0) else 0 end as minor,
    greatest(0, coalesce((select more_captures from parent), 0), coalesce((select more_captures from returned), 0))
      as captures,
    coalesce((select charged_back from own), 0) as charged_back
  from payment_moved),
beyond as (
  insert into tollgate.attention (id, kind, payment_id, attempt_key, reference, detail)
  select ${late.beyond?.id ?? null}::uuid, ${late.beyond?.kind ?? null}::text, payment_moved.id,
    ${late.attemptKey}::text, ${late.beyond?.reference ?? null}::text,
    ${JSON.stringify(late.beyond?.detail ?? null)}::jsonb || jsonb_build_object('beyondMinor', over.minor::text)
      || case when over.charged_back = 0 then '{}' else
        jsonb_build_object('chargedBackMinor', over.charged_back::text) end
  from payment_moved, over
  where ${late.beyond !== null}::boolean and (over.minor > 0 or over.captures > 0 or over.charged_back > 0)
  on conflict (coalesce(payment_id, '00000000-0000-0000-0000-000000000000'), kind, reference)
    where resolved_at is null do nothing),
-- An authorisation whose capture was reversed late: this move can leave its sums as they are.
thawed as (
  update tollgate.payment_balance set frozen_by = array(
    select given from unnest(frozen_by) as given where given not in (select id from ended))
  from payment_moved
  where payment_balance.payment_id = ${late.returnedTo}::uuid and not exists (select from returned)
    and exists (select from ended where ended.id = any(payment_balance.frozen_by))),
audited as (${auditRows(late.audit ?? nobody, {
  from: sql`payment_moved where ${late.audit !== null}::boolean`,
  resource: sql`payment_moved.id`,
  entityId: sql`payment_moved.channel_id`,
})}),
erased as (
  delete from tollgate.instrument
  using payment_moved
  where ${late.erasesInstrument}::boolean and instrument.id = payment_moved.id),
looks as (
  insert into tollgate.timer (id, due_at, kind, ref)
  select ${late.look?.id ?? null}::uuid, now() + ${text(late.look?.afterMs ?? null)}::bigint * interval '1 millisecond',
    'look', ${late.attemptKey}::text
  from payment_moved
  where ${late.look !== null}::boolean
  union all
  select ${late.goesOn?.id ?? null}::uuid, now(), 'continue', ${late.goesOn?.authorisationId ?? null}::text
  from payment_moved
  where ${late.goesOn !== null}::boolean
  union all
  select ${late.execution?.id ?? null}::uuid, now(), 'execution', replace(occurrence.id::text, '-', '')
  from payment_moved
  join tollgate.occurrence on occurrence.schedule_id = ${late.execution?.scheduleId ?? null}::uuid
    and occurrence.payment_id = payment_moved.id
  on conflict (kind, ref) do update set due_at = excluded.due_at),
looked as (
  delete from tollgate.timer
  using payment_moved
  where ${late.look === null && !late.keepsLook}::boolean and timer.kind in ('look', 'expire') and timer.ref = ${late.attemptKey}::text),
${newEvent.ofPayment(
  late.event,
  sql`payment_moved where ${late.event !== null}::boolean`,
  late.notifies,
)},
-- The joins make the function look once the balances above are locked.
frozen as (
  select case when ${late.entry?.kind === 'return'}::boolean
    then tollgate.freeze_below(entry.id, entry.freezes, '{capture}')
    else tollgate.freeze(entry.id, array(
      select balance_id from unnest(entry.freezes) as balance_id
      where balance_id <> ${late.paymentId}::uuid and balance_id is distinct from ${late.parentId}::uuid
        and not (balance_id is not distinct from ${late.returnedTo}::uuid and exists (select from returned)))) end
  from entry
  left join own on true
  left join parent on true)
select id, seq
from payment_moved
left join frozen on true`

const markOf = ({ move }: LateMove, name: string): string | null =>
  move.mark?.name === name ? move.mark.is : null
