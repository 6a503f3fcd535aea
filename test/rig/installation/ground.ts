/**
 * The environment of every fault test: a database, an acquirer, hosts, merchants, and the checker.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { scratchFolder, startTestCluster, type TestCluster } from '../cluster.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { markOf } from '../processes.ts'
import { type Acquirer, startAcquirer } from './acquirer.ts'
import { checkAll } from './check-all.ts'
import { Client, type Wish } from './client.ts'
import { type DatabaseProxy, openDatabaseProxy } from './database-proxy.ts'
import { gather } from './evidence.ts'
import type { Fault } from './fault-plan.ts'
import { type Host, startHost } from './host.ts'
import type { HostOrder } from './host-process.ts'
import { installed } from './installation.ts'
import { openWire, type Wire } from './wire.ts'

export type Sql = <Row = Record<string, unknown>>(
  text: string,
  values?: readonly unknown[],
) => Promise<Row[]>

export type GroundOptions = {
  /** A separate durable Postgres, for tests that kill it. */
  readonly ownPostgres?: boolean
  /** Such a Postgres that runs already, with the installation in the database at `url`. */
  readonly given?: { readonly cluster: TestCluster; readonly url: string }
  /** A line between hosts and acquirer that the test can hold. */
  readonly wired?: boolean
  /** A line between hosts and Postgres that the test can cut. */
  readonly cuttable?: boolean
  /** Modules that every host loads first. */
  readonly preload?: readonly string[]
}

export type WishRow = {
  readonly id: string
  readonly type: string
  readonly state: string
  readonly code: string
  /** The acquirer's key. */
  readonly key: string
  readonly enquiries: number
}

export type Ground = {
  readonly acquirer: Acquirer
  /** File of the acquirer's books. */
  readonly ledgerFile: string
  readonly wire: Wire
  readonly client: Client
  readonly database: TestDatabase
  readonly proxy: DatabaseProxy
  /** The cluster of `ownPostgres`. */
  readonly cluster: TestCluster
  /** Runs SQL on a connection outside the hosts. Ids are 32 hex characters, int8 is bigint. */
  readonly sql: Sql
  /** The records of a wish, oldest first. */
  rowsOf(wish: Pick<Wish, 'reference'>): Promise<WishRow[]>
  host(
    name: string,
    more?: Partial<Omit<HostOrder, 'name'>> & { readonly faults?: readonly Fault[] },
  ): Promise<Host>
  /** Expires the leases of these payments, or of all, and makes them old. */
  expire(payments?: readonly string[]): Promise<void>
  /** Expires the jobs of dead processes, so that other processes take them. */
  endDeadJobs(): Promise<void>
  /** Makes all waiting work due repeatedly until `end` resolves. */
  dueUntil(end: Promise<unknown>): Promise<void>
  /** Waits until nothing is undecided, with all waiting work due at once. */
  quiet(withinMs?: number): Promise<void>
  /** Waits for quiet, then checks everything. */
  check(): Promise<void>
  /** Ends every process and removes everything. */
  close(): Promise<void>
}

const quietWithinMs = 40_000

