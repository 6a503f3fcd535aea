/** Statements about queued payments: accepted in a transaction of the embedding program, not sent yet. */
import { sql } from '../db/sql.ts'

/**
 * Queues the attempt that the same transaction has written. The timer sends it when its job is lost.
 */
export const queueAttempt = (key: string, timerId: string, afterMs: number) => sql<{ id: string }>`
with queued as (
  update tollgate.attempt set state = 'queued', lease = 0, lease_until = null
  where key = ${key}::text
  returning key)
insert into tollgate.timer (id, due_at, kind, ref)
select ${timerId}::uuid, now() + ${afterMs}::bigint * interval '1 millisecond', 'queued', key
from queued
returning id`

/** How long ago the transaction of a queued attempt began; empty when no attempt is queued. */
export const queuedFor = (key: string) => sql<{ age_ms: number }>`
  select (extract(epoch from now() - sent_at) * 1000)::double precision as age_ms
  from tollgate.attempt
  where key = ${key}::text and state = 'queued'`

/**
 * Begins a queued attempt, in one process only: empty for all others. From here on it is swept like
 * any attempt, so a process that dies after this statement never lets another one send.
 */
export const beginQueued = (key: string, leaseMs: number) => sql<{ age_ms: number }>`
with before as (
  select key, sent_at
  from tollgate.attempt
  where key = ${key}::text and state = 'queued'
  for update),
begun as (
  update tollgate.attempt set state = 'sending', lease = 1, sent_at = now(),
    lease_until = now() + ${leaseMs}::integer * interval '1 millisecond'
  from before
  where attempt.key = before.key
  returning (extract(epoch from now() - before.sent_at) * 1000)::double precision as age_ms),
ended as (
  delete from tollgate.timer
  where kind = 'queued' and ref = ${key}::text and exists (select from begun))
select age_ms from begun`

/** Ends the timer of an attempt that is queued no longer. */
export const endQueued = (key: string) => sql`
  delete from tollgate.timer
  where kind = 'queued' and ref = ${key}::text
    and not exists (select from tollgate.attempt where key = ${key}::text and state = 'queued')`
