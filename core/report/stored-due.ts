/** SQL that makes a report file due. Part of every commit that stores versions of records. */
import { limits } from '@tollgate/schemas'
import { sql } from '../db/sql.ts'

/**
 * Sets the timers of the series that get a file: those with a version of this transaction in one of the
 * scopes, and keeps where their records are. A file comes a minute after the first version by the clock of its scope; further versions do not
 * put it off. Runs as the last statement of its transaction, because it locks timers.
 */
export const planReports = (scopeIds: readonly string[]) => sql`
with recursive found as (
  select scope.id as scope_id, (
    select record.entity_id
    from tollgate.settlement_record as record
    where record.scope_id = scope.id
    order by record.entity_id
    limit 1) as entity_id
  from tollgate.settlement_scope as scope
  where scope.id = any(${scopeIds}::uuid[])
  union all
  select found.scope_id, (
    select record.entity_id
    from tollgate.settlement_record as record
    where record.scope_id = found.scope_id and record.entity_id > found.entity_id
    order by record.entity_id
    limit 1)
  from found
  where found.entity_id is not null),
changed as materialized (
  select news.scope_id, news.entity_id, scope.clock_id,
    case when entity.kind = 'channel' then entity.parent_id else entity.id end as series_entity_id
  from (
    select scope_id, entity_id
    from found
    where exists (
      select
      from tollgate.settlement_record as record
      where record.scope_id = found.scope_id and record.entity_id = found.entity_id
        and record.txid = pg_current_xact_id())
    union
    select scope_id, entity_id
    from tollgate.report_departure
    where scope_id = any(${scopeIds}::uuid[]) and txid = pg_current_xact_id()) as news
  join tollgate.settlement_scope as scope on scope.id = news.scope_id
  join tollgate.entity on entity.id = news.entity_id),
known as (
  insert into tollgate.report_source (scope_id, entity_id, series_entity_id, clock_id)
  select scope_id, entity_id, series_entity_id, clock_id
  from changed
  order by scope_id, entity_id
  on conflict do nothing),
series as (
  select distinct series_entity_id as entity_id, clock_id from changed)
insert into tollgate.timer (id, clock_id, due_at, kind, ref)
select gen_random_uuid(), series.clock_id,
  coalesce(clock.at, now()) + ${limits.reportCutMs}::bigint * interval '1 millisecond', 'report-cut',
  concat_ws(' ', replace(series.entity_id::text, '-', ''), replace(series.clock_id::text, '-', ''))
from series
left join tollgate.test_clock as clock on clock.id = series.clock_id
order by series.entity_id, series.clock_id
-- A timer that fired may belong to a file that began before these versions.
on conflict (kind, ref) do update
  set step = 0, due_at = excluded.due_at, clock_id = excluded.clock_id
  where timer.step > 0`
