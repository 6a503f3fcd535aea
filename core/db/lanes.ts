import { limits } from '@tollgate/schemas'
import { intendAction } from '../call-trace.ts'
import { systemClock } from '../clock.ts'
import type { PoolSizes } from './connection.ts'
import { type Client, type Database, patience } from './database.ts'
import { asNeverReached, neverReached, outcomeUnknown, sqlState } from './failures.ts'
import type { Columns, GroupStatement, RowOf } from './group-statement.ts'
import { insist, insistWriting, worthRetry } from './insist.ts'
import type * as pg from './pg-types.ts'
import { type Sql, sql } from './sql.ts'

type Waiting = {
  readonly row: RowOf<Columns>
  readonly sinceMs: number
  readonly done: (row: { id: string } | undefined) => void
  readonly failed: (error: unknown) => void
}
type AnyGroupStatement = GroupStatement<Columns, { id: string }>

/**
 * For statements over rows of a JSON parameter. The planner believes that a new database is empty,
 * so only index look-ups stay fast as tables grow.
 */
export const byIndex = {
  enable_hashjoin: 'off',
  enable_material: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
  plan_cache_mode: 'force_generic_plan',
} as const

/** Postgres gives up before this process does, so an abandoned statement releases its locks. */
const endsWithin = (tryMs: number) => ({ statement_timeout: String(tryMs - limits.tryAheadMs) })

/** For the transaction that it begins. */
const unhurried = sql`
  select set_config('statement_timeout', ${String(limits.upkeepMs - limits.tryAheadMs)}::text, true) as within`

/**
 * The ways to Postgres, each with connections of its own so that none can starve another.
 *
 * Group lane: rows that no other statement locks. One waiting row runs alone at once. Rows that arrive
 * while flushes are under way go into the next flush, as one statement with one commit. No timer: under
 * light load nothing waits, under heavy load the commits are shared.
 * Single lane: rows that others may lock. One statement each, in order per key within the process.
 * Read lane: reads.
 * Search lane: slow reads that serve no payment. Opened at the first search.
 * Bulk lane: settlement files, whose statements read and write many rows. Opened at the first file.
 * Program lane: transactions that the embedding program takes part in. Opened at the first subscription.
 *
 * A call ends within the flush budget. Each of its tries has a limit of its own, after which its
 * connection counts as lost: a broken line could otherwise block the connection forever.
 */
export class Lanes {
  readonly database: Database
  readonly #group: pg.Pool
  readonly #single: pg.Pool
  readonly #read: pg.Pool
  readonly #search: pg.Pool
  #bulk: pg.Pool | undefined
  #program: ReturnType<Database['pool']> | undefined
  readonly #queues = new Map<AnyGroupStatement, Waiting[]>()
  readonly #serial = new Map<string, Promise<unknown>>()
  readonly #sizes: PoolSizes
  #freeFlushes: number
  #expiry: NodeJS.Timeout | undefined

