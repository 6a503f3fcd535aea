/** Clients of transactions in which the engine and the embedding program work together. */
import pg from 'pg'
import type { Client } from './database.ts'

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

/** Called once, as by pg: with an error, or with null and the result. */
// biome-ignore lint/suspicious/noExplicitAny: as in pg, whose callbacks take any error
export type QueryCallback = (error: any, result: ProgramResult) => void

/** A client in a transaction of the engine, for the program's own statements. */
export interface ProgramClient extends TransactionClient {
  query(statement: string, values?: unknown[]): Promise<ProgramResult>
  query(statement: { text: string; values?: unknown[] }, values?: unknown[]): Promise<ProgramResult>
  query(statement: string | { text: string; values?: unknown[] }, done: QueryCallback): void
  query(
    statement: string | { text: string; values?: unknown[] },
    values: unknown[] | undefined,
    done: QueryCallback,
  ): void
}

type Statement = string | { text: string; values?: unknown[] }

const turns = new WeakMap<TransactionClient, Promise<unknown>>()

/** Runs `work` after everything that was asked of the client before. */
export function inTurn<T>(client: TransactionClient, work: () => Promise<T>): Promise<T> {
  const before = turns.get(client)
  const mine = before === undefined ? work() : before.then(work, work)
  turns.set(client, mine)
  const forget = () => {
    if (turns.get(client) === mine) turns.delete(client)
  }
  mine.then(forget, forget)
  return mine
}

const connections = new WeakMap<TransactionClient, TransactionClient>()

/** The connection behind a client, for the work whose turn it is. */
export const behind = (client: TransactionClient): TransactionClient =>
  connections.get(client) ?? client

/** A connection of the engine in the hands of the program. */
export type Loan = {
  readonly client: ProgramClient
  /** Whether a statement, or a call of the gateway with the client, has not ended. */
  readonly isBusy: () => boolean
  /** Refuses every statement from now on, also those that wait for their turn. */
  readonly end: () => void
}

/**
 * Lends a connection of the engine, inside a transaction. A statement of the program after the end of the
 * transaction would commit by itself, or in a transaction of somebody else.
 */
export function lend(connection: Client): Loan {
  let isOver = false
  const send = async (statement: Statement, values?: unknown[]) => {
    if (isOver) throw new TransactionOver()
    return connection.query({
      // The program's types, where a statement has none of its own.
      types: pg.types,
      ...(typeof statement === 'string' ? { text: statement } : statement),
      ...(values !== undefined && { values }),
    })
  }
  const open: ProgramClient = { query: answering(send) }
  const client: ProgramClient = {
    query: answering(async (statement, values) => {
      refuseEnd(typeof statement === 'string' ? statement : statement?.text)
      refuseSubmittable(statement)
      return inTurn(client, () => send(statement, values))
    }),
  }
  connections.set(client, open)
  return {
    client,
    isBusy: () => turns.has(client),
    end: () => {
      isOver = true
    },
  }
}

/** A query that answers as that of pg does: with a promise, or by a callback. */
function answering(
  ask: (statement: Statement, values?: unknown[]) => Promise<ProgramResult>,
): ProgramClient['query'] {
  return ((given: Statement, second?: unknown, third?: unknown) => {
    const { callback, ...named } = (typeof given === 'string' ? {} : (given ?? {})) as Called
    const done = [second, third, callback].find((one) => typeof one === 'function')
    const values = typeof second === 'function' ? undefined : (second as unknown[] | undefined)
    if (done === undefined) return ask(given, values)
    // What a callback throws is no failure of the statement.
    const answer = (...result: unknown[]) => process.nextTick(done, ...result)
    ask(callback === undefined ? given : (named as Statement), values).then(
      (result) => answer(null, result),
      (error: unknown) => answer(error, undefined),
    )
  }) as ProgramClient['query']
}

type Called = { readonly callback?: unknown }

/** pg would hand rows to such a statement after the turn of this one, also once the transaction is over. */
function refuseSubmittable(statement: unknown): void {
  if (typeof (statement as { submit?: unknown } | null)?.submit === 'function') {
    throw new TypeError(
      'this client takes no cursors and streams: give it a text, or { text, values }',
    )
  }
}

/** What hides words from the search for statements: texts, quoted names and comments. */
const quoted =
  /\be'(?:[^'\\]|\\.|'')*'|'[^']*'|"[^"]*"|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\//gi

const ends =
  /^\s*(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!(?:\s+(?:work|transaction))?\s+to))\b/i

/** A commit by the program would keep what the handler wrote, and leave the position where it is. */
function refuseEnd(text: unknown): void {
  if (typeof text !== 'string') return
  const statements = text.replace(quoted, ' ').split(';')
  if (statements.some((statement) => ends.test(statement))) throw new NotYourTransaction()
}

export class NotYourTransaction extends Error {
  override readonly name = 'NotYourTransaction'
  constructor() {
    super(
      'the transaction of this client begins and ends with its handler: send no BEGIN, COMMIT or ROLLBACK; savepoints are possible',
    )
  }
}

export class TransactionOver extends Error {
  override readonly name = 'TransactionOver'
  constructor() {
    super('the transaction of this client is over: await every statement before the handler ends')
  }
}

/** The handler ended before its statements. */
export class UnfinishedStatements extends Error {
  override readonly name = 'UnfinishedStatements'
  constructor() {
    super('the handler ended before its statements: await each statement and call with the client')
  }
}
