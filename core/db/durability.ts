import type { Lanes } from './lanes.ts'
import { sql } from './sql.ts'

const settings = sql<{ name: string; setting: string }>`
  select name, setting
  from pg_settings
  where name in ('fsync', 'full_page_writes', 'synchronous_commit')`

/** Settings under which Postgres forgets commits that it acknowledged. */
export async function durability(lanes: Lanes): Promise<string[]> {
  const rows = await lanes.single(settings)
  return rows
    .filter(({ setting }) => setting === 'off')
    .map(({ name }) => `${name} is off, set it to on`)
}

/** A cheap query. */
export const serverTime = sql<{ now: Date }>`select now() as now`