export async function layGround(options: GroundOptions = {}): Promise<Ground> {
  const ends: (() => Promise<unknown>)[] = []
  const close = async () => {
    const problems: unknown[] = []
    for (const end of ends.splice(0).reverse()) {
      await end().catch((problem: unknown) => problems.push(problem))
    }
    if (problems.length > 0) throw problems[0]
  }
  try {
    return await lay(options, ends, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function lay(
  options: GroundOptions,
  ends: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<Ground> {
  const folder = newFolder()
  ends.push(async () => rmSync(folder, { recursive: true, force: true }))
  const { given } = options
  const cluster =
    given?.cluster ??
    (options.ownPostgres === true ? await startTestCluster({ durable: true }) : null)
  if (cluster !== null) ends.push(() => cluster.stop())
  const database =
    given === undefined ? await createDatabase(installed, cluster?.url) : databaseAt(given.url)
  ends.push(() => database.drop())
  const ledgerFile = join(folder, 'ledger')
  const acquirer = await startAcquirer(ledgerFile)
  ends.push(() => acquirer.stop())
  const wire = options.wired === true ? await openWire(acquirer.url) : null
  if (wire !== null) ends.push(() => wire.close())
  const proxy = options.cuttable === true ? await openDatabaseProxy(database.url) : null
  if (proxy !== null) ends.push(() => proxy.close())
  // A database that can move to another server is reached through the line that follows it.
  const ownUrl = given === undefined ? database.url : (proxy?.url ?? database.url)
  const sqlClient = new SqlClient(ownUrl)
  ends.push(() => sqlClient.end())
  const { sql } = sqlClient
  const client = new Client()
  const hosts: Host[] = []
  ends.push(() => Promise.all(hosts.map((host) => host.kill())))
  const quiet = (withinMs = quietWithinMs) => untilQuiet(sql, withinMs)
  return {
    acquirer,
    ledgerFile,
    client,
    database,
    sql,
    rowsOf: ({ reference }) => sql<WishRow>(rowsOfReference, [reference]),
    get wire() {
      return present(wire, 'wired: true')
    },
    get proxy() {
      return present(proxy, 'cuttable: true')
    },
    get cluster() {
      return present(cluster, 'ownPostgres: true')
    },
    async host(name, { faults = [], ...more } = {}) {
      const order = {
        name,
        databaseUrl: proxy?.url ?? database.url,
        acquirerUrl: wire?.url ?? acquirer.url,
        role: 'all',
        connectorTimeoutMs: 8_000,
        ...more,
      } as const
      const host = await startHost(order, faults, options.preload)
      hosts.push(host)
      return host
    },
    expire: (payments) => expire(sql, payments),
    endDeadJobs: () => endDeadJobs(ownUrl, sql),
    async dueUntil(end) {
      let ended = false
      const mark = () => {
        ended = true
      }
      end.then(mark, mark)
      await expire(sql, undefined)
      while (!ended) {
        await sql(comeDue)
        await pause(100)
      }
    },
    quiet,
    async check() {
      await quiet()
      checkAll(await gather(client.history, acquirer, sql))
    },
    close,
  }
}

/** Removed with its cluster. */
const databaseAt = (url: string): TestDatabase => ({
  name: new URL(url).pathname.slice(1),
  url,
  drop: async () => undefined,
})

const folderSign = 'tollgate-faults-'

/** A folder of this process. Those of killed test processes are removed now. */
function newFolder(): string {
  const parent = scratchFolder()
  for (const name of readdirSync(parent)) {
    const pid = new RegExp(`^${folderSign}(\\d+)-`).exec(name)?.[1]
    if (pid === undefined || markOf(Number(pid)) !== null) continue
    rmSync(join(parent, name), { recursive: true, force: true })
  }
  return mkdtempSync(join(parent, `${folderSign}${process.pid}-`))
}

function present<T>(value: T | null, option: string): T {
  if (value === null) throw new Error(`this environment was started without ${option}`)
  return value
}

const rowsOfReference = `
  select p.id, p.payment_type as type, p.state, p.result_code as code, a.key, a.enquiries + a.questions as enquiries
  from tollgate.payment p
  join tollgate.attempt a on a.payment_id = p.id
  where p.merchant_transaction_id = $1
  order by p.id`

/** The age changes too, because old requests can no longer be under way. */
async function expire(sql: Sql, payments: readonly string[] | undefined): Promise<void> {
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
const comeDue = `
  update tollgate.timer t set due_at = now()
  where t.due_at > now() and t.clock_id is null and not exists (
    select from tollgate.attempt a where a.key = t.ref and a.lease_until > now())`

/** Processes the acquirer's events at once; processing one twice has one effect. */
const hearAgain = `
  update tollgate.inbound_event set next_at = now() where processed_at is null and next_at > now()`

/** Waits until nothing is open. @throws Error when the number stays the same for `withinMs`. */
async function untilQuiet(sql: Sql, withinMs: number): Promise<void> {
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
async function endDeadJobs(url: string, sql: Sql): Promise<void> {
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

const types = {
  getTypeParser(oid: number, format?: string) {
    if (oid === 2950) return (value: string) => value.replaceAll('-', '')
    if (oid === 20) return (value: string) => BigInt(value)
    return pg.types.getTypeParser(oid as never, format as never)
  },
} as pg.CustomTypesConfig

/** Connections that reopen when the server closed them. */
class SqlClient {
  readonly #pool: pg.Pool

  constructor(url: string) {
    this.#pool = new pg.Pool({ connectionString: url, max: 2, types })
    this.#pool.on('error', () => {})
  }

  readonly sql: Sql = async <Row>(text: string, values: readonly unknown[] = []) => {
    for (let tries = 0; ; tries += 1) {
      try {
        return (await this.#pool.query(text, [...values])).rows as Row[]
      } catch (error) {
        const { code = '' } = error as { code?: string }
        const isGone = !/^[0-9A-Z]{5}$/.test(code) || code.startsWith('57P')
        if (!isGone || tries > mostReconnections) throw error
        await pause(50)
      }
    }
  }

  end(): Promise<void> {
    return this.#pool.end()
  }
}

const mostReconnections = 200
