/** Statements of the engine inside a transaction that the embedding program began and will end. */
import pg from 'pg'
import { noteAction } from '../call-trace.ts'
import { GatewayError } from '../errors.ts'
import type { Client } from './database.ts'
import { asOfDatabase, sqlState } from './failures.ts'
import type { Lanes } from './lanes.ts'
import { type Sql, sql } from './sql.ts'

/**
 * A client of `pg` on the gateway's database, inside a transaction: after its `BEGIN`, before its
 * `COMMIT`. Its user needs the rights of the gateway's user.
 */
export interface TransactionClient {
  query(statement: { text: string; values?: unknown[] }): Promise<{ rows: unknown[] }>
}

export type ProgramResult = {
  // biome-ignore lint/suspicious/noExplicitAny: rows of the program's own tables, as in pg
  readonly rows: any[]
  readonly rowCount: number | null
}

/** A client in a transaction of the engine, for the program's own statements. */
export interface ProgramClient extends TransactionClient {
  query(statement: string, values?: unknown[]): Promise<ProgramResult>
  query(statement: { text: string; values?: unknown[] }): Promise<ProgramResult>
}

/** The same connection, which parses types as pg does for the program. */
export const clientOfProgram = (client: Client): ProgramClient => ({
  query: (statement: string | { text: string; values?: unknown[] }, values?: unknown[]) =>
    client.query({
      ...(typeof statement === 'string' ? { text: statement } : statement),
      ...(values !== undefined && { values }),
      types: pg.types,
    }),
})

/** Runs one statement of the engine. */
export type Run = <Row>(statement: Sql<Row>) => Promise<Row[]>

const savepoint = 'savepoint tollgate'
const release = 'release savepoint tollgate'
const undo = 'rollback to savepoint tollgate; release savepoint tollgate'

/** Clients that were found on the gateway's database. */
const known = new WeakMap<TransactionClient, Lanes>()

/**
 * Writes in the program's transaction. A failure undoes the engine's statements alone, so that the
 * program may go on with its transaction.
 *
 * @throws GatewayError 200.300.404 naming `client`: not in a transaction, or of another database.
 */
export async function inOpenTransaction<T>(
  lanes: Lanes,
  client: TransactionClient,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  await begin(client)
  try {
    const run: Run = (statement) => lanes.database.query(client as Client, statement)
    if (known.get(client) !== lanes) {
      await refuseOtherDatabase(lanes, run)
      known.set(client, lanes)
    }
    const result = await work(run)
    await client.query({ text: release }).catch(thrownByClient)
    // The program may commit it from now on.
    noteAction()
    return result
  } catch (error) {
    // The program learns of a lost connection from the first error.
    await client.query({ text: undo }).catch(() => {})
    throw error
  }
}

/**
 * The client of a call that must have one.
 *
 * @throws GatewayError 200.300.404 naming it.
 */
export function clientOf(options: { readonly client: TransactionClient } | undefined) {
  const client = options?.client as TransactionClient | undefined
  if (typeof client?.query === 'function') return client
  throw wrongClient('must be a client of pg, after its BEGIN')
}

async function begin(client: TransactionClient): Promise<void> {
  try {
    await client.query({ text: savepoint })
  } catch (error) {
    const state = sqlState(error)
    if (state === '25P01') throw wrongClient('is in no transaction: send BEGIN first')
    if (state === '25P02') throw wrongClient('is in a failed transaction: roll it back first')
    throw asOfDatabase(error)
  }
}

function thrownByClient(error: unknown): never {
  throw asOfDatabase(error)
}

/** The same server and database, also behind another name or a pooler. */
const place = sql<{ place: string }>`
  select concat_ws(' ', pg_postmaster_start_time(),
    (select oid from pg_database where datname = current_database())) as place`

async function refuseOtherDatabase(lanes: Lanes, run: Run): Promise<void> {
  const [[own], [given]] = await Promise.all([lanes.read(place), run(place)])
  if (own?.place !== given?.place) {
    throw wrongClient('is connected to another database than the gateway')
  }
}

const wrongClient = (message: string) =>
  new GatewayError('200.300.404', { parameterErrors: [{ name: 'client', message }] })
