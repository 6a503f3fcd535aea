import type { Lanes } from './lanes.ts'
import { sql } from './sql.ts'

const settings = sql<{ name: string; setting: string }>`
  select name, setting
  from pg_settings
  where name in ('fsync', 'full_page_writes', 'synchronous_commit')`

/** The weaker, the later. Others, such as remote_apply, are at least as strong as the first. */
const commitStrengths = ['on', 'local', 'off'] as const

export type Losses = {
  /** Settings under which Postgres forgets commits that it acknowledged. */
  readonly refused: readonly string[]
  /** The same, accepted by name. */
  readonly told: readonly string[]
}

/** @param accepted The weakest `synchronous_commit` that is accepted. */
export async function lossesOf(
  lanes: Lanes,
  accepted: (typeof commitStrengths)[number],
): Promise<Losses> {
  const refused: string[] = []
  const told: string[] = []
  for (const { name, setting } of await lanes.read(settings)) {
    if (name !== 'synchronous_commit') {
      if (setting === 'off') refused.push(`${name} is off, set it to on`)
      continue
    }
    const strength = commitStrengths.indexOf(setting as 'on')
    if (setting === 'remote_write') {
      told.push('synchronous_commit is remote_write, with which a standby may lose commits')
    } else if (strength > 0 && strength <= commitStrengths.indexOf(accepted)) {
      told.push(`synchronous_commit is ${setting}, as accepted`)
    } else if (strength > 0) {
      refused.push(
        `synchronous_commit is ${setting}, set it to on, or accept the loss with synchronousCommit (TOLLGATE_SYNCHRONOUS_COMMIT=${setting})`,
      )
    }
  }
  return { refused, told }
}

/** Standbys that receive changes, and not only parts of them. Everybody sees their rows, few their states. */
const standbys = sql<{ standbys: number; names: string }>`
  select count(*)::integer as standbys, current_setting('synchronous_standby_names') as names
  from pg_stat_replication
  where coalesce(state, 'streaming') = 'streaming'
    and not exists (
      select
      from pg_replication_slots
      where active_pid = pid and slot_type = 'logical')`

/** A failover to a standby for which no commit waits loses the last commits. */
export async function standbysOf(lanes: Lanes): Promise<string[]> {
  const [found] = await lanes.read(standbys)
  if (found === undefined || found.standbys === 0 || found.names !== '') return []
  const text = found.standbys === 1 ? 'a standby follows' : `${found.standbys} standbys follow`
  return [`${text} asynchronously, set synchronous_standby_names`]
}

/** A cheap query. */
export const serverTime = sql<{ now: Date }>`select now() as now`
