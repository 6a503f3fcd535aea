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
  callerIn,
  embedder,
  type RequestOptions,
} from '../caller/embedder.ts'
import { clientOf, inOpenTransaction } from '../db/open-transaction.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import type { Done } from '../payment/payments.ts'
import { type PaymentView, paymentView } from '../payment/view.ts'
import {
  createRegistration,
  endRegistration,
  extendRegistration,
  payWithRegistration,
  readRegistration,
  sameAccount,
  updateRegistration,
} from './registrations.ts'
import type { Registration } from './types.ts'
import { type RegistrationView, registrationView, type VerificationView } from './view.ts'

/**
 * Registrations: accounts that are stored for later payments. Answers are masked: a number is never
 * given back.
 *
 * @throws GatewayError like `payments`; 100.150.2xx when a registration is unknown or not usable.
 */
export class Registrations {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  readonly create = (
    request: Requests['registrations.create'],
    options: RequestOptions = {},
  ): Promise<VerificationView> =>
    this.#paid(async (caller) => {
      const asked = await this.#read(caller, 'registrations.create', request)
      return createRegistration(this.#engine, caller, asked, options.idempotencyKey)
    }, options)
  readonly get = (id: string, options: RequestOptions = {}): Promise<RegistrationView> =>
    this.#view('registrations.get', {}, options, (caller) => {
      requireId(id)
      return readRegistration(this.#engine, caller, id, undefined)
    })
  readonly pay = (
    id: string,
    request: Requests['registrations.pay'],
    options: RequestOptions = {},
  ): Promise<PaymentView> =>
    this.#paid(async (caller) => {
      const asked = await this.#read(caller, 'registrations.pay', request)
      return payWithRegistration(this.#engine, caller, id, asked, options.idempotencyKey)
    }, options)
  /** Queues the payment in a transaction of the embedding program, as `payments.accept` does. */
  readonly accept = async (
    id: string,
    request: Requests['registrations.pay'],
    options: AcceptOptions,
  ): Promise<PaymentView> => {
    refuseUnknownOptions(options, acceptOptions)
    // Rights come before everything else that may be wrong.
    const asked = await this.#read(options?.caller ?? embedder, 'registrations.pay', request)
    return inOpenTransaction(this.#engine.lanes, clientOf(options), (within) =>
      this.#paidOf(
        (caller) =>
          payWithRegistration(this.#engine, caller, id, asked, options.idempotencyKey, within),
        options,
      ),
    )
  }
  readonly update = (
    id: string,
    request: Requests['registrations.update'],
    options: RequestOptions = {},
  ): Promise<RegistrationView> =>
    this.#view('registrations.update', request, options, (caller, asked) =>
      updateRegistration(this.#engine, caller, id, asked),
    )
  readonly extend = (id: string, options: RequestOptions = {}): Promise<RegistrationView> =>
    this.#view('registrations.extend', {}, options, (caller, asked) =>
      extendRegistration(this.#engine, caller, id, asked),
    )
  readonly remove = (id: string, options: RequestOptions = {}): Promise<RegistrationView> =>
    this.#view('registrations.remove', {}, options, (caller, asked) =>
      endRegistration(this.#engine, caller, id, asked),
    )
  /** Ids of the usable registrations that hold the same account as this one, itself included. */
  readonly sameAccount = async (id: string, options: RequestOptions = {}): Promise<string[]> => {
    const caller = callerIn(options)
    await this.#read(caller, 'registrations.get', {})
    return sameAccount(this.#engine, caller, id)
  }

  #read(caller: Caller, operation: string, values: unknown): Promise<Request> {
    return read(this.#engine, caller, operation, { values })
  }

  async #paid(
    work: (caller: Caller) => Promise<Done>,
    options: RequestOptions | undefined,
  ): Promise<PaymentView> {
    refuseUnknownOptions(options, requestOptions)
    return this.#paidOf(work, options)
  }

  async #paidOf(
    work: (caller: Caller) => Promise<Done>,
    options: CallOptions | undefined,
  ): Promise<PaymentView> {
    const { payment, balance } = await work(options?.caller ?? embedder)
    return paymentView(payment, balance, newId(), buildNumber)
  }

  async #view(
    operation: string,
    values: unknown,
    options: RequestOptions,
    work: (caller: Caller, request: Request) => Promise<Registration>,
  ): Promise<RegistrationView> {
    const caller = callerIn(options)
    const registration = await work(caller, await this.#read(caller, operation, values))
    const now = new Date(this.#engine.clock.realMs())
    const settings = await this.#engine.directory.settings(registration.channelId)
    return registrationView(registration, settings, newId(), buildNumber, now)
  }
}
