/**
 * The environment of every fault test: a database, an acquirer, hosts, merchants, and the checker.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { scratchFolder, startTestCluster, type TestCluster } from '../cluster.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { markOf } from '../processes.ts'
import { type Acquirer, startAcquirer } from './acquirer.ts'
import { checkAll } from './check-all.ts'
import { type Address, Client, type Wish } from './client.ts'
import { type DatabaseProxy, openDatabaseProxy } from './database-proxy.ts'
import { gather } from './evidence.ts'
import type { Fault } from './fault-plan.ts'
import { type Host, startHost } from './host.ts'
import { installed } from './installation.ts'
import { type HostOrder, openHost } from './open-host.ts'
import { comeDue, endDeadJobs, expire, untilQuiet } from './quiet.ts'
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
  /** The acquirer has a process to itself, for much load. */
  readonly ownAcquirer?: boolean
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

export type Bystander = Address & { close(): Promise<void> }

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
  /** A host in the process of the test, which needs no second to load: one that no fault meets. */
  bystander(name: string, more?: Partial<Omit<HostOrder, 'name'>>): Promise<Bystander>
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

const quietWithinMs = 120_000

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
  const acquirer = await startAcquirer(ledgerFile, options.ownAcquirer === true)
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
  const orderOf = (name: string, more: Partial<Omit<HostOrder, 'name'>>): HostOrder => ({
    name,
    databaseUrl: proxy?.url ?? database.url,
    acquirerUrl: wire?.url ?? acquirer.url,
    role: 'all',
    connectorTimeoutMs: 8_000,
    ...more,
  })
  const bystanders = new Set<Bystander>()
  ends.push(() => Promise.all([...bystanders].map((one) => one.close())))
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
      const host = await startHost(orderOf(name, more), faults, options.preload)
      hosts.push(host)
      return host
    },
    async bystander(name, more = {}) {
      const { url, token, close } = await openHost(orderOf(name, more), {
        shutdownGraceMs: 5_000,
        warn: () => undefined,
      })
      const bystander: Bystander = {
        name,
        url: url ?? '',
        token,
        async close() {
          if (bystanders.delete(bystander)) await close()
        },
      }
      bystanders.add(bystander)
      return bystander
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
