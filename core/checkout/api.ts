import type { RequestFields } from '@tollgate/plugin-kit'
import type { Requests } from '@tollgate/schemas'
import { type Answered, type Request, read } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import { buildNumber, callerIn, type RequestOptions } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { openRequest } from '../request/parse.ts'
import { createCheckout, endCheckout, type Made, updateCheckout } from './checkouts.ts'
import type { Connection } from './complete-request.ts'
import { held } from './find.ts'
import { type Offer, offerOf } from './offer.ts'
import { type StateView, type Submitted, stateView } from './reply.ts'
import { aboutCheckout, type CheckoutResultView, readResult } from './result.ts'
import { submit } from './submission.ts'

export type CheckoutView = Answered & { integrity?: string }

/**
 * Checkouts: payments that a shopper makes in the browser, by a page of this installation.
 *
 * @throws GatewayError like `payments`; 200.300.404 for an unknown, expired or removed checkout.
 */
export class Checkouts {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  readonly create = async (
    request: Requests['checkouts.create'],
    options: RequestOptions = {},
  ): Promise<CheckoutView> => {
    const caller = callerIn(options)
    const asked = await this.#read(caller, 'checkouts.create', request)
    return this.#view(await createCheckout(this.#engine, caller, asked), '000.200.100')
  }

  readonly update = async (
    id: string,
    request: Requests['checkouts.update'],
    options: RequestOptions = {},
  ): Promise<CheckoutView> => {
    const caller = callerIn(options)
    const asked = await this.#read(caller, 'checkouts.update', request)
    return this.#view(await updateCheckout(this.#engine, caller, id, asked), '000.200.101')
  }

  readonly remove = async (id: string, options: RequestOptions = {}): Promise<CheckoutView> => {
    const caller = callerIn(options)
    const { fields } = await this.#read(caller, 'checkouts.remove', {})
    const checkout = await endCheckout(this.#engine, caller, id, fields)
    return this.#view({ checkout }, '000.200.102')
  }

  /** The payment in the checkout, or 000.200.000 while there is none or an open one. */
  readonly payment = async (
    id: string,
    options: RequestOptions = {},
  ): Promise<CheckoutResultView> => {
    const caller = callerIn(options)
    const { fields } = await this.#read(caller, 'checkouts.payment', {})
    return readResult(this.#engine, caller, id, fields, buildNumber)
  }

  /** The same for a checkout that only stores an account. */
  readonly registration = async (
    id: string,
    options: RequestOptions = {},
  ): Promise<CheckoutResultView> => {
    const caller = callerIn(options)
    const { fields } = await this.#read(caller, 'checkouts.registration', {})
    return readResult(this.#engine, caller, id, fields, buildNumber)
  }

  /** @param press whose own payment is told with the way to its bank and the page that it named. */
  readonly state = async (id: string, press: { nonce?: string } = {}): Promise<StateView> =>
    stateView(this.#engine, await held(this.#engine, id), press.nonce)

  /** What the widget shows. */
  readonly offer = (id: string): Promise<Offer> => offerOf(this.#engine, id)

  /** A press of the pay button, on behalf of a shopper's browser. */
  readonly submit = (
    id: string,
    submission: Requests['checkouts.pay'],
    from: Connection = {},
  ): Promise<Submitted> => {
    const reading = (): Request => {
      const { request, names } = openRequest('checkouts.pay', { values: submission }).check()
      return { fields: request as RequestFields, names }
    }
    return this.#engine.inFlight.track(submit(this.#engine, id, reading, from))
  }

  #read(caller: Caller, operation: string, values: unknown): Promise<Request> {
    return read(this.#engine, caller, operation, { values })
  }

  #view({ checkout, integrity }: Made, code: string): CheckoutView {
    const now = new Date(this.#engine.clock.realMs())
    const more = integrity === undefined ? {} : { integrity }
    return aboutCheckout(checkout, code, buildNumber, now, more)
  }
}
