/** Operations on report destinations: raw call in, status and body out. */
import {
  bodyOf,
  type Call,
  type Handler,
  idIn,
  queryOf,
  type Reply,
  type Request,
  read,
} from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { aboutNow } from '../webhook/operations.ts'
import type { About } from '../webhook/view.ts'
import {
  createDestination,
  endDestination,
  lookAtDestination,
  replayReports,
  testDestination,
  updateDestination,
} from './destinations.ts'
import { listDestinations, listReportDeliveries } from './lists.ts'
import {
  destinationsView,
  destinationView,
  reportDeliveriesView,
  reportReplayView,
  reportTestView,
} from './view.ts'

type Work = (
  engine: Engine,
  caller: Caller,
  id: string,
  request: Request,
  about: About,
) => Promise<object>

/** The function behind each operation, and its response. */
export const destinationWork: Readonly<Record<string, Work>> = {
  'reportDestinations.create': async (engine, caller, _, request, about) =>
    destinationView(await createDestination(engine, caller, request), about),
  'reportDestinations.list': async (engine, caller, _, request, about) =>
    destinationsView(newId(), await listDestinations(engine, caller, request), about),
  'reportDestinations.get': async (engine, caller, id, _, about) =>
    destinationView(await lookAtDestination(engine, caller, id), about),
  'reportDestinations.update': async (engine, caller, id, request, about) =>
    destinationView(await updateDestination(engine, caller, id, request), about),
  'reportDestinations.remove': async (engine, caller, id, _, about) =>
    destinationView(await endDestination(engine, caller, id), about),
  'reportDestinations.test': async (engine, caller, id, _, about) =>
    reportTestView(id, await testDestination(engine, caller, id), about),
  'reportDestinations.replay': async (engine, caller, id, request, about) =>
    reportReplayView(id, await replayReports(engine, caller, id, request), about),
  'reportDestinations.deliveries': async (engine, caller, id, request, about) =>
    reportDeliveriesView(id, await listReportDeliveries(engine, caller, id, request), about),
}

const inBody = new Set([
  'reportDestinations.create',
  'reportDestinations.update',
  'reportDestinations.test',
  'reportDestinations.replay',
])

export const destinationOperations: Readonly<Record<string, Handler>> = Object.fromEntries(
  Object.entries(destinationWork).map(([operation, work]) => [
    operation,
    async (engine: Engine, caller: Caller, call: Call, build: string): Promise<Reply> => {
      const input = inBody.has(operation) ? bodyOf(call) : queryOf(call)
      const request = await read(engine, caller, operation, input)
      const about = aboutNow(engine, call.requestId, build)
      const body = await work(engine, caller, idIn(call), request, about)
      return { status: 200, headers: {}, body: { ...body } }
    },
  ]),
)