  constructor(database: Database, sizes: PoolSizes) {
    this.database = database
    this.#sizes = sizes
    this.#freeFlushes = sizes.group ?? limits.groupFlushes
    this.#group = database.pool(this.#freeFlushes, 'group', {
      lock_timeout: String(limits.groupLockTimeoutMs),
      ...endsWithin(limits.groupTryMs),
      ...byIndex,
    })
    this.#single = database.pool(sizes.single ?? limits.singleConnections, 'single', {
      lock_timeout: String(limits.singleLockTimeoutMs),
      ...endsWithin(limits.statementTryMs),
      // A transaction whose owner gave its connection up, which Postgres may not hear of.
      idle_in_transaction_session_timeout: String(limits.statementTryMs),
      plan_cache_mode: 'force_generic_plan',
    })
    const reads = { reads: true } as const
    const read = { ...endsWithin(limits.slowReadMs), plan_cache_mode: 'force_generic_plan' }
    this.#read = database.pool(sizes.read ?? limits.readConnections, 'read', read, reads)
    const search = { ...endsWithin(limits.searchMs), plan_cache_mode: 'force_generic_plan' }
    this.#search = database.pool(sizes.search ?? limits.searchConnections, 'search', search, reads)
  }

  get pools(): { single: pg.Pool; read: pg.Pool; search: pg.Pool } {
    return { single: this.#single, read: this.#read, search: this.#search }
  }

  /** Rows that wait for a flush now. */
  get waiting(): number {
    let sum = 0
    for (const queue of this.#queues.values()) sum += queue.length
    return sum
  }

  /** Writes one row through the group lane; resolves after its commit with what the body returned for it. */
  group<Given extends Columns, Moved extends { id: string }>(
    statement: GroupStatement<Given, Moved>,
    row: RowOf<Given>,
  ): Promise<Moved | undefined> {
    // Its flush may run for another call.
    const ended = intendAction()
    return new Promise((resolve, reject) => {
      const key = statement as unknown as AnyGroupStatement
      const sinceMs = systemClock.elapsedMs()
      const done = (moved: Moved | undefined) => {
        ended('perhaps')
        resolve(moved)
      }
      const failed = (error: unknown) => {
        ended(neverReached(error) ? 'never' : 'perhaps')
        reject(error)
      }
      const waiting = { row, sinceMs, done, failed } as unknown as Waiting
      const queue = this.#queues.get(key)
      if (queue === undefined) this.#queues.set(key, [waiting])
      else queue.push(waiting)
      this.#pump()
      if (this.#freeFlushes === 0)
        this.#expiry ??= setTimeout(() => this.#expire(), limits.leastTryMs)
    })
  }

  /** Fails rows for which no flush had room in time: nothing was sent for them. */
  #expire(): void {
    const lastMs = systemClock.elapsedMs() - limits.flushBudgetMs + limits.leastTryMs
    for (const queue of this.#queues.values()) {
      const kept = queue.findIndex(({ sinceMs }) => sinceMs > lastMs)
      for (const member of queue.splice(0, kept < 0 ? queue.length : kept)) {
        member.failed(asNeverReached(new Error('no flush had room in time')))
      }
    }
    this.#expiry = undefined
    if (this.waiting > 0) this.#expiry = setTimeout(() => this.#expire(), limits.leastTryMs)
  }

  #pump(): void {
    while (this.#freeFlushes > 0) {
      const next = this.#longest()
      if (next === undefined) return
      this.#freeFlushes -= 1
      this.#flush(next.statement, next.members).finally(() => {
        this.#freeFlushes += 1
        this.#pump()
      })
    }
  }

  #longest(): { statement: AnyGroupStatement; members: Waiting[] } | undefined {
    let statement: AnyGroupStatement | undefined
    let length = 0
    for (const [candidate, queue] of this.#queues) {
      if (queue.length > length) {
        statement = candidate
        length = queue.length
      }
    }
    if (statement === undefined) return undefined
    const members = this.#queues.get(statement)!.splice(0, limits.groupRows)
    return { statement, members }
  }

  async #flush(statement: AnyGroupStatement, members: Waiting[]): Promise<void> {
    const [only] = members
    try {
      const rows = await this.database.run(
        this.#group,
        members.length === 1 ? statement.one(only!.row) : statement.many(members.map((m) => m.row)),
        patience(limits.groupTryMs, only!.sinceMs),
      )
      if (members.length === 1) return only!.done(rows[0])
      const byId = new Map(rows.map((row) => [row.id, row]))
      for (const member of members) member.done(byId.get(member.row.id as string))
    } catch (error) {
      if (!worthAlone(error)) return members.forEach((member) => void member.failed(error))
      // One bad or contended row must not fail the others: each runs by itself, off the group lane.
      for (const member of members) {
        const within = patience(limits.statementTryMs, member.sinceMs)
        const alone = () => this.database.run(this.#single, statement.one(member.row), within)
        insist(alone, within, worthRetry, error).then((rows) => member.done(rows[0]), member.failed)
      }
    }
  }

  /**
   * Runs one statement in the single lane; a lost connection, a deadlock or a lock timeout is retried
   * within the flush budget. Every statement here is safe to run again, even while an earlier copy still
   * runs on an abandoned connection. Inserts have ids from before, so the second copy waits at the
   * primary key and inserts nothing. Updates depend on the previous state, lease or version, so the
   * second copy waits for the row and changes nothing. A copy that waits for too long fails and proves
   * nothing: the outcome of the first is then unknown.
   */
  single<Row>(statement: Sql<Row>): Promise<Row[]> {
    return insistWriting((within) => this.database.run(this.#single, statement, within))
  }

  /** Runs a statement and, when it moved a row, others in the same commit. Not tried again by itself. */
  together<Row>(first: Sql<Row>, others: readonly Sql[]): Promise<Row[]> {
    const work = async (client: Client) => {
      const rows = await this.database.query(client, first)
      if (rows.length > 0) for (const other of others) await this.database.query(client, other)
      return rows
    }
    return this.database.transaction(this.#single, work, patience(limits.statementTryMs))
  }

  /**
   * Runs a statement while no process runs another one under the same name, so that it sees what they wrote. Tried again
   * like those of `single`, and has to be as safe: a copy on an abandoned connection keeps its turn until it ends.
   */
  alone<Row>(name: string, statement: Sql<Row>): Promise<Row[]> {
    const turn = sql`select pg_advisory_xact_lock(hashtextextended(${name}::text, 0))`
    const work = async (client: Client) => {
      await this.database.query(client, turn)
      return this.database.query(client, statement)
    }
    return insistWriting((within) => this.database.transaction(this.#single, work, within))
  }

  /**
   * A slow statement for which no request waits. Safe to run again, like those of `single`. After a
   * failure, its next regular run repeats it.
   */
  upkeep<Row>(statement: Sql<Row>): Promise<Row[]> {
    const work = async (client: Client) => {
      await this.database.query(client, unhurried)
      return this.database.query(client, statement)
    }
    return this.database.transaction(this.#single, work, patience(limits.upkeepMs))
  }

  /** Runs `work` after everything that was queued before it under the same key in this process. */
  inOrder<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#serial.get(key)
    const mine = before === undefined ? work() : before.then(work, work)
    this.#serial.set(key, mine)
    const forget = () => {
      if (this.#serial.get(key) === mine) this.#serial.delete(key)
    }
    mine.then(forget, forget)
    return mine
  }

  /** @param tryMs Longer for searches, which begin within the flush budget and may end after it. */
  read<Row>(statement: Sql<Row>, tryMs: number = limits.statementTryMs): Promise<Row[]> {
    const within = patience(tryMs)
    return insist(() => this.database.run(this.#read, statement, within), within, outcomeUnknown)
  }

  /**
   * A transaction over many rows for which no request waits, with plans for its own values. Not tried again
   * by itself: the next run of the job repeats the step.
   *
   * @param tryMs The time limit of the whole transaction.
   */
  bulk<T>(work: (client: Client) => Promise<T>, tryMs: number = limits.bulkMs): Promise<T> {
    this.#bulk ??= this.database.pool(this.#sizes.bulk ?? limits.bulkConnections, 'bulk', {
      ...endsWithin(limits.bulkMs),
      plan_cache_mode: 'force_custom_plan',
      work_mem: '64MB',
    })
    return this.database.transaction(this.#bulk, work, patience(tryMs))
  }

  /**
   * A transaction in which the embedding program works, too. Not tried again by itself. After a failure, the
   * connection is closed: the program may have left something on it.
   */
  ofProgram<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const limitMs = limits.subscriptionHandlerMs
    const size = this.#sizes.program ?? limits.subscriptionConnections
    const timeouts = {
      ...endsWithin(limitMs),
      idle_in_transaction_session_timeout: String(limitMs),
    }
    this.#program ??= this.database.pool(size, 'program', timeouts, { lent: true })
    const within = patience(limitMs + limits.leaseMarginMs)
    return this.database.transaction(this.#program, work, within, () => true)
  }

  /** A search. It takes no connection from tokens, payments or the readiness check. */
  search<Row>(statement: Sql<Row>): Promise<Row[]> {
    return this.database.run(this.#search, statement, patience(limits.searchMs))
  }
}

/** Data errors, constraint violations, deadlocks and lock timeouts belong to one member of a group. */
function worthAlone(error: unknown): boolean {
  const state = sqlState(error)
  return (
    outcomeUnknown(error) ||
    state === '40P01' ||
    state === '55P03' ||
    state?.startsWith('22') === true ||
    state?.startsWith('23') === true
  )
}
