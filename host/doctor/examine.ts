import { type DatabaseOptions, type KeyProvider, migrationFiles, verifyAudit } from '@tollgate/core'
import { limits } from '@tollgate/schemas'
import type { DataKeyFound, DoctorStore } from './store.ts'

export type Finding = { readonly is: 'well' | 'note' | 'problem'; readonly text: string }

const well = (text: string): Finding => ({ is: 'well', text })
const note = (text: string): Finding => ({ is: 'note', text })
const problem = (text: string): Finding => ({ is: 'problem', text })

const counted = (count: string | number | bigint, one: string, many: string): string =>
  `${count} ${Number(count) === 1 ? one : many}`

const oldestServer = 15

export async function examineServer(store: DoctorStore): Promise<Finding[]> {
  const findings: Finding[] = []
  const version = await store.serverVersion()
  findings.push(
    version >= oldestServer
      ? well(`PostgreSQL ${version}`)
      : problem(`PostgreSQL ${version}: ${oldestServer} or later is needed`),
  )
  const rows = await store.settings()
  // With local, a commit waits for no standby.
  const off = rows
    .filter(({ setting }) => setting === 'off' || setting === 'local')
    .map(({ name }) => name)
  findings.push(
    off.length === 0
      ? well('commits are durable')
      : problem(`a crash can lose acknowledged payments: set ${off.join(', ')} to on`),
  )
  const standbys = await store.standbys()
  const isWaiting = rows.some(
    ({ name, setting }) => name === 'synchronous_standby_names' && setting !== '',
  )
  if (standbys > 0 && !isWaiting) {
    findings.push(
      note(
        `${counted(standbys, 'standby', 'standbys')}, but synchronous_standby_names is empty: a failover may lose the last payments`,
      ),
    )
  }
  return findings
}

/** After a restore, the users lack their rights to the database. */
export async function examineRights(store: DoctorStore): Promise<Finding[]> {
  const lacking = await store.lackingRights()
  if (lacking.length === 0) return []
  const rights = lacking.map(({ user, right }) => `${user} ${right}`).join(', ')
  return [
    note(
      `users lack rights to this database, as after a restore (${rights}): run tollgate migrate --roles as an administrator, unless this database does without them`,
    ),
  ]
}

/** The migrations of the code against those of the database. */
export async function examineMigrations(store: DoctorStore): Promise<Finding> {
  const done = new Map((await store.migrations()).map(({ name, checksum }) => [name, checksum]))
  const files = await migrationFiles()
  const missing = files.map(({ name }) => name).filter((name) => !done.has(name))
  const newer = [...done.keys()].filter((name) => !files.some((file) => file.name === name))
  const changed = files
    .filter(({ name, checksum }) => done.has(name) && done.get(name) !== checksum)
    .map(({ name }) => name)
  if (newer.length > 0) {
    return problem(
      `the database is newer than this program (${newer.join(', ')}): update Tollgate, or after a way back run it with TOLLGATE_MIGRATE=false`,
    )
  }
  if (changed.length > 0) return problem(`migrations changed after they ran: ${changed.join(', ')}`)
  if (missing.length > 0) {
    const owner = await store.migratingUser()
    const as = owner === undefined ? '' : ` with the database URL of the user ${owner}`
    return problem(`migrations have not run: ${missing.join(', ')}; run tollgate migrate${as}`)
  }
  return well(`all ${files.length} migrations have run`)
}

/** The data keys by the key-encryption keys of this machine: those of a process may be others. */
export async function examineKeys(store: DoctorStore, keys: KeyProvider): Promise<Finding[]> {
  const rows = await store.dataKeys()
  if (rows.length === 0) return [note('no data keys yet')]
  const findings: Finding[] = []
  const limit = AbortSignal.timeout(15_000)
  for (const row of rows) {
    try {
      const bytes = await keys.unwrap(row.key_encryption_key_id, row.wrapped, limit)
      bytes.fill(0)
    } catch (thrown) {
      findings.push(problem(`${(thrown as Error).message} So ${nameOf(row)} stays shut here.`))
    }
  }
  if (findings.length > 0) return findings
  return [well('the key-encryption keys of this machine open all data keys')]
}

