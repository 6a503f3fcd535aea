import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '@tollgate/schemas'
import type pg from 'pg'
import { systemClock } from '../clock.ts'
import { type Database, outcomeUnknown, sqlState } from './database.ts'
import type { Columns, GroupStatement, RowOf } from './group-statement.ts'
import type { Sql } from './sql.ts'

type Waiting = {
  readonly row: RowOf<Columns>
  readonly done: (row: { id: string } | undefined) => void
  readonly failed: (error: unknown) => void
}
type AnyGroupStatement = GroupStatement<Columns, { id: string }>

/**
 * For statements over rows of a JSON parameter. What the planner knows of a new database is that it is empty:
 * only lookups by index stay good as tables grow.
 */
export const byIndex = {
  enable_hashjoin: 'off',
  enable_material: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
  plan_cache_mode: 'force_generic_plan',
} as const

/**
 * The three ways to Postgres, each with connections of its own so that none can starve another.
 *
 * Group lane: rows nobody else contends for. One waiting row runs alone at once; what arrives while
 * flushes are under way goes into the next one as one statement with one commit. No timer: under
 * light load nothing waits, under heavy load the commits are shared.
 * Single lane: rows that others may lock. One statement each, in order per key within the process.
 * Read lane: reads.
 */
export class Lanes {
  readonly database: Database
  readonly #group: pg.Pool
  readonly #single: pg.Pool
  readonly #read: pg.Pool
  readonly #queues = new Map<AnyGroupStatement, Waiting[]>()
  readonly #serial = new Map<string, Promise<unknown>>()
  #freeFlushes: number = limits.groupFlushes

  constructor(database: Database, connections: { single: number; read: number }) {
    this.database = database
    this.#group = database.pool(limits.groupFlushes, 'group', {
      lock_timeout: String(limits.groupLockTimeoutMs),
      ...byIndex,
    })
    this.#single = database.pool(connections.single, 'single', {
      lock_timeout: String(limits.singleLockTimeoutMs),
      plan_cache_mode: 'force_generic_plan',
    })
    this.#read = database.pool(connections.read, 'read', { plan_cache_mode: 'force_generic_plan' })
  }

  get pools(): { single: pg.Pool; read: pg.Pool } {
    return { single: this.#single, read: this.#read }
  }

  /** Rows that wait for a flush now. */
  get waiting(): number {
    let sum = 0
    for (const queue of this.#queues.values()) sum += queue.length
    return sum
  }

  /** Writes one row through the group lane; resolves after its commit with what the body returned for it. */
  group<C extends Columns, Out extends { id: string }>(
    statement: GroupStatement<C, Out>,
    row: RowOf<C>,
  ): Promise<Out | undefined> {
    return new Promise((done, failed) => {
      const key = statement as unknown as AnyGroupStatement
      const waiting = { row, done, failed } as unknown as Waiting
      const queue = this.#queues.get(key)
      if (queue === undefined) this.#queues.set(key, [waiting])
      else queue.push(waiting)
      this.#pump()
    })
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
      )
      if (members.length === 1) return only!.done(rows[0])
      const byId = new Map(rows.map((row) => [row.id, row]))
      for (const member of members) member.done(byId.get(member.row.id as string))
    } catch (error) {
      if (!worthAlone(error)) return members.forEach((member) => void member.failed(error))
      // One bad or contended row must not fail the others: each runs by itself, off the group lane.
      for (const member of members) {
        this.single(statement.one(member.row)).then((rows) => member.done(rows[0]), member.failed)
      }
    }
  }

  /**
   * Runs one statement in the single lane. Statements here are safe to run again (ids are made
   * before, moves are conditional), so a lost connection, a deadlock or a lock timeout is retried
   * until the flush budget ends.
   */
  async single<Row>(statement: Sql<Row>): Promise<Row[]> {
    const until = systemClock.elapsedMs() + limits.flushBudgetMs
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.database.run(this.#single, statement)
      } catch (error) {
        if (!worthRetry(error) || systemClock.elapsedMs() > until) throw error
        await pause(Math.min(20 * 2 ** tries, 500))
      }
    }
  }

  /** Runs a statement and, when it moved a row, others in the same commit. Not tried again by itself. */
  together<Row>(first: Sql<Row>, others: readonly Sql[]): Promise<Row[]> {
    return this.database.transaction(this.#single, async (client) => {
      const rows = await this.database.query(client, first)
      if (rows.length > 0) for (const other of others) await this.database.query(client, other)
      return rows
    })
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

  async read<Row>(statement: Sql<Row>): Promise<Row[]> {
    const until = systemClock.elapsedMs() + limits.flushBudgetMs
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.database.run(this.#read, statement)
      } catch (error) {
        if (!outcomeUnknown(error) || systemClock.elapsedMs() > until) throw error
        await pause(Math.min(20 * 2 ** tries, 500))
      }
    }
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

function worthRetry(error: unknown): boolean {
  const state = sqlState(error)
  return outcomeUnknown(error) || state === '40P01' || state === '55P03' || state === '40001'
}
