import { sql } from '../db/sql.ts'

export const beat = (id: string, version: string, role: string) => sql<{ now: Date }>`
  insert into tollgate.process (id, version, role)
  values (${id}::uuid, ${version}::text, ${role}::text)
  on conflict (id) do update set seen_at = now()
  returning now() as now`

export const goodbye = (id: string) => sql`
  delete from tollgate.process
  where id = ${id}::uuid or seen_at < now() - interval '1 day'`

/** Processes with a recent heartbeat. */
export const alive = (withinMs: number) => sql<{ id: string; version: string; role: string }>`
  select id, version, role
  from tollgate.process
  where seen_at > now() - ${withinMs}::integer * interval '1 millisecond'`

/** A batch of expired idempotency keys. */
export const purgeIdempotency = (days: number, batch: number) => sql<{ key: Buffer }>`
  delete from tollgate.idempotency
  where ctid in (
    select ctid
    from tollgate.idempotency
    where created_at < now() - ${days}::integer * interval '1 day'
    limit ${batch}::integer)
  returning key`

/** The present and coming months for which a table has no partition yet. */
export const missingPartitions = (months: number) => sql<{ parent: string; month: Date }>`
  select parent, month
  from tollgate.missing_partitions(now(), ${months}::integer)`

/** `kept`: the default partition has too many rows to move while payments wait. */
export const makePartition = (parent: string, month: Date) =>
  sql<{
    outcome: 'made' | 'there' | 'kept'
  }>`select tollgate.create_partition(${parent}::text, ${month}::timestamptz) as outcome`

/** First of a block of numbers for short ids. */
export const nextShortNumbers = sql<{ first: bigint }>`select nextval('tollgate.short_no') as first`
