/**
 * The transactions of work on settlement files. Readers of the event feed wait for the oldest transaction with a
 * number, and a number comes with the first write. So writes are short, and long reads have a transaction of
 * their own, which gets none.
 */
import { limits } from '@tollgate/schemas'
import type { Client } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { ScopeLost } from './leases.ts'
import { hashJoins, unwaited } from './match/store-work.ts'
import type { Pace } from './pace.ts'
import { holdScopes } from './store-record.ts'
import type { Held } from './stored-fence.ts'

export type Query = <Row>(statement: Sql<Row>) => Promise<Row[]>

export class Steps {
  readonly #engine: Pick<Engine, 'lanes'>
  readonly #held: () => Held
  readonly pace: Pace

  /** @param held The leases may become more while the work lasts. */
  constructor(engine: Pick<Engine, 'lanes'>, held: () => Held, pace: Pace) {
    this.#engine = engine
    this.#held = held
    this.pace = pace
  }

  get held(): Held {
    return this.#held()
  }

  /**
   * One commit under the leases, and a rest after it.
   *
   * @throws ScopeLost: another process took a scope, and nothing was written; or this process closes.
   */
  write<T>(work: (query: Query, client: Client) => Promise<T>): Promise<T> {
    return this.#commit([], work)
  }

  /** The same for tables that are not logged, or for what the next run would do again. */
  work<T>(work: (query: Query, client: Client) => Promise<T>): Promise<T> {
    return this.#commit([unwaited], work)
  }

  /** The same, with hash joins. */
  match<T>(work: (query: Query, client: Client) => Promise<T>): Promise<T> {
    return this.#commit([unwaited, hashJoins], work)
  }

  async #commit<T>(
    settings: readonly Sql[],
    work: (query: Query, client: Client) => Promise<T>,
  ): Promise<T> {
    const { lanes } = this.#engine
    const result = await lanes.bulk(async (client) => {
      const query: Query = (statement) => lanes.database.query(client, statement)
      for (const setting of settings) await query(setting)
      const [holds] = await query(holdScopes(this.held, limits.settlementLeaseMs))
      if (holds === undefined) throw new ScopeLost('another process took over')
      return work(query, client)
    })
    await this.pace.rest()
    return result
  }

  /** A statement that writes nothing, and may take long. */
  async read<Row>(statement: Sql<Row>, settings: readonly Sql[] = []): Promise<Row[]> {
    const { lanes } = this.#engine
    const rows = await lanes.bulk(async (client) => {
      for (const setting of settings) await lanes.database.query(client, setting)
      return lanes.database.query(client, statement)
    })
    await this.pace.rest()
    return rows
  }

  /** Statistics need no lease. */
  async analyze(statements: readonly Sql[]): Promise<void> {
    const { lanes } = this.#engine
    for (const statement of statements) {
      await lanes.bulk((client) => lanes.database.query(client, statement))
    }
  }

  /** Deletes rows in parts. Each statement deletes at most `limit` rows, and counts them. */
  async drop(statements: readonly ((limit: number) => Sql<{ rows: number }>)[]): Promise<void> {
    const limit = limits.settlementDropRows
    let left = statements
    while (left.length > 0) {
      left = await this.work(async (query) => {
        const more: (typeof left)[number][] = []
        for (const statement of left) {
          const [gone] = await query(statement(limit))
          if (gone!.rows >= limit) more.push(statement)
        }
        return more
      })
    }
  }
}
