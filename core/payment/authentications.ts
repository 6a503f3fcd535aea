import type { Requests } from '@tollgate/schemas'
import { read } from '../call.ts'
import { buildNumber, embedder, type RequestOptions } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { createAuthentication, readAuthentication } from './authentication-alone.ts'
import { authenticationView, type PaymentView } from './view.ts'

/** Authentications without a payment, for embedders. Their views hold the proof for a payment elsewhere. */
export class Authentications {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** @throws GatewayError when the request is refused, or nobody authenticates on this channel. */
  readonly create = async (
    values: Requests['threeDSecure.create'],
    { caller = embedder, idempotencyKey }: RequestOptions = {},
  ): Promise<PaymentView> => {
    const request = await read(this.#engine, caller, 'threeDSecure.create', { values })
    const done = await createAuthentication(this.#engine, caller, request, idempotencyKey)
    return authenticationView(done, newId(), buildNumber)
  }

  /** @throws GatewayError 404 when the caller sees no such authentication. */
  readonly get = async (
    id: string,
    { caller = embedder }: RequestOptions = {},
  ): Promise<PaymentView> => {
    await read(this.#engine, caller, 'threeDSecure.get', { values: {} })
    const done = await readAuthentication(this.#engine, caller, id, undefined)
    return authenticationView(done, newId(), buildNumber)
  }
}
