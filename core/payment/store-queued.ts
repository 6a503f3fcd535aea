/** Statements about queued payments: accepted in a transaction of the embedding program, not sent yet. */
import { sql } from '../db/sql.ts'
import { isRestoring } from '../process/store-restoration.ts'

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

export type QueuedRow = {
  /** How long ago the transaction of the attempt began. */
  age_ms: number
  attempt_kind: string
  data_key_id: string | null
  fingerprint: Buffer | null
  sealed: Buffer | null
  idempotency_key: Buffer | null
  idempotency_fingerprint: Buffer | null
  /** Number of the registration that the payment stores. */
  made_short_no: bigint | null
}

/**
 * A queued attempt, with what its commit wrote beside the payment; empty when none is queued. Rows of one
 * transaction have the same time, which finds the key.
 */
export const queuedFor = (key: string) => sql<QueuedRow>`
  select (extract(epoch from now() - attempt.sent_at) * 1000)::double precision as age_ms,
    attempt.kind as attempt_kind, instrument.data_key_id, instrument.fingerprint, instrument.sealed,
    keyed.key as idempotency_key, keyed.fingerprint as idempotency_fingerprint,
    registration.short_no as made_short_no
  from tollgate.attempt
  left join tollgate.instrument on instrument.id = attempt.payment_id
  left join tollgate.payment on payment.id = attempt.payment_id
  left join tollgate.registration on registration.id = payment.registration_id
    and registration.payment_id = payment.id
  left join lateral (
    select key, fingerprint
    from tollgate.idempotency
    where idempotency.created_at = attempt.sent_at and idempotency.payment_id = attempt.payment_id
    limit 1) keyed on true
  where attempt.key = ${key}::text and attempt.state = 'queued'`

export type BegunRow = {
  age_ms: number
  /** Its row is older than the present leader, and may have been begun at the one before. */
  is_doubtful: boolean
  /** The registration that pays was removed since. */
  is_removed: boolean
}

/**
 * Begins a queued attempt, in one process only: empty for all others. From here on it is swept like
 * any attempt, so a process that dies after this statement never lets another one send. A doubtful one
 * has no lease, for an enquiry, and waits until a failover is over. The statement locks the registration that pays: a removal comes either
 * before the payment, which is then not sent, or after it.
 */
export const beginQueued = (key: string, leaseMs: number) => begin(key, leaseMs, false)

/** The same in a process that knows the outcome: the sending was lost with it. */
export const beginKnown = (key: string, leaseMs: number) => begin(key, leaseMs, true)

const begin = (key: string, leaseMs: number, isKnown: boolean) => sql<BegunRow>`
with before as materialized (
  select key, sent_at, payment_id,
    -- Of two transactions, the older one has the greater age. A leader is noted before anything else is written, so
    -- rows of its own transaction come from a backup.
    coalesce(age(attempt.xmin) >= (
      select age(leader.xmin) from tollgate.server_timeline leader order by leader.timeline desc limit 1), false)
      as is_doubtful
  from tollgate.attempt
  where key = ${key}::text and state = 'queued'
  for update),
paying as materialized (
  select registration.removed_at
  from before
  join tollgate.payment on payment.id = before.payment_id
  join tollgate.registration on registration.id = payment.registration_id
    and registration.payment_id <> payment.id
  for share of registration),
begun as (
  update tollgate.attempt set state = 'sending', lease = 1, sent_at = now(),
    lease_until = now() + case when before.is_doubtful and not ${isKnown}::boolean then interval '0'
      else ${leaseMs}::integer * interval '1 millisecond' end
  from before
  where attempt.key = before.key
    -- The process that sent it may still remember the outcome.
    and (${isKnown}::boolean or not before.is_doubtful or not (${isRestoring}))
  returning (extract(epoch from now() - before.sent_at) * 1000)::double precision as age_ms, before.is_doubtful),
ended as (
  delete from tollgate.timer
  where kind = 'queued' and ref = ${key}::text and exists (select from begun))
select age_ms, is_doubtful, exists (select from paying where removed_at is not null) as is_removed
from begun`

/** Ends the timer of an attempt that is queued no longer. */
export const endQueued = (key: string) => sql`
  delete from tollgate.timer
  where kind = 'queued' and ref = ${key}::text
    and not exists (select from tollgate.attempt where key = ${key}::text and state = 'queued')`
