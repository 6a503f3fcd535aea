import type { Requests } from '@tollgate/schemas'
import { read } from '../call.ts'
import { agreedOptions } from '../caller/call-options.ts'
import {
  type AgreedOptions,
  buildNumber,
  callerIn,
  type RequestOptions,
} from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { aboutNow, webhookWork } from './operations.ts'
import type { DeliveriesView, WebhookActionView, WebhooksView, WebhookView } from './view.ts'

/** Endpoints for notifications about payments, registrations and schedules. */
export class Webhooks {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /**
   * The response contains the encryption key and the signing secret, this one time only.
   *
   * @throws GatewayError · ConfirmationNeededError, for wrapper NONE
   */
  readonly create = (
    request: Requests['webhooks.create'],
    options?: AgreedOptions,
  ): Promise<WebhookView> => this.#do('webhooks.create', '', request, options, agreedOptions)
  readonly list = (
    request: Requests['webhooks.list'] = {},
    options?: RequestOptions,
  ): Promise<WebhooksView> => this.#do('webhooks.list', '', request, options)
  /** Also finds removed endpoints. */
  readonly get = (id: string, options?: RequestOptions): Promise<WebhookView> =>
    this.#do('webhooks.get', id, {}, options)
  /** @throws GatewayError · ConfirmationNeededError, when notifications go out, or elsewhere, without encryption */
  readonly update = (
    id: string,
    request: Requests['webhooks.update'],
    options?: AgreedOptions,
  ): Promise<WebhookView> => this.#do('webhooks.update', id, request, options, agreedOptions)
  readonly remove = (id: string, options?: RequestOptions): Promise<WebhookView> =>
    this.#do('webhooks.remove', id, {}, options)
  /**
   * The response contains a new signing secret or encryption key; the previous one stays valid for
   * another day.
   */
  readonly rotate = (
    id: string,
    options?: RequestOptions,
    request: Requests['webhooks.rotate'] = {},
  ): Promise<WebhookView> => this.#do('webhooks.rotate', id, request, options)
  /** Sends a test notification now and returns the response. */
  readonly test = (id: string, options?: RequestOptions): Promise<WebhookActionView> =>
    this.#do('webhooks.test', id, {}, options)
  readonly replay = (
    id: string,
    request: Requests['webhooks.replay'],
    options?: RequestOptions,
  ): Promise<WebhookActionView> => this.#do('webhooks.replay', id, request, options)
  /** Deliveries and their responses, newest first. */
  readonly deliveries = (
    id: string,
    request: Requests['webhooks.deliveries'] = {},
    options?: RequestOptions,
  ): Promise<DeliveriesView> => this.#do('webhooks.deliveries', id, request, options)

  async #do<View>(
    operation: string,
    id: string,
    values: unknown,
    options?: AgreedOptions,
    known?: readonly string[],
  ): Promise<View> {
    const caller = callerIn(options, known)
    const request = await read(this.#engine, caller, operation, { values })
    const about = aboutNow(this.#engine, newId(), buildNumber)
    return (await webhookWork[operation]!(this.#engine, caller, id, request, about)) as View
  }
}
