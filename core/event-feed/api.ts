import type { Requests } from '@tollgate/schemas'
import { read } from '../call.ts'
import { requestOptions } from '../caller/call-options.ts'
import { buildNumber, callerIn, type RequestOptions } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { approvedCode } from '../payment/decide.ts'
import type { Envelope } from '../schedule/view.ts'
import { readFeed, readNotification } from './feed.ts'
import { type EventsView, eventsView, type OneEventView, oneEventView } from './view.ts'

/** Events in an order that consumers can follow: begin anywhere, continue from `nextCursor`. */
export class Events {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /**
   * Notifications, oldest first. With `wait` an empty page comes only after so many seconds; the wait
   * ends early when `signal` is aborted.
   */
  readonly list = async (
    request: Requests['events.list'] = {},
    options: RequestOptions & { readonly signal?: AbortSignal } = {},
  ): Promise<EventsView> => {
    const caller = callerIn(options, [...requestOptions, 'signal'])
    const checked = await read(this.#engine, caller, 'events.list', { values: request })
    const isGone = () => options.signal?.aborted === true
    const page = await readFeed(this.#engine, caller, checked, isGone)
    return eventsView(page, this.#envelope())
  }
  /** @throws GatewayError 404 when there is none with this id. */
  readonly get = async (id: string, options: RequestOptions = {}): Promise<OneEventView> => {
    const caller = callerIn(options)
    await read(this.#engine, caller, 'events.get', { values: {} })
    const notification = await readNotification(this.#engine, caller, id, undefined)
    return oneEventView(notification, this.#code, this.#envelope())
  }

  get #code(): string {
    return approvedCode[this.#engine.environment === 'test' ? 'INTERNAL' : 'LIVE']
  }

  #envelope(): Envelope {
    return { ndc: newId(), buildNumber, now: new Date(this.#engine.clock.realMs()) }
  }
}
