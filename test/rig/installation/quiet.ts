/** Makes waiting work due, and waits until none is left. */
import { setTimeout as pause } from 'node:timers/promises'
import { PgBoss } from 'pg-boss'
import type { Sql } from './ground.ts'

/** The age changes too, because old requests can no longer be under way. */
export async function expire(sql: Sql, payments: readonly string[] | undefined): Promise<void> {
  await sql(
    `update tollgate.attempt set
       lease_until = now() - interval '1 second', sent_at = sent_at - interval '1 hour'
     where state in ('sending', 'pending', 'unknown') and ($1::uuid[] is null or payment_id = any($1::uuid[]))`,
    [payments ?? null],
  )
}

/** The first hundred open items. */
const open = `select id, what, count(*) over () as of from (
  select p.id, p.payment_type || ' ' || p.state as what
  from tollgate.payment p
  where p.state in ('processing', 'pending', 'unknown')
  union all
  select t.id, t.kind || ' ' || t.ref from tollgate.timer t
  -- Files are fetched for ever, and undecided records tried for weeks.
  where t.clock_id is null and t.kind not in ('settlement-fetch', 'settlement-retry')
  union all
  -- A word about a key that nobody knows waits three days for its payment.
  select null, 'event ' || event_id from tollgate.inbound_event
  where processed_at is null
    and (waits = 0 or exists (select from tollgate.attempt where attempt.key = inbound_event.claim ->> 'key'))
  union all
  select b.event_id, 'event that no delivery was made of' from tollgate.outbox b
  union all
  select d.id, format('delivery of event %s to endpoint %s after %s tries, due at %s, owner %s until %s, to be woken at %s',
    d.event_id, d.endpoint_id, d.attempts, d.due_at, q.owner, q.lease_until, q.wake_at)
  from tollgate.delivery d left join tollgate.webhook_queue q on q.endpoint_id = d.endpoint_id where d.state = 'pending'
  union all
  select o.id, 'execution for ' || o.at from tollgate.occurrence o where o.payment_id is null and o.failure is null
  union all
  select s.id, 'schedule due at ' || s.next_at from tollgate.schedule s where s.next_at <= now() and s.clock_id is null) o
  limit 100`

/** Gives executions without a job to another job at once. */
const forget = `
  update tollgate.occurrence set created_at = created_at - interval '1 hour'
  where payment_id is null and failure is null`

/** Repeats failed notifications at once, in any process. */
const tryAgain = `
  with d as (
    update tollgate.delivery set due_at = now() where state = 'pending' and due_at > now() returning endpoint_id),
  waiting as (
    select endpoint_id from d union select endpoint_id from tollgate.delivery where state = 'pending')
  update tollgate.webhook_queue set probe_at = null, wake_at = least(wake_at, now())
  where endpoint_id in (select endpoint_id from waiting)`

/** Fires timers at once, except during an enquiry, which answers first. */
export const comeDue = `
  update tollgate.timer t set due_at = now()
  where t.due_at > now() and t.clock_id is null and not exists (
    select from tollgate.attempt a where a.key = t.ref and a.lease_until > now())`

/** Processes the acquirer's events at once; processing one twice has one effect. */
const hearAgain = `
  update tollgate.inbound_event set next_at = now() where processed_at is null and next_at > now()`

/** Waits until nothing is open. @throws Error when the number stays the same for `withinMs`. */
export async function untilQuiet(sql: Sql, withinMs: number): Promise<void> {
  await expire(sql, undefined)
  await sql(forget)
  let until = performance.now() + withinMs
  let fewest = Number.POSITIVE_INFINITY
  for (;;) {
    const startedMs = performance.now()
    const left = await sql<{ id: string; what: string; of: bigint }>(open)
    const [first] = left
    if (first === undefined) return
    if (Number(first.of) < fewest) {
      fewest = Number(first.of)
      until = performance.now() + withinMs
    }
    if (performance.now() > until) {
      throw new Error(
        `${first.of} still open, no fewer for ${withinMs} ms:\n${left.map(({ id, what }) => `${id} ${what}`).join('\n')}`,
      )
    }
    await sql(comeDue)
    await sql(tryAgain)
    await sql(hearAgain)
    // Each check reads much after a long run, so the working processes get the machine in between.
    await pause(100 + 5 * (performance.now() - startedMs))
  }
}

/** Treats every active job as dead, for use without a running worker. */
export async function endDeadJobs(url: string, sql: Sql): Promise<void> {
  await sql(
    `update tollgate_boss.job set started_on = now() - interval '1 hour', heartbeat_on =
       case when heartbeat_on is not null then now() - interval '1 hour' end
     where state = 'active'`,
  )
  const boss = new PgBoss({
    connectionString: url,
    schema: 'tollgate_boss',
    migrate: false,
    schedule: false,
    supervise: false,
    monitorIntervalSeconds: 1,
    max: 1,
  })
  boss.on('error', () => {})
  await boss.start()
  try {
    await sql('update tollgate_boss.queue set monitor_on = null')
    await boss.supervise()
  } finally {
    await boss.stop({ graceful: false })
  }
}
