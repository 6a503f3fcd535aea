import type { RequestFields } from '@tollgate/plugin-kit'
import type { Requests } from '@tollgate/schemas'
import { read } from '../call.ts'
import { requireId } from '../caller/call-options.ts'
import { buildNumber, callerIn, type RequestOptions } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { getTransactions, search } from './queries.ts'
import {
  type Envelope,
  type QueryView,
  queryView,
  type TransactionView,
  transactionView,
} from './view.ts'

type Search = Requests['query.search']

/**
 * Finds transactions: payments, follow-ups, and records of registrations and schedules.
 *
 * @throws GatewayError 400 naming each wrong field; 404 700.400.580 when nothing is found.
 */
export class Query {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** One transaction of any kind. */
  readonly get = async (id: string, options: RequestOptions = {}): Promise<TransactionView> => {
    const caller = callerIn(options)
    requireId(id)
    await read(this.#engine, caller, 'query.get', { values: {} })
    const [entry] = await getTransactions(this.#engine, caller, id, {})
    return transactionView(entry!, this.#envelope())
  }

  /** A transaction with all linked transactions, newest first. */
  readonly linked = async (
    id: string,
    options: RequestOptions = {},
  ): Promise<TransactionView[]> => {
    const fields = { includeLinkedTransactions: 'true' }
    const caller = callerIn(options)
    requireId(id)
    await read(this.#engine, caller, 'query.get', { values: fields })
    const entries = await getTransactions(this.#engine, caller, id, fields)
    const about = this.#envelope()
    return entries.map((entry) => transactionView(entry, about))
  }

  /** One page, newest first. */
  readonly search = async (request: Search, options: RequestOptions = {}): Promise<QueryView> => {
    const fields = await this.#read(request, options)
    const listed = await search(this.#engine, callerIn(options), fields, true)
    return queryView(listed, this.#envelope())
  }

  /**
   * All results, newest first, read page by page on demand. Payments made meanwhile do not shift
   * the pages. Ends at once without results.
   */
  async *all(request: Search, options: RequestOptions = {}): AsyncGenerator<TransactionView> {
    const caller = callerIn(options)
    let fields = { limit: '500', ...(await this.#read(request, options)) } as RequestFields
    for (;;) {
      const page = await search(this.#engine, caller, fields, false).catch((error: unknown) => {
        if (error instanceof GatewayError && error.status === 404) return { entries: [] }
        throw error
      })
      const about = this.#envelope()
      for (const entry of page.entries) yield transactionView(entry, about)
      if (!('nextCursor' in page) || page.nextCursor === undefined) return
      const { pageNo: _, ...rest } = fields
      fields = { ...rest, cursor: page.nextCursor }
    }
  }

  async #read(request: Search, options: RequestOptions): Promise<RequestFields> {
    const caller = callerIn(options)
    const { fields } = await read(this.#engine, caller, 'query.search', { values: request })
    return fields
  }

  #envelope(): Envelope {
    return { ndc: newId(), buildNumber, now: new Date(this.#engine.clock.realMs()) }
  }
}
