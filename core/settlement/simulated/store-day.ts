/** SQL of simulated days: which payments settle on a day, and what its file left. */
import { sql } from '../../db/sql.ts'
import { lowestId } from '../../ids.ts'
import { endOf, isOfBook, isToSettle, upcoming } from './stored-operations.ts'

export type BookRow = {
  id: string
  connector: string
  channel_id: string
  clock_id: string | null
}

/** The book of a channel and clock, made at its first day. */
export const bookOf = (
  id: string,
  connector: string,
  channelId: string,
  clockId: string | null,
) => sql<BookRow>`
insert into tollgate.settlement_book as book (id, connector, channel_id, clock_id, from_id)
values (${id}::uuid, ${connector}::text, ${channelId}::uuid, ${clockId}::uuid, ${lowestId}::uuid)
on conflict (connector, channel_id, clock_id) do update set connector = book.connector
returning id, connector, channel_id, clock_id`

/** A day with entries whose file is not finished. */
export const openDay = (bookId: string) => sql<{ day: string }>`
  select day::text
  from tollgate.settlement_day
  where book_id = ${bookId}::uuid and written_at is null
  order by day
  limit 1`

/** The next day with something to settle, if it is over at `now`; and the last settled one. */
export const nextDay = (bookId: string, isOnClock: boolean, zone: string, now: Date) => sql<{
  day: string
  last_day: string | null
}>`
  select upcoming.day::text, book.last_day::text
  from tollgate.settlement_book as book
  ${upcoming(isOnClock, zone)}
  where book.id = ${bookId}::uuid and ${endOf(sql`upcoming.day`, zone)} <= ${now}::timestamptz`

/**
 * Enters everything that settles on a day. Empty: another process entered a day first. A dispute that is due
 * is dropped when the payment was charged back, or the chargeback reversed, by other means.
 */
export const enterDay = (
  bookId: string,
  isOnClock: boolean,
  zone: string,
  { day, last_day: lastDay }: { readonly day: string; readonly last_day: string | null },
) => sql<{ id: string }>`
with book as (
  update tollgate.settlement_book set last_day = ${day}::date
  where id = ${bookId}::uuid and last_day is not distinct from ${lastDay}::date
  returning id, connector, channel_id, clock_id, from_id),
made as (
  insert into tollgate.settlement_day (book_id, day)
  select id, ${day}::date from book),
entered as (
  insert into tollgate.settlement_entry (payment_id, book_id, day, kind, subject_id, minor)
  select payment.id, book.id, ${day}::date,
    case payment.payment_type when 'CB' then 'chargeback' when 'CR' then 'chargebackReversal'
      else case payment.effect when 'void' then 'returned' else 'payment' end end,
    case when payment.payment_type in ('CB', 'CR') then coalesce(fact.payment_id, payment.id)
      when payment.effect = 'void' then payment.referenced_id else payment.id end,
    coalesce(payment.approved_minor, payment.amount_minor)
  from book
  join tollgate.payment on ${isOfBook(isOnClock)}
  left join tollgate.chargeback as fact on fact.record_id = payment.id
  where ${isToSettle} and payment.created_at < ${endOf(sql`${day}::date`, zone)}),
due as (
  select due.kind, due.reference, case due.kind
      when 'chargeback' then not exists (
        select
        from tollgate.chargeback as fact
        where fact.payment_id = due.payment_id and fact.kind = 'chargeback')
      else not exists (
        select
        from tollgate.chargeback as fact
        where fact.payment_id = due.payment_id and fact.kind = 'reversal')
      and exists (
        select
        from tollgate.settlement_due as charged
        where charged.book_id = due.book_id and charged.kind = 'chargeback' and charged.reference = due.reference
          and charged.day is not null) end as happens
  from book
  join tollgate.settlement_due as due on due.book_id = book.id
  where due.day is null and not due.is_dropped and due.due_day <= ${day}::date),
raised as (
  update tollgate.settlement_due as row set day = case when due.happens then ${day}::date end,
    is_dropped = not due.happens
  from due
  where row.book_id = ${bookId}::uuid and row.kind = due.kind and row.reference = due.reference)
select id from book`

/** Balances that the payouts of a day have to cover. */
export const carriedBefore = (bookId: string, day: string) => sql<{
  carried: Readonly<Record<string, string>>
}>`
  select carried
  from tollgate.settlement_day
  where book_id = ${bookId}::uuid and day < ${day}::date and carried is not null
  order by day desc
  limit 1`

/** Where the next page of entries begins. */
export type EntryPosition = { readonly subjectId: string; readonly paymentId: string }

export const beforeEntries: EntryPosition = { subjectId: lowestId, paymentId: lowestId }

export type EntryRow = {
  payment_id: string
  kind: 'payment' | 'returned' | 'chargeback' | 'chargebackReversal'
  minor: bigint
  currency: string
  reason: string | null
  reference: string | null
  subject_id: string
  attempt_key: string
  short_no: bigint
  payment_type: string
  created_at: Date
  brand: string | null
  bin: string | null
  last4: string | null
  merchant_transaction_id: string | null
  descriptor: string | null
}

