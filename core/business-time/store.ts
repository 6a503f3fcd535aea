/** All SQL of test clocks. */
import { type AuditEntry, auditRows } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'

export type ClockRow = {
  id: string
  entity_id: string
  name: string | null
  at: Date
  target: Date | null
  started_from: Date | null
  created_at: Date
}

export const addClock = (
  id: string,
  entityId: string,
  name: string | null,
  at: Date,
  audit: AuditEntry,
) => sql`
  with made as (
    insert into tollgate.test_clock (id, entity_id, name, at)
    values (${id}::uuid, ${entityId}::uuid, ${name}::text, ${at}::timestamptz)
    returning id, entity_id)
  ${auditRows(audit, { from: sql`made`, resource: sql`made.id`, entityId: sql`made.entity_id` })}`

export const clockById = (id: string) => sql<ClockRow>`
  select id, entity_id, name, at, target, started_from, created_at
  from tollgate.test_clock
  where id = ${id}::uuid`

/** The newest clocks of one entity. */
export const clocksOf = (entityId: string, limit: number) => sql<ClockRow>`
  select id, entity_id, name, at, target, started_from, created_at
  from tollgate.test_clock
  where entity_id = ${entityId}::uuid
  order by id desc
  limit ${limit}::integer`

/** Starts an advance. Empty during an earlier advance, or when the clock has reached the target. */
export const setOff = (id: string, target: Date, audit: AuditEntry) => sql<{ id: string }>`
  with moving as (
    update tollgate.test_clock set target = ${target}::timestamptz, started_from = at
    where id = ${id}::uuid and target is null and at < ${target}::timestamptz
    returning id, entity_id),
  audited as (
    ${auditRows(audit, { from: sql`moving`, resource: sql`moving.id`, entityId: sql`moving.entity_id` })})
  select id from moving`

/** Advances to the next due instant; empty without one up to the target. */
export const moveOn = (id: string) => sql<{ at: Date }>`
  update tollgate.test_clock set at = greatest(test_clock.at, upcoming.at)
  from (
    select least(
      (select min(next_at) from tollgate.schedule where clock_id = ${id}::uuid),
      (select min(due_at) from tollgate.timer where clock_id = ${id}::uuid)) as at) upcoming
  where test_clock.id = ${id}::uuid and upcoming.at <= test_clock.target
  returning test_clock.at`

/** Completes an advance. */
export const arrive = (id: string, target: Date) => sql<{ id: string }>`
  update tollgate.test_clock set at = target, target = null, started_from = null
  where id = ${id}::uuid and target = ${target}::timestamptz
  returning id`

/** Clocks on their way. The merchants take turns, so that nobody fills the list. */
export const advancing = (limit: number) => sql<{ id: string; merchant_id: string }>`
  with moving as (
    select clock.id, case entity.kind when 'channel' then entity.parent_id else entity.id end as merchant_id
    from tollgate.test_clock clock
    join tollgate.entity on entity.id = clock.entity_id
    where clock.target is not null)
  select id, merchant_id
  from moving
  order by row_number() over (partition by merchant_id order by id), id
  limit ${limit}::integer`
