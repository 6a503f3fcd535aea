/** The statements of pg-boss, on connections of the engine: encrypted, checked and limited in time like all others. */
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '@tollgate/schemas'
import { type Database, type Patience, patience } from '../db/database.ts'
import { isUnavailable, neverReached } from '../db/failures.ts'
import type * as pg from '../db/pg-types.ts'
import { plainTypes } from '../db/wire-types.ts'
import { unavailableSign } from './queue-errors.ts'

type Execute = (text: string, values?: unknown[]) => Promise<{ rows: never[] }>

type Statements = {
  readonly executeSql: Execute
  /** For calls of the embedding program, which end as soon as other calls while the database does not respond. */
  readonly ofCall: { readonly executeSql: Execute }
}

/** Changes of tables and indexes take the time that they need. */
const isSlow = (text: string): boolean => /\b(?:alter|create) (?:table|index|unique)\b/i.test(text)

const within = (text: string) => patience(isSlow(text) ? limits.queueChangeMs : limits.upkeepMs)

/** Tries to get a connection, for one statement. */
const mostTries = 3

const signed = (error: unknown) => Object.assign(error as Error, { [unavailableSign]: true })

/** @param connections Connections to the database at most. */
export function queueStatements(database: Database, connections: number): Statements {
  let pool: pg.Pool | undefined
  const once = async (text: string, values: unknown[] | undefined, limit: Patience) => {
    pool ??= database.pool(connections, 'jobs')
    const config = { text, ...(values !== undefined && { values }), types: plainTypes }
    // A failed statement may leave a transaction open, so its connection is not used again.
    return database.connected(pool, limit, (client) => client.query<never>(config))
  }
  return {
    async executeSql(text, values) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await once(text, values, within(text))
        } catch (error) {
          // pg-boss itself tries nothing again, and a start would fail with its first statement.
          if (neverReached(error) && tries < mostTries) await pause(limits.startPauseMs)
          else throw isUnavailable(error) ? signed(error) : error
        }
      }
    },
    ofCall: {
      executeSql: (text, values) => once(text, values, patience(limits.statementTryMs)),
    },
  }
}
