/** SQL of the timers of simulated days. Payments set none: they would cost a write each. */
import { type Sql, sql } from '../../db/sql.ts'
import { lowestId } from '../../ids.ts'
import { endOf, isOfBook, isToSettle, isUndecided, upcoming } from './stored-operations.ts'

const refOfBook = sql`concat_ws(' ', book.connector, replace(book.channel_id::text, '-', ''),
  replace(book.clock_id::text, '-', ''))`

const hasTimer = sql`exists (
    select from tollgate.timer where timer.kind = 'settlement-day' and timer.ref = ${refOfBook})`

const addTimers = (isOnClock: boolean, zone: string): Sql => sql`
insert into tollgate.timer (id, clock_id, due_at, kind, ref)
select gen_random_uuid(), book.clock_id, ${endOf(sql`upcoming.day`, zone)}, 'settlement-day', ${refOfBook}
from book
${upcoming(isOnClock, zone)}
where upcoming.day is not null
on conflict (kind, ref) do nothing`

/** Books of all channels in real time, so that a plan reads only payments that are new since the one before. */
export const addBooks = (connector: string) => sql`
insert into tollgate.settlement_book (id, connector, channel_id, from_id)
select gen_random_uuid(), ${connector}::text, entity.id, ${lowestId}::uuid
from tollgate.entity
where entity.kind = 'channel' and not exists (
  select
  from tollgate.settlement_book as book
  where book.connector = ${connector}::text and book.channel_id = entity.id and book.clock_id is null)
on conflict do nothing`

/** Gives the books in real time a timer at the end of their next day. */
export const planRealTime = (connector: string, zone: string) => sql`
with book as materialized (
  select id, connector, channel_id, clock_id, from_id, last_day
  from tollgate.settlement_book as book
  where connector = ${connector}::text and clock_id is null and not ${hasTimer})
${addTimers(false, zone)}`

/** The same for one test clock. Its channels are those with payments. */
export const planClock = (connector: string, zone: string, clockId: string) => sql`
with recursive channel (id) as (
  (select channel_id
    from tollgate.payment
    where clock_id = ${clockId}::uuid
    order by channel_id
    limit 1)
  union all
  select (
    select payment.channel_id
    from tollgate.payment
    where payment.clock_id = ${clockId}::uuid and payment.channel_id > channel.id
    order by payment.channel_id
    limit 1)
  from channel
  where channel.id is not null),
place as (
  select known.id, ${connector}::text as connector, channel.id as channel_id, ${clockId}::uuid as clock_id,
    coalesce(known.from_id, ${lowestId}::uuid) as from_id, known.last_day
  from channel
  left join tollgate.settlement_book as known on known.connector = ${connector}::text
    and known.channel_id = channel.id and known.clock_id = ${clockId}::uuid
  where channel.id is not null),
book as materialized (
  select id, connector, channel_id, clock_id, from_id, last_day
  from place as book
  where not ${hasTimer})
${addTimers(true, zone)}`

/** The new position of a book: before it, all payments are in files, or decided otherwise. */
const position = (isOnClock: boolean, safeId: string): Sql => sql`
greatest(book.from_id, least(${safeId}::uuid, coalesce((
  select payment.id
  from tollgate.payment
  where ${isOfBook(isOnClock)} and ((${isToSettle}) or (${isUndecided}))
  order by payment.id
  limit 1), ${safeId}::uuid)))`

/**
 * Moves the position of a book.
 *
 * @param safeId payments with this or a higher id may not be committed yet
 */
export const moveBook = (id: string, isOnClock: boolean, safeId: string) => sql`
update tollgate.settlement_book as book set from_id = ${position(isOnClock, safeId)}
where book.id = ${id}::uuid`

/** Moves the positions of books without anything to settle that lie before `beforeId`. */
export const moveIdleBooks = (connector: string, beforeId: string, safeId: string) => sql`
update tollgate.settlement_book as book set from_id = ${position(false, safeId)}
where book.connector = ${connector}::text and book.clock_id is null and book.from_id < ${beforeId}::uuid
  and not ${hasTimer}`