/** What running processes say about their own key-encryption keys. */
export async function examineProcessKeys(store: DoctorStore): Promise<Finding[]> {
  return (await store.shutKeys()).map((row) =>
    problem(
      `the process ${row.process} cannot open ${nameOf(row)}: it lacks key "${row.key_encryption_key_id}"`,
    ),
  )
}

const nameOf = ({ id, purpose, state }: Omit<DataKeyFound, 'wrapped'>): string =>
  `data key ${id} (${purpose}, ${state})`

/** Whether every row of the audit trail is as it was written. */
export async function examineAudit(
  database: DatabaseOptions,
  keys: KeyProvider,
): Promise<Finding[]> {
  const { links, problems, unchecked, notes } = await verifyAudit({ database, keys })
  return [
    ...problems.map((text) =>
      problem(
        unchecked.includes(text)
          ? `the audit trail: ${text}`
          : `the audit trail was tampered with: ${text}`,
      ),
    ),
    ...notes.map((text) => note(`the audit trail: ${text}`)),
    ...(problems.length === 0
      ? [
          well(
            `${counted(links, 'row of the audit trail is', 'rows of the audit trail are')} unchanged`,
          ),
        ]
      : []),
  ]
}

/** Examines the rows of the last `days`. */
export async function examineRows(
  store: DoctorStore,
  expectedEnvironment: string,
  days: number,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const environment = await store.environment()
  if (environment !== undefined && environment !== expectedEnvironment) {
    findings.push(
      problem(
        `the database belongs to the ${environment} environment, but the settings say ${expectedEnvironment}`,
      ),
    )
  }
  const partitions = await store.missingPartitions()
  findings.push(
    partitions.length === 0
      ? well('partitions exist for this month and the next')
      : problem(
          `partitions are missing: ${partitions.map(({ name }) => name).join(', ')}; a running worker creates partitions`,
        ),
  )
  if (await store.outsidePartitions()) {
    findings.push(
      problem('the default partition holds payments, because their month had no partition'),
    )
  }
  findings.push(await examineTransactions(store))
  const orphans = (await store.orphans(lowestId(days))).filter(({ count }) => count !== '0')
  for (const { one, many, count } of orphans) findings.push(problem(counted(count, one, many)))
  if (orphans.length === 0) findings.push(well(`rows of the last ${days} days are consistent`))
  const overdue = await store.overdue()
  const late = overdue.filter(({ count }) => count !== '0')
  for (const { one, many, count } of late) {
    findings.push(
      problem(`${counted(count, one, many)}: is a process with role worker or all running?`),
    )
  }
  if (late.length === 0) findings.push(well('no overdue attempts, timers and events'))
  const open = await store.attention()
  for (const { kind, count, oldest } of open) {
    findings.push(
      problem(
        `the operators' list has ${counted(count, 'entry', 'entries')} of the kind ${kind}, the oldest since ${oldest}`,
      ),
    )
  }
  if (open.length === 0) findings.push(well("the operators' list is empty"))
  return findings
}

/** A server counts its transactions from the start: a restored database brings later ones along. */
async function examineTransactions(store: DoctorStore): Promise<Finding> {
  const { next, newest } = await store.transactions()
  if (newest < next) return well('the transaction counter of the server is ahead of all rows')
  const found = `the transaction counter of the server is ${next}, but rows have transaction numbers up to ${newest}, as after a restore: the event feed and report files hide rows until the counter is ahead.`
  const statement = `do $$ begin while pg_current_xact_id() <= '${newest}' loop commit; end loop; end $$`
  return newest - next > BigInt(limits.restoredTxids)
    ? problem(`${found} Before starting any process, run: ${statement}`)
    : note(
        `${found} The first start leaves these numbers out by itself. To do so now, run: ${statement}`,
      )
}

/** The lowest UUIDv7 of a moment so many days ago. */
function lowestId(days: number): string {
  const ms = Math.max(0, Date.now() - days * 86_400_000)
  return `${ms.toString(16).padStart(12, '0')}${'0'.repeat(20)}`
}
