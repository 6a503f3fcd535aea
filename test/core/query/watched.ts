/** The part of an engine that searches use, with a record of their statements. */
import { systemClock } from '../../../core/clock.ts'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import type { Sql } from '../../../core/db/sql.ts'
import type { Engine } from '../../../core/engine.ts'

export type Watched = {
  readonly engine: Engine
  /** Since the last reset. */
  readonly statements: Sql[]
  close(): Promise<void>
}

export function watch(url: string): Watched {
  const database = new Database({ url })
  const statements: Sql[] = []
  class WatchedLanes extends Lanes {
    override read<Row>(statement: Sql<Row>): Promise<Row[]> {
      statements.push(statement)
      return super.read(statement)
    }
  }
  const lanes = new WatchedLanes(database, { single: 1, read: 2 })
  return {
    engine: { lanes, clock: systemClock } as unknown as Engine,
    statements,
    close: () => database.close(),
  }
}
