/** Everything that is due later. pg-boss never holds a time of its own: it only carries what is due now. */
import { sql } from '../db/sql.ts'

export type TimerKind = 'enquire' | 'poll' | 'expire' | 'continue' | 'finalise'
export type TimerRow = { id: string; kind: TimerKind; ref: string; step: number }

export const addTimer = (id: string, kind: TimerKind, ref: string, afterMs: number) => sql`
  insert into tollgate.timer (id, due_at, kind, ref)
  values (${id}::uuid, now() + ${afterMs}::bigint * interval '1 millisecond', ${kind}::text, ${ref}::text)
  on conflict (kind, ref) do update set due_at = excluded.due_at`

export const removeTimer = (kind: TimerKind, ref: string) => sql`
  delete from tollgate.timer
  where kind = ${kind}::text and ref = ${ref}::text`

/** Due timers, each to one process: they stay, moved on, until what they stand for is over. */
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

/** Whether anything waits for a tick: a timer, an attempt whose process died, an acquirer's event. */
export const somethingDue = sql<{ due: boolean }>`
  select exists (select from tollgate.timer where clock_id is null and due_at <= now())
    or exists (select from tollgate.attempt where state = 'sending' and lease_until < now())
    or exists (select from tollgate.inbound_event where processed_at is null) as due`
