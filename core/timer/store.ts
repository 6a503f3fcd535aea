/** Everything that is due later. pg-boss stores no due times, only jobs that are due now. */

import { sql } from '../db/sql.ts'

export type TimerKind =
  /** The next look at an attempt: an enquiry, a poll, its final word, or the return of a late success. */
  | 'look'
  /** A queued payment, in case its job is lost. */
  | 'queued'
  | 'expire'
  | 'continue'
  | 'execution'
  | 'expiring'
  | 'resubmit'
  /** The end of a schedule, told after its last execution. */
  | 'schedule-end'
  /** The page of a checkout's merchant, who has not read the result of this payment. */
  | 'callback'
  /** The next fetch of an account's settlement files. */
  | 'settlement-fetch'
  /** The next try of a scope's undecided settlement records. */
  | 'settlement-retry'
  /** The next try of a scope's settlement lines that could not take effect yet. */
  | 'settlement-effect'
  /** The next report file of a series: of an entity, and of a test clock. */
  | 'report-cut'
  /** The end of a business day of a channel, and of a test clock, whose institute the simulator plays. */
  | 'settlement-day'
export type TimerRow = { id: string; kind: TimerKind; ref: string; step: number }

export const addTimer = (id: string, kind: TimerKind, ref: string, afterMs: number) => sql`
  insert into tollgate.timer (id, due_at, kind, ref)
  values (${id}::uuid, now() + ${afterMs}::bigint * interval '1 millisecond', ${kind}::text, ${ref}::text)
  on conflict (kind, ref) do update set due_at = excluded.due_at`

/** The timer that a job was sent for; empty when it ended, also when another one has its place. */
export const timerOf = (id: string, kind: TimerKind, ref: string) => sql<{ id: string }>`
  select id
  from tollgate.timer
  where id = ${id}::uuid and kind = ${kind}::text and ref = ${ref}::text`

/** A timer that is due, or was: claiming one has put it off. */
export const dueTimer = (kind: TimerKind, ref: string, now: Date) => sql<{ id: string }>`
  select id
  from tollgate.timer
  where kind = ${kind}::text and ref = ${ref}::text and (step > 0 or due_at <= ${now}::timestamptz)`

export const removeTimer = (kind: TimerKind, ref: string) => sql`
  delete from tollgate.timer
  where kind = ${kind}::text and ref = ${ref}::text`

/** Makes a timer due that fired before, when its work could not be done yet. */
export const fireAgain = (kind: TimerKind, ref: string) => sql`
  update tollgate.timer set due_at = now()
  where kind = ${kind}::text and ref = ${ref}::text and step > 0`

/** Ends a timer; empty when another process ended it first. */
export const takeTimer = (kind: TimerKind, ref: string) => sql<{ id: string }>`
  delete from tollgate.timer
  where kind = ${kind}::text and ref = ${ref}::text
  returning id`

/**
 * Claims due timers for one process. A timer is postponed, and stays until its work has ended.
 *
 * The connectors of the timers are read by a statement of their own: PostgreSQL 18 crashed where a statement that
 * waited for a row also looked into a partitioned table by a condition with `case`.
 */
export const claimDue = (limit: number, againMs: number) => sql<TimerRow>`
  update tollgate.timer set due_at = now() + ${againMs}::bigint * interval '1 millisecond', step = step + 1
  where id in (
    select id
    from tollgate.timer
    where clock_id is null and due_at <= now()
    order by due_at
    limit ${limit}::integer
    for update skip locked)
  returning id, kind, ref, step`

/** With the connector of the attempt, payment or account that the timer is about. */
export type ClaimedRow = TimerRow & { readonly connector: string | null }

export const connectorsOf = (timers: readonly TimerRow[]) => {
  const refs = (...kinds: readonly TimerKind[]) =>
    timers.filter(({ kind }) => kinds.includes(kind)).map(({ ref }) => ref)
  return sql<{ ref: string; connector: string }>`
  select key as ref, connector
  from tollgate.attempt
  where key = any(${refs('look', 'expire', 'queued')}::text[])
  union all
  select replace(id::text, '-', ''), connector
  from tollgate.payment
  where id = any(${refs('continue')}::uuid[])
  union all
  select replace(id::text, '-', ''), connector
  from tollgate.merchant_account
  where id = any(${refs('settlement-fetch')}::uuid[])`
}

/** Timers of a test clock that are due at this time of the clock. */
export const dueOfClock = (clockId: string, at: Date, limit: number) => sql<TimerRow>`
  select id, kind, ref, step
  from tollgate.timer
  where clock_id = ${clockId}::uuid and due_at <= ${at}::timestamptz
  order by due_at
  limit ${limit}::integer`

/** Moves a timer to real time that is still due on its clock, because its work could not be done now. */
export const leaveClock = (id: string, at: Date) => sql`
  update tollgate.timer set clock_id = null, due_at = now()
  where id = ${id}::uuid and clock_id is not null and due_at <= ${at}::timestamptz`

/** Moves timers of a test clock to real time. */
export const toRealTime = (ids: readonly string[]) => sql`
  update tollgate.timer set clock_id = null, due_at = now()
  where id = any(${ids}::uuid[])`
