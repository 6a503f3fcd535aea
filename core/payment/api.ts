import type { Requests } from '@tollgate/schemas'
import { type Request, read } from '../call.ts'
import {
  acceptOptions,
  refuseUnknownOptions,
  requestOptions,
  requireId,
} from '../caller/call-options.ts'
import type { Caller } from '../caller/caller.ts'
import {
  type AcceptOptions,
  buildNumber,
  type CallOptions,
  embedder,
  type RequestOptions,
} from '../caller/embedder.ts'
import { clientOf, inOpenTransaction, type OpenTransaction } from '../db/open-transaction.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { refuse } from '../request/values.ts'
import { createPayment, type Done, followUp, readPayment } from './payments.ts'
import { type PaymentView, paymentView } from './view.ts'

/** The request of a follow-up by a method such as `capture`, which sets its `paymentType`. */
export type FollowUpRequest = Omit<Requests['payments.followUp'], 'paymentType'>

/**
 * The request of a method that says its type itself.
 *
 * @throws GatewayError when the request names another type.
 */
function typed<Type extends 'CP' | 'RF' | 'RV' | 'RB'>(
  request: FollowUpRequest,
  paymentType: Type,
) {
  const given = (request as { paymentType?: unknown } | undefined)?.paymentType
  if (given !== undefined && given !== paymentType) {
    throw refuse('200.300.404', 'paymentType', `is ${paymentType} for this method: use followUp`)
  }
  return { ...request, paymentType }
}

/**
 * Payments. Requests are the nested fields of the API, with strings as values. Responses equal those
 * of the host. A declined payment is a response, not an error.
 *
 * @throws GatewayError when a request is refused: bad input, wrong state, limits.
 */
export class Payments {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  readonly create = (
    request: Requests['payments.create'],
    options: RequestOptions = {},
  ): Promise<PaymentView> =>
    this.#view(async (caller) => {
      const asked = await this.#read(caller, 'payments.create', request)
      return createPayment(this.#engine, caller, asked, options.idempotencyKey)
    }, options)
  /**
   * Writes the payment in a transaction of the embedding program, with its own rows. A process sends the
   * payment after the commit; until then the response is 000.200.001. A payment that is not committed
   * and sent within an hour is declined with 900.100.600.
   */
  readonly accept = (
    request: Requests['payments.create'],
    options: AcceptOptions,
  ): Promise<PaymentView> =>
    this.#accept('payments.create', request, options, (caller, asked, within) =>
      createPayment(this.#engine, caller, asked, options.idempotencyKey, within),
    )
  readonly get = (id: string, options: RequestOptions = {}): Promise<PaymentView> =>
    this.#view(async (caller) => {
      requireId(id)
      await this.#read(caller, 'payments.get', {})
      return readPayment(this.#engine, caller, id, undefined)
    }, options)
  readonly followUp = (
    id: string,
    request: Requests['payments.followUp'],
    options: RequestOptions = {},
  ): Promise<PaymentView> =>
    this.#view(async (caller) => {
      requireId(id)
      const asked = await this.#read(caller, 'payments.followUp', request)
      return followUp(this.#engine, caller, id, asked, options.idempotencyKey)
    }, options)
  /** Writes a follow-up in a transaction of the embedding program, as `accept` does. */
  readonly acceptFollowUp = (
    id: string,
    request: Requests['payments.followUp'],
    options: AcceptOptions,
  ): Promise<PaymentView> =>
    this.#accept('payments.followUp', request, options, (caller, asked, within) =>
      followUp(this.#engine, caller, id, asked, options.idempotencyKey, { within }),
    )
  readonly capture = async (id: string, request: FollowUpRequest, options?: RequestOptions) =>
    this.followUp(id, typed(request, 'CP'), options)
  readonly refund = async (id: string, request: FollowUpRequest, options?: RequestOptions) =>
    this.followUp(id, typed(request, 'RF'), options)
  readonly reverse = async (id: string, request: FollowUpRequest = {}, options?: RequestOptions) =>
    this.followUp(id, typed(request, 'RV'), options)
  readonly rebill = async (id: string, request: FollowUpRequest, options?: RequestOptions) =>
    this.followUp(id, typed(request, 'RB'), options)

  #read(caller: Caller, operation: string, values: unknown): Promise<Request> {
    return read(this.#engine, caller, operation, { values })
  }

  /** The response is a part of the work: an error in it undoes what was written, too. */
  async #accept(
    operation: string,
    request: unknown,
    options: AcceptOptions,
    work: (caller: Caller, asked: Request, within: OpenTransaction) => Promise<Done>,
  ): Promise<PaymentView> {
    refuseUnknownOptions(options, acceptOptions)
    // Rights come before everything else that may be wrong.
    const asked = await this.#read(options?.caller ?? embedder, operation, request)
    return inOpenTransaction(this.#engine.lanes, clientOf(options), (within) =>
      this.#viewOf((caller) => work(caller, asked, within), options),
    )
  }

  async #view(
    work: (caller: Caller) => Promise<Done>,
    options: RequestOptions | undefined,
  ): Promise<PaymentView> {
    refuseUnknownOptions(options, requestOptions)
    return this.#viewOf(work, options)
  }

  async #viewOf(
    work: (caller: Caller) => Promise<Done>,
    options: CallOptions | undefined,
  ): Promise<PaymentView> {
    const { payment, balance } = await work(options?.caller ?? embedder)
    return paymentView(payment, balance, newId(), buildNumber)
  }
}
