/** The parts of statements that find operations of a simulated day. */
import { type Sql, sql } from '../../db/sql.ts'

/** Condition: `payment` is of the channel and clock of `book`. By index: each has its own partial one. */
export const isOfBook = (isOnClock: boolean): Sql =>
  isOnClock
    ? sql`payment.clock_id = book.clock_id and payment.channel_id = book.channel_id`
    : sql`payment.clock_id is null and payment.channel_id = book.channel_id`

/** Condition: `payment` moved money, and no file has it. Disputes that a file told are recorded for that file. */
export const isToSettle = sql`payment.id >= book.from_id and payment.mode = 'INTERNAL'
    and payment.connector = book.connector and payment.state = 'approved'
    and (payment.payment_type in ('DB', 'CP', 'RB', 'RC', 'CD', 'RF', 'CB', 'CR') or payment.effect = 'void')
    and not exists (select from tollgate.settlement_entry as entry where entry.payment_id = payment.id)
    and (payment.payment_type not in ('CB', 'CR') or not exists (
      select
      from tollgate.chargeback as fact
      join tollgate.settlement_due as due on due.book_id = book.id
        and due.kind = case fact.kind when 'chargeback' then 'chargeback' else 'chargebackReversal' end
        and due.reference = split_part(fact.reference, chr(10), 1)
      where fact.record_id = payment.id))`

/** Condition: `payment` may still be approved. */
export const isUndecided = sql`payment.id >= book.from_id and payment.mode = 'INTERNAL'
    and payment.connector = book.connector and payment.state in ('processing', 'pending', 'unknown')`

/** The business day of a moment. */
export const dayOf = (moment: Sql, zone: string): Sql =>
  sql`(${moment} at time zone ${zone}::text)::date`

/** The first moment after a business day: from then on the day is settled. */
export const endOf = (day: Sql, zone: string): Sql =>
  sql`((${day} + 1)::timestamp at time zone ${zone}::text)`

/** Part of a statement: `upcoming.day`, the next day of `book` to settle; null without one. */
export const upcoming = (isOnClock: boolean, zone: string): Sql => sql`
cross join lateral (
  select case when first.day is not null then greatest(first.day, book.last_day + 1) end as day
  from (
    select least(
      (select ${dayOf(sql`payment.created_at`, zone)}
        from tollgate.payment
        where ${isOfBook(isOnClock)} and ${isToSettle}
        order by payment.id
        limit 1),
      (select min(due.due_day)
        from tollgate.settlement_due as due
        where due.book_id = book.id and due.day is null and not due.is_dropped)) as day) as first
  offset 0) as upcoming`
