/** Operations of the query: raw call in, status and body out. */

import { type Call, type Handler, idIn, queryOf, read } from '../call.ts'
import type { Engine } from '../engine.ts'
import { getTransactions, isLinked, search } from './queries.ts'
import { type Envelope, type QueryView, queryView, transactionView } from './view.ts'

export const queryOperations: Readonly<Record<string, Handler>> = {
  async 'query.search'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'query.search', queryOf(call))
    const isLater = isVersion3(call)
    const listed = await search(engine, caller, fields, isLater)
    return ok(listView(queryView(listed, envelope(engine, call, build)), isLater))
  },
  async 'query.get'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'query.get', queryOf(call))
    const entries = await getTransactions(engine, caller, idIn(call), fields)
    const about = envelope(engine, call, build)
    if (!isLinked(fields)) return ok(transactionView(entries[0]!, about))
    // All linked transactions stand on one page.
    return ok(listView(queryView({ entries, pages: 1 }, about), isVersion3(call)))
  },
}

const isVersion3 = ({ route }: Call) => route?.startsWith('/v3/') === true

/** Version 1 has another name for the list, and no pages. */
function listView(view: QueryView, isVersion3: boolean): Readonly<Record<string, unknown>> {
  if (isVersion3) return view
  const { records: payments, pages: _, ...rest } = view
  return { ...rest, payments }
}

function envelope(engine: Engine, call: Call, buildNumber: string): Envelope {
  return { ndc: call.requestId, buildNumber, now: new Date(engine.clock.realMs()) }
}

const ok = (body: Readonly<Record<string, unknown>>) => ({ status: 200, headers: {}, body })
