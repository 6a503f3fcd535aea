/** The first commit of a scheduled payment that a failover lost, perhaps with the firing of its due time. */
import { grouped, text } from '../db/group-statement.ts'
import { scheduledColumns, written } from './store-first.ts'

/**
 * The payment was sent, so it is written in any case. It takes its due time, which then fires no more, unless another
 * payment has it. The timer looks at the execution as after every charge.
 */
export const recoverScheduled = grouped<typeof scheduledColumns, { id: string }>(
  'recover-scheduled',
  scheduledColumns,
  'occurrence_id, id',
  text(`,
place as (
  insert into tollgate.occurrence (id, schedule_id, at, clock_id, payment_id, earlier)
  select occurrence_id, schedule_id, occurrence_at, clock_id, id,
    case when previous_id is null then '{}'::uuid[] else array[previous_id] end
  from given
  where exists (select from tollgate.schedule where schedule.id = given.schedule_id)
  on conflict (schedule_id, at) do update set payment_id = excluded.payment_id,
    earlier = occurrence.earlier || excluded.earlier
  where occurrence.failure is null and occurrence.payment_id is not distinct from excluded.earlier[1]
  returning id),
new_look as (
  insert into tollgate.timer (id, due_at, kind, ref)
  select gen_random_uuid(), now() + interval '1 minute', 'execution', replace(id::text, '-', '')
  from place
  on conflict (kind, ref) do nothing),
accepted as (
  select * from given)${written}
select id from new_payment`),
)
