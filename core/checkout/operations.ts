/** The operations on checkouts: raw call in, status and body out. */

import type { RequestFields } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { bodyOf, type Call, type Handler, idIn, queryOf, type Reply, read } from '../call.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import type { RequestInput } from '../request/decode.ts'
import { openRequest } from '../request/parse.ts'
import { createCheckout, endCheckout, type Made, updateCheckout } from './checkouts.ts'
import { held } from './find.ts'
import { offerOf } from './offer.ts'
import { stateView } from './reply.ts'
import { aboutCheckout, readResult } from './result.ts'
import { submit } from './submission.ts'
import { walletSession } from './wallets.ts'

export const checkoutOperations: Readonly<Record<string, Handler>> = {
  async 'checkouts.create'(engine, caller, call, build) {
    const request = await read(engine, caller, 'checkouts.create', bodyOf(call))
    return madeReply(engine, await createCheckout(engine, caller, request), '000.200.100', build)
  },
  async 'checkouts.update'(engine, caller, call, build) {
    const request = await read(engine, caller, 'checkouts.update', bodyOf(call))
    const made = await updateCheckout(engine, caller, idIn(call), request)
    return madeReply(engine, made, '000.200.101', build)
  },
  async 'checkouts.remove'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'checkouts.remove', queryOf(call))
    const checkout = await endCheckout(engine, caller, idIn(call), fields)
    return madeReply(engine, { checkout }, '000.200.102', build)
  },
  async 'checkouts.payment'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'checkouts.payment', queryOf(call))
    return ok(await readResult(engine, caller, idIn(call), fields, build))
  },
  async 'checkouts.registration'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'checkouts.registration', queryOf(call))
    return ok(await readResult(engine, caller, idIn(call), fields, build))
  },
  'checkouts.pay': (engine, _, call) => submitted(engine, call, 'checkouts.pay'),
  'checkouts.register': (engine, _, call) => submitted(engine, call, 'checkouts.register'),
  async 'checkouts.state'(engine, _, call) {
    return ok(await stateView(engine, await held(engine, idIn(call)), nonceIn(call)))
  },
  async 'checkouts.walletSession'(engine, _, call) {
    const { request } = openRequest('checkouts.walletSession', queryOf(call)).check()
    return ok({ session: await walletSession(engine, idIn(call), request as RequestFields) })
  },
  async 'checkouts.widget'(engine, _, call) {
    return ok(await offerOf(engine, idIn(call)))
  },
}

/** Of the press that asks; anything else in the query means nothing, as in any question about the state. */
const nonceIn = ({ query = '' }: Call): string | undefined =>
  new URLSearchParams(query.slice(0, 256)).get('nonce') ?? undefined

const ok = (body: object): Reply => ({ status: 200, headers: {}, body: body as Reply['body'] })

function madeReply(
  engine: Engine,
  { checkout, integrity }: Made,
  code: string,
  build: string,
): Reply {
  const now = new Date(engine.clock.realMs())
  return ok(aboutCheckout(checkout, code, build, now, integrity === undefined ? {} : { integrity }))
}

/** The widget sends JSON with the flat names of a form; a nested body is read as everywhere else. */
function submissionOf(call: Call): RequestInput {
  const length = call.body?.length ?? 0
  if (length > limits.checkoutSubmissionBytes) {
    throw new GatewayError('200.300.404', {
      description: `A submission may have at most ${limits.checkoutSubmissionBytes} bytes.`,
    })
  }
  // A browser's page owns its address, and shoppers cannot correct it.
  const input = bodyOf({ ...call, query: '' })
  return 'json' in input ? { ...input, names: 'flat' } : input
}

async function submitted(engine: Engine, call: Call, operation: string): Promise<Reply> {
  const { address, accept, requestId: ndc } = call
  const reading = () => {
    const { request, names } = openRequest(operation, submissionOf(call)).check()
    return { fields: request as RequestFields, names }
  }
  const isToStore = operation === 'checkouts.register'
  const reply = submit(engine, idIn(call), reading, { address, accept, ndc }, isToStore)
  return ok(await engine.inFlight.track(reply))
}
