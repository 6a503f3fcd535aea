/** Authentications by themselves: payment type 3D, of which no acquirer ever hears. */
import type { RequestFields, Sensitive } from '@tollgate/plugin-kit'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { refuse, textOf } from '../request/values.ts'
import { enquire } from '../three-d-secure/ask.ts'
import { authenticationRequest } from '../three-d-secure/request.ts'
import { hasExternalValues } from '../three-d-secure/wanted.ts'
import { authenticatorOf } from './authentication-return.ts'
import { idempotencyOf } from './idempotency.ts'
import { type Done, payFirst, readPayment } from './payments.ts'
import type { Payment } from './types.ts'

export type Authenticated = Done & {
  /** The proof for a payment elsewhere, asked again at the authenticator each time and never stored. */
  readonly verificationId?: Sensitive
}

const path = '/v1/threeDSecure'

export async function createAuthentication(
  engine: Engine,
  caller: Caller,
  request: Request,
  idempotencyKey: string | undefined,
): Promise<Authenticated> {
  const { fields } = request
  refuseOtherTypes(fields)
  const addressee = await engine.directory.addressee(caller, textOf(fields, 'entityId'))
  const entityId = textOf(fields, 'entityId') ?? addressee.id
  const idempotency = idempotencyOf(engine, idempotencyKey, entityId, path, request.names)
  const use = { only: 'authentication', caller } as const
  return withProof(engine, await payFirst(engine, addressee, request, idempotency, use))
}

/** @throws GatewayError 404 when the caller sees no such authentication. */
export async function readAuthentication(
  engine: Engine,
  caller: Caller,
  id: string,
  entityId: string | undefined,
): Promise<Authenticated> {
  const done = await readPayment(engine, caller, id, entityId)
  if (done.payment.effect !== 'authentication')
    throw new GatewayError('700.400.580', { status: 404 })
  return withProof(engine, done)
}

function refuseOtherTypes(fields: RequestFields): void {
  const type = textOf(fields, 'paymentType')
  if (type !== undefined && type !== '3D') {
    throw refuse('200.300.404', 'paymentType', 'is 3D here; payments go to /v1/payments', type)
  }
  if (!hasExternalValues(fields)) return
  throw refuse('200.300.404', 'threeDSecure', 'holds values of an authentication elsewhere')
}

async function withProof(engine: Engine, done: Done): Promise<Authenticated> {
  const proof = await proofOf(engine, done.payment)
  return proof === undefined ? done : { ...done, verificationId: proof }
}

async function proofOf(engine: Engine, payment: Payment): Promise<Sensitive | undefined> {
  const record = payment.answer.authentication
  if (payment.state !== 'approved' || record === undefined) return undefined
  const target = await authenticatorOf(engine, payment)
  const request = authenticationRequest(engine, payment, record, undefined)
  const said = await enquire(engine, { payment, lease: 0 }, target, request)
  return 'verificationId' in said ? said.verificationId : undefined
}
