import { sql } from '../db/sql.ts'

/**
 * Part of a statement, over pg-boss' own tables: the jobs that workers can fetch now, as JSON
 * `{"charge": 3}`; of each queue at most as many as it has workers.
 *
 * @param workers how many workers each queue has, as JSON.
 */
export const readyJobs = (workers: string) => sql`
  select coalesce(jsonb_object_agg(queue.name, found.jobs), '{}')
  from jsonb_each_text(${workers}::jsonb) as queue(name, workers)
  cross join lateral (
    select count(*) as jobs
    from (
      select
      from tollgate_boss.job
      where job.name = queue.name and job.state < 'active' and not job.blocked
        and job.start_after <= tollgate_boss.job_now()
      limit queue.workers::bigint) as ready) as found
  where found.jobs > 0`
