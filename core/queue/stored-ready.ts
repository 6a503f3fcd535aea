import type { Sql } from '../db/sql.ts'

/**
 * Part of a statement, over pg-boss' own tables: the jobs that workers can fetch now, as JSON
 * `{"charge": 3}`; of each queue at most as many as it has workers.
 */
export const readyJobs = (schema: string, workers: Readonly<Record<string, number>>): Sql => ({
  strings: [
    "select coalesce(jsonb_object_agg(queue.name, found.jobs), '{}') from jsonb_each_text(",
    `::jsonb) as queue(name, workers)
    cross join lateral (
      select count(*) as jobs
      from (
        select
        from ${schema}.job
        where job.name = queue.name and job.state < 'active' and not job.blocked
          and job.start_after <= ${schema}.job_now()
        limit queue.workers::bigint) as ready) as found
    where found.jobs > 0`,
  ],
  values: [JSON.stringify(workers)],
})