/** What a line says about `subject`: the digits are those of the request that carried them. */
const subjectColumns = sql`subject.id as subject_id, subject.attempt_key, subject.short_no, subject.payment_type,
  subject.created_at, subject.brand, digits.bin, digits.last4, subject.merchant_transaction_id,
  coalesce(requested.request #>> '{merchant,name}', requested.request ->> 'descriptor') as descriptor`

const aboutSubject = sql`
left join tollgate.payment_request as requested on requested.id = subject.id
left join lateral (
  with recursive origin (id, referenced_id, depth) as (
    select subject.id, subject.referenced_id, 0
    union all
    select above.id, above.referenced_id, origin.depth + 1
    from origin
    join tollgate.payment as above on above.id = origin.referenced_id
    where origin.depth < 4)
  select held.request #>> '{card,bin}' as bin, coalesce(held.request #>> '{card,last4Digits}',
    held.request #>> '{tokenAccount,last4Digits}', held.request #>> '{bankAccount,last4Digits}') as last4
  from origin
  join tollgate.payment_request as held on held.id = origin.id
  where coalesce(held.request #>> '{card,last4Digits}', held.request #>> '{tokenAccount,last4Digits}',
    held.request #>> '{bankAccount,last4Digits}') is not null
  order by origin.depth
  limit 1) as digits on true`

/**
 * Entries of a day in the order of their payments. A reversal on the day of its payment reduces the payment, and
 * is no entry of its own; neither is that of a payment without a line.
 */
export const entriesOf = (bookId: string, day: string, after: EntryPosition, limit: number) =>
  sql<EntryRow>`
  select entry.payment_id, entry.kind, record.currency, entry.minor - coalesce(gone.minor, 0) as minor,
    case when entry.kind = 'chargeback' then record.result_code end as reason,
    case when fact.is_named then split_part(fact.reference, chr(10), 1) end as reference, ${subjectColumns}
  from (
    select payment_id, kind, minor, subject_id
    from tollgate.settlement_entry
    where book_id = ${bookId}::uuid and day = ${day}::date
      and (subject_id, payment_id) > (${after.subjectId}::uuid, ${after.paymentId}::uuid)
      and (kind <> 'returned' or exists (
        select
        from tollgate.settlement_entry as earlier
        where earlier.payment_id = settlement_entry.subject_id and earlier.day < ${day}::date))
    order by subject_id, payment_id
    limit ${limit}::integer) as entry
  join tollgate.payment as record on record.id = entry.payment_id
  join tollgate.payment as subject on subject.id = entry.subject_id
  left join tollgate.chargeback as fact on fact.record_id = entry.payment_id
  left join lateral (
    select sum(returned.minor)::bigint as minor
    from tollgate.settlement_entry as returned
    where entry.kind = 'payment' and returned.book_id = ${bookId}::uuid and returned.day = ${day}::date
      and returned.subject_id = entry.payment_id and returned.kind = 'returned') as gone on true
  ${aboutSubject}
  order by entry.subject_id, entry.payment_id`

/** Disputes of a day that the payers' banks raised by themselves. */
export const disputesOf = (bookId: string, day: string) => sql<EntryRow>`
  select due.payment_id, due.kind, due.currency, due.minor,
    case when due.kind = 'chargeback' then due.reason end as reason, due.reference, ${subjectColumns}
  from tollgate.settlement_due as due
  join tollgate.payment as subject on subject.id = due.payment_id
  ${aboutSubject}
  where due.book_id = ${bookId}::uuid and due.day = ${day}::date
  order by due.payment_id, due.kind, due.reference`

export type DueRow = {
  readonly kind: string
  readonly reference: string
  readonly payment_id: string
  readonly minor: string
  readonly currency: string
  readonly reason: string
  readonly day: string
}

/** Ends a day. Safe to run again. */
export const endDay = (
  bookId: string,
  day: string,
  fileId: string | null,
  carried: Readonly<Record<string, string>>,
  disputes: readonly DueRow[],
) => sql`
with ended as (
  update tollgate.settlement_day set file_id = ${fileId}::uuid, carried = ${JSON.stringify(carried)}::jsonb,
    written_at = now()
  where book_id = ${bookId}::uuid and day = ${day}::date and written_at is null
  returning book_id)
insert into tollgate.settlement_due (book_id, kind, reference, payment_id, minor, currency, reason, due_day)
select ended.book_id, given.kind, given.reference, given.payment_id, given.minor, given.currency, given.reason,
  given.day
from ended
cross join jsonb_to_recordset(${JSON.stringify(disputes)}::jsonb) as given (kind text, reference text,
  payment_id uuid, minor bigint, currency text, reason text, day date)
on conflict do nothing`
