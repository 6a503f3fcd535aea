/** The operations of the endpoints table, by name: raw request in, status and body out. */

import { resultDescription, results } from '@tollgate/schemas'
import { bodyOf, type Call, type Handler, idIn, queryOf, type Reply, read } from './call.ts'
import type { Caller } from './caller/caller.ts'
import { checkoutOperations } from './checkout/operations.ts'
import type { Engine } from './engine.ts'
import { errorFields } from './error-words.ts'
import { GatewayError } from './errors.ts'
import { eventOperations } from './event-feed/operations.ts'
import { refusalOf } from './gateway-guard.ts'
import { newId } from './ids.ts'
import { createAuthentication, readAuthentication } from './payment/authentication-alone.ts'
import { createPayment, type Done, followUp, readPayment } from './payment/payments.ts'
import { authenticationView, paymentView, refusalView, statusOf } from './payment/view.ts'
import { queryOperations } from './query/operations.ts'
import {
  createRegistration,
  endRegistration,
  extendRegistration,
  payWithRegistration,
  readRegistration,
  updateRegistration,
} from './registration/registrations.ts'
import type { Registration } from './registration/types.ts'
import { registrationView } from './registration/view.ts'
import { reportOperations } from './report/operations.ts'
import { destinationOperations } from './report-delivery/operations.ts'
import { textOf } from './request/values.ts'
import { scheduleOperations } from './schedule/operations.ts'
import { sftpKeyOperations } from './served-files/operations.ts'
import { stepOperations } from './step/operations.ts'
import { clockOperations } from './test-clock/operations.ts'
import { webhookOperations } from './webhook/operations.ts'

const nobody: Caller = { id: 'nobody', entityId: '', rights: 0 }

const handlers: Readonly<Record<string, Handler>> = {
  async 'payments.create'(engine, caller, call, build) {
    // Not held in a variable, which would keep the request in memory until the acquirer responds.
    const done = await read(engine, caller, 'payments.create', bodyOf(call)).then((request) =>
      createPayment(engine, caller, request, call.idempotencyKey),
    )
    return replyTo(done, call, build)
  },
  async 'payments.followUp'(engine, caller, call, build) {
    const request = await read(engine, caller, 'payments.followUp', bodyOf(call))
    const id = call.path?.id ?? ''
    return replyTo(await followUp(engine, caller, id, request, call.idempotencyKey), call, build)
  },
  async 'payments.get'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'payments.get', queryOf(call))
    const id = call.path?.id ?? ''
    const done = await readPayment(engine, caller, id, textOf(fields, 'entityId'))
    return {
      status: 200,
      headers: {},
      body: paymentView(done.payment, done.balance, call.requestId, build),
    }
  },
  async 'threeDSecure.create'(engine, caller, call, build) {
    const request = await read(engine, caller, 'threeDSecure.create', bodyOf(call))
    const done = await createAuthentication(engine, caller, request, call.idempotencyKey)
    return { ...replyTo(done, call, build), body: authenticationView(done, call.requestId, build) }
  },
  async 'threeDSecure.get'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'threeDSecure.get', queryOf(call))
    const entityId = textOf(fields, 'entityId')
    const done = await readAuthentication(engine, caller, idIn(call), entityId)
    return { status: 200, headers: {}, body: authenticationView(done, call.requestId, build) }
  },
  async 'registrations.create'(engine, caller, call, build) {
    const request = await read(engine, caller, 'registrations.create', bodyOf(call))
    const key = call.idempotencyKey
    return replyTo(await createRegistration(engine, caller, request, key), call, build)
  },
  async 'registrations.pay'(engine, caller, call, build) {
    const request = await read(engine, caller, 'registrations.pay', bodyOf(call))
    const key = call.idempotencyKey
    const done = await payWithRegistration(engine, caller, idIn(call), request, key)
    return replyTo(done, call, build)
  },
  async 'registrations.update'(engine, caller, call, build) {
    const request = await read(engine, caller, 'registrations.update', bodyOf(call))
    const registration = await updateRegistration(engine, caller, idIn(call), request)
    return registrationReply(engine, registration, call, build)
  },
  async 'registrations.get'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'registrations.get', queryOf(call))
    const entityId = textOf(fields, 'entityId')
    const registration = await readRegistration(engine, caller, idIn(call), entityId)
    return registrationReply(engine, registration, call, build)
  },
  async 'registrations.extend'(engine, caller, call, build) {
    const request = await read(engine, caller, 'registrations.extend', bodyOf(call))
    const registration = await extendRegistration(engine, caller, idIn(call), request)
    return registrationReply(engine, registration, call, build)
  },
  async 'registrations.remove'(engine, caller, call, build) {
    const request = await read(engine, caller, 'registrations.remove', queryOf(call))
    const registration = await endRegistration(engine, caller, idIn(call), request)
    return registrationReply(engine, registration, call, build)
  },
  ...checkoutOperations,
  ...queryOperations,
  ...scheduleOperations,
  ...clockOperations,
  ...webhookOperations,
  ...destinationOperations,
  ...sftpKeyOperations,
  ...stepOperations,
  ...eventOperations,
  ...reportOperations,
  async 'resultCodes.list'() {
    const resultCodes = results.map(([code]) => ({ code, description: resultDescription(code) }))
    return { status: 200, headers: {}, body: { resultCodes } }
  },
}

async function registrationReply(
  engine: Engine,
  registration: Registration,
  call: Call,
  build: string,
): Promise<Reply> {
  const now = new Date(engine.clock.realMs())
  const settings = await engine.directory.settings(registration.channelId)
  return {
    status: 200,
    headers: {},
    body: registrationView(registration, settings, call.requestId, build, now),
  }
}

function replyTo(done: Done, call: Call, build: string): Reply {
  return {
    status: statusOf(done.payment),
    headers: done.replayed === true ? { 'Idempotent-Replayed': 'true' } : {},
    body: paymentView(done.payment, done.balance, call.requestId, build),
  }
}

/** True when the engine itself answers this operation. */
export function isEngineOperation(operation: string): boolean {
  return Object.hasOwn(handlers, operation)
}

/** Answers a call. Never throws: refusals and faults are replies of the same shape. */
export async function answer(
  engine: Engine,
  operation: string,
  caller: Caller | null,
  call: Call,
  build: string,
): Promise<Reply> {
  try {
    return await handlers[operation]!(engine, caller ?? nobody, call, build)
  } catch (error) {
    return refusalReply(engine, error, call.requestId, build)
  }
}

/** The client's view of a refusal or of an internal error. */
export function refusalReply(
  engine: Engine,
  error: unknown,
  requestId: string,
  build: string,
): Reply {
  const known = refusalOf(error, { isClosed: false })
  const refusal = known instanceof GatewayError ? known : fault(engine, error, requestId)
  const { status, retryAfterSeconds } = refusal
  return {
    status,
    headers: {
      ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
      ...(status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    },
    body: refusalView(refusal, newId(), requestId, build, new Date(engine.clock.realMs())),
  }
}

/** The client learns nothing of a fault but its number; the log gets its kind and place, no values. */
function fault(engine: Engine, error: unknown, requestId: string): GatewayError {
  engine.log.warn(
    { request: requestId, ...errorFields(error) },
    'a request failed through a fault of the gateway',
  )
  return new GatewayError('600.100.100', { status: 500 })
}
