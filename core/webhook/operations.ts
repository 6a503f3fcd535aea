/** Operations on webhook endpoints: raw call in, status and body out. */

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
import {
  createEndpoint,
  endEndpoint,
  lookAtEndpoint,
  rotateSecret,
  testEndpoint,
  updateEndpoint,
} from './endpoints.ts'
import { listDeliveries, listEndpoints } from './lists.ts'
import { replay } from './replay.ts'
import {
  type About,
  deliveriesView,
  replayView,
  testView,
  webhooksView,
  webhookView,
} from './view.ts'

type Work = (
  engine: Engine,
  caller: Caller,
  id: string,
  request: Request,
  about: About,
  isGone?: () => boolean,
) => Promise<object>

/** The function behind each operation, and its response. */
export const webhookWork: Readonly<Record<string, Work>> = {
  'webhooks.create': async (engine, caller, _, request, about) =>
    webhookView(await createEndpoint(engine, caller, request), about),
  'webhooks.list': async (engine, caller, _, request, about) =>
    webhooksView(newId(), await listEndpoints(engine, caller, request), about),
  'webhooks.get': async (engine, caller, id, _, about) =>
    webhookView({ endpoint: await lookAtEndpoint(engine, caller, id) }, about),
  'webhooks.update': async (engine, caller, id, request, about) =>
    webhookView(await updateEndpoint(engine, caller, id, request), about),
  'webhooks.remove': async (engine, caller, id, _, about) =>
    webhookView({ endpoint: await endEndpoint(engine, caller, id) }, about),
  'webhooks.rotate': async (engine, caller, id, request, about) =>
    webhookView(await rotateSecret(engine, caller, id, request), about),
  'webhooks.test': async (engine, caller, id, _, about, isGone) =>
    testView(id, await testEndpoint(engine, caller, id, isGone), about),
  'webhooks.replay': async (engine, caller, id, request, about) =>
    replayView(id, await replay(engine, caller, id, request), about),
  'webhooks.deliveries': async (engine, caller, id, request, about) =>
    deliveriesView(id, await listDeliveries(engine, caller, id, request), about),
}

const inBody = new Set([
  'webhooks.create',
  'webhooks.update',
  'webhooks.rotate',
  'webhooks.test',
  'webhooks.replay',
])

export const aboutNow = (engine: Engine, ndc: string, buildNumber: string): About => ({
  ndc,
  buildNumber,
  now: new Date(engine.clock.realMs()),
  environment: engine.environment,
})

export const webhookOperations: Readonly<Record<string, Handler>> = Object.fromEntries(
  Object.entries(webhookWork).map(([operation, work]) => [
    operation,
    async (engine: Engine, caller: Caller, call: Call, build: string): Promise<Reply> => {
      const input = inBody.has(operation) ? bodyOf(call) : queryOf(call)
      const request = await read(engine, caller, operation, input)
      const about = aboutNow(engine, call.requestId, build)
      return {
        status: 200,
        headers: {},
        body: { ...(await work(engine, caller, idIn(call), request, about, call.isGone)) },
      }
    },
  ]),
)
