/** Statements of the engine inside a transaction that the embedding program began and will end. */
import { limits } from '@tollgate/schemas'
import { noteAction } from '../call-trace.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Client, Database } from './database.ts'
import { asOfDatabase, sqlState } from './failures.ts'
import type { Lanes } from './lanes.ts'
import { behind, inTurn, type TransactionClient, TransactionOver } from './program-client.ts'
import { formats, type Settings } from './session-settings.ts'
import { type Sql, sql } from './sql.ts'
import { plainTypes } from './wire-types.ts'

/** The engine's part of a transaction of the embedding program. */
export class OpenTransaction implements TransactionClient {
  readonly #client: TransactionClient
  readonly #database: Database

  constructor(client: TransactionClient, database: Database) {
    this.#client = client
    this.#database = database
  }

  /** Runs one statement of the engine. */
  run<Row>(statement: Sql<Row>): Promise<Row[]> {
    return this.#database.query(this.#client as Client, statement)
  }

  /** Runs a statement of a library, with the types of pg. */
  query(statement: { text: string; values?: unknown[] }) {
    return this.#client.query({ types: plainTypes, ...statement } as typeof statement)
  }

  /**
   * Works with the formats of the engine, and waits for rows of other transactions for a bounded time if the program
   * has set no `lock_timeout`. Its own statements afterwards have its settings again; a failure undoes ours with its
   * savepoint.
   */
  async withSettings<T>(work: () => Promise<T>): Promise<T> {
    const theirs = await this.run(set({ ...formats, lock_timeout: lockLimit }))
    const result = await work()
    const before = theirs.map(({ name, before }) => [name, before])
    if (before.length > 0) await this.run(set(Object.fromEntries(before)))
    return result
  }

  /** A failure undoes what `work` wrote, and leaves the transaction usable. */
  async undoable<T>(work: () => Promise<T>): Promise<T> {
    const savepoint = `tollgate_${newId()}`
    await this.#client.query({ text: `savepoint ${savepoint}` })
    try {
      const result = await work()
      await this.#client.query({ text: `release savepoint ${savepoint}` }).catch(thrownByClient)
      return result
    } catch (error) {
      const undo = `rollback to savepoint ${savepoint}; release savepoint ${savepoint}`
      // The program learns of a lost connection from the first error.
      await this.#client.query({ text: undo }).catch(() => {})
      throw error
    }
  }
}

const lockLimit = `${limits.openTransactionLockMs}ms`

/** Sets what differs, for the rest of the transaction, and tells how it was. A limit of the program stays. */
const set = (settings: Settings) => sql<{ name: string; before: string }>`
  select name, before, set_config(name, value, true)
  from (
    select key as name, value, current_setting(key) as before
    from json_each_text(${JSON.stringify(settings)}::json)
    offset 0) as wanted
  where before <> value
    and (name <> 'lock_timeout' or before = '0' or value = '0')`

/** Clients that were found on the gateway's database. */
const known = new WeakMap<TransactionClient, Lanes>()

/**
 * Works in the program's transaction. A failure undoes the engine's statements alone, so that the program
 * may go on with its transaction. Calls on one client come one after the other: the savepoint of one would
 * otherwise hold the rows of another, and a failure of the one undo both.
 *
 * @throws GatewayError 200.300.404 naming `client`: not in a transaction, or of another database.
 */
export function inOpenTransaction<T>(
  lanes: Lanes,
  client: TransactionClient,
  work: (within: OpenTransaction) => Promise<T>,
): Promise<T> {
  return inTurn(client, async () => {
    const within = new OpenTransaction(behind(client), lanes.database)
    let hasBegun = false
    try {
      const result = await within.undoable(async () => {
        hasBegun = true
        if (known.get(client) !== lanes) {
          await refuseOtherDatabase(lanes, within)
          known.set(client, lanes)
        }
        return within.withSettings(() => work(within))
      })
      // The program may commit it from now on.
      noteAction()
      return result
    } catch (error) {
      if (!hasBegun) throw refusedBegin(error)
      if (sqlState(error) === '42501') {
        throw wrongClient('has a user without the rights of the user of the gateway')
      }
      throw (await onlyReads(within, error)) ? wrongClient('is in a read-only transaction') : error
    }
  })
}

/**
 * The client of a call that must have one.
 *
 * @throws GatewayError 200.300.404 naming it.
 */
export function clientOf(options: { readonly client?: TransactionClient } | undefined) {
  const client = options?.client as TransactionClient | undefined
  if (typeof client?.query === 'function') return client
  throw wrongClient('must be a client of pg, after its BEGIN')
}

function thrownByClient(error: unknown): never {
  throw asOfDatabase(error)
}

function refusedBegin(error: unknown): unknown {
  const state = sqlState(error)
  if (state === '25P01') return wrongClient('is in no transaction: send BEGIN first')
  if (state === '25P02') return wrongClient('is in a failed transaction: roll it back first')
  return error instanceof TransactionOver ? error : asOfDatabase(error)
}

/** The same server and database, also behind another name or a pooler, whatever the session's formats. */
const place = sql<{ place: string }>`
  select concat_ws(' ', extract(epoch from pg_postmaster_start_time()),
    (select oid from pg_database where datname = current_database())) as place`

async function refuseOtherDatabase(lanes: Lanes, within: OpenTransaction): Promise<void> {
  const [[own], [given]] = await Promise.all([lanes.single(place), within.run(place)])
  if (own?.place !== given?.place) {
    throw wrongClient('is connected to another database than the gateway')
  }
}

const readOnlyByChoice = sql<{ is: boolean }>`
  select current_setting('default_transaction_read_only') = 'off' and not pg_is_in_recovery() as is`

/** Whether the program began a transaction that only reads, on a server that writes. */
async function onlyReads(within: OpenTransaction, error: unknown): Promise<boolean> {
  if (sqlState(error) !== '25006') return false
  const [row] = await within.run(readOnlyByChoice).catch(() => [])
  return row?.is === true
}

const wrongClient = (message: string) =>
  new GatewayError('200.300.404', { parameterErrors: [{ name: 'client', message }] })
