/**
 * Subscriptions of the embedding program: a handler gets every event of the feed once, also those from
 * the time when no process ran.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '@tollgate/schemas'
import { refuseUnknownOptions } from '../caller/call-options.ts'
import { embedder } from '../caller/embedder.ts'
import type { Client } from '../db/database.ts'
import { isOutage } from '../db/failures.ts'
import { lend, type ProgramClient, UnfinishedStatements } from '../db/program-client.ts'
import { tellFailure } from '../db/tell-failure.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { programReason } from '../redaction/program-error.ts'
import { type NotificationType, notificationTypes } from '../webhook/notified-events.ts'
import { cursorBehind, firstCursor, readFeed } from './feed.ts'
import {
  beginSubscription,
  holdSubscription,
  keepUp,
  moveSubscription,
  type Place,
  placeOfSubscription,
} from './store-subscription.ts'
import { type EventView, eventView } from './view.ts'

export type SubscriptionContext = {
  /**
   * A client inside a transaction, as in `pg`. What the handler writes with it commits together with the
   * position, so it happens once for each event. The handler does not end the transaction, and awaits each
   * statement. The client refuses statements once the handler has ended, failed or used up its time.
   */
  readonly client: ProgramClient
  /**
   * Aborted when the time of the handler is over, and when the subscription or the gateway closes. A handler
   * that fails then gets the event again.
   */
  readonly signal: AbortSignal
}

/** An error leaves the event where it is, and the handler gets it again. */
export type SubscriptionHandler = (
  event: EventView,
  context: SubscriptionContext,
) => Promise<void> | void

export type SubscribeOptions = {
  /** Default: all types. */
  readonly types?: readonly NotificationType[]
  /** Where a new subscription begins. An existing one continues where it was. Default `now`. */
  readonly from?: 'now' | 'beginning'
}

/** A running subscription. Closing it keeps its position for the next process. */
export interface Subscription extends AsyncDisposable {
  close(): Promise<void>
}

export class Subscriptions {
  readonly #engine: Engine
  readonly #running = new Map<string, Follower>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** @throws GatewayError 200.300.404 naming a wrong argument. */
  async start(
    name: string,
    handler: SubscriptionHandler,
    options: SubscribeOptions,
  ): Promise<Subscription> {
    refuseUnknownOptions(options, ['types', 'from'])
    const { types = notificationTypes, from = 'now' } = options
    check(name, handler, types, from)
    if (this.#running.has(name)) throw wrong('name', 'is subscribed in this process already')
    const follower = new Follower(this.#engine, name, handler, types)
    this.#running.set(name, follower)
    const close = async () => {
      await follower.close()
      // A newer one may have the name by now.
      if (this.#running.get(name) === follower) this.#running.delete(name)
    }
    try {
      await this.#engine.lanes.single(
        beginSubscription(name, await firstCursor(this.#engine, from)),
      )
    } catch (error) {
      this.#running.delete(name)
      throw error
    }
    follower.follow()
    return { close, [Symbol.asyncDispose]: close }
  }

  /** Resolves when no handler runs any more. */
  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map((follower) => follower.close()))
  }
}

const wrong = (name: string, message: string) =>
  new GatewayError('200.300.404', { parameterErrors: [{ name, message }] })

function check(name: unknown, handler: unknown, types: readonly unknown[], from: unknown): void {
  if (typeof name !== 'string' || !/^[\x21-\x7e]{1,100}$/.test(name)) {
    throw wrong('name', 'must be 1 to 100 visible ASCII characters')
  }
  if (typeof handler !== 'function') throw wrong('handler', 'must be a function')
  const known: readonly unknown[] = notificationTypes
  if (types.length === 0 || !types.every((type) => known.includes(type))) {
    throw wrong('types', `must be some of ${notificationTypes.join(', ')}`)
  }
  if (from !== 'now' && from !== 'beginning') throw wrong('from', "must be 'now' or 'beginning'")
}

/** The database was away, for the engine or for a call of the handler. */
const isAway = (error: unknown) => isOutage(error) || isOutage((error as Error | null)?.cause)

type Failed = {
  readonly event: string
  readonly type: NotificationType
  readonly attempt: number
  readonly error: unknown
}

class Follower {
  readonly #engine: Engine
  readonly #name: string
  readonly #handler: SubscriptionHandler
  readonly #types: readonly NotificationType[]
  readonly #closing = new AbortController()
  #following: Promise<void> = Promise.resolve()
  /** The last failure of the handler, and how often it had this event by then. */
  #failed: Failed | undefined

  constructor(
    engine: Engine,
    name: string,
    handler: SubscriptionHandler,
    types: readonly NotificationType[],
  ) {
    this.#engine = engine
    this.#name = name
    this.#handler = handler
    this.#types = types
  }

  follow(): void {
    this.#following = this.#follow()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#following
  }

  get #ending(): AbortSignal {
    return AbortSignal.any([this.#closing.signal, this.#engine.inFlight.ending])
  }

  get #isOver(): boolean {
    return this.#closing.signal.aborted || this.#engine.inFlight.closing
  }

  async #follow(): Promise<void> {
    let failures = 0
    while (!this.#isOver) {
      try {
        await this.#round(() => {
          failures = 0
        })
      } catch (error) {
        // An outage says nothing about the event, and the first one after it should not wait.
        failures = isAway(error) ? 1 : failures + 1
        this.#tellFailed(error)
        await this.#pause(
          Math.min(limits.subscriptionRetryMs * 2 ** (failures - 1), limits.subscriptionRetryMaxMs),
        )
      }
    }
  }

  #tellFailed(error: unknown): void {
    // A handler that gives up at the end of its gateway does what its signal asks for.
    if (this.#isOver) return
    const { log } = this.#engine
    const text = 'a subscription failed, and gets its event again'
    const failed = this.#failed?.error === error ? this.#failed : undefined
    const about =
      failed === undefined
        ? {}
        : {
            event: failed.event,
            type: failed.type,
            attempt: failed.attempt,
            ...programReason(error),
          }
    tellFailure(log, error, text, { subscription: this.#name, ...about })
  }

  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#ending }).catch(() => {})
  }

  /** Reads a page, waiting for one, and hands its events over. */
  async #round(moved: () => void): Promise<void> {
    const engine = this.#engine
    const [start] = await engine.lanes.read(placeOfSubscription(this.#name))
    if (start === undefined) throw new Error('the subscription has no row')
    const fields = {
      cursor: await this.#cursorOf(start),
      types: this.#types.join(','),
      limit: String(limits.subscriptionPage),
      wait: String(limits.subscriptionWaitMs / 1_000),
    }
    const page = await readFeed(engine, embedder, { fields, names: [] }, () => this.#isOver)
    const events = page.notifications
    let place = start
    for (let at = 0; at < events.length && !this.#isOver; at += 1) {
      const isLast = at === events.length - 1
      const to = { cursor: isLast ? page.nextCursor : page.cursors[at]!, handled: null }
      const isMine = await engine.inFlight.track(this.#take(eventView(events[at]!), place, to))
      if (!isMine) return this.#pause(limits.subscriptionHeldMs)
      place = to
      moved()
    }
    if (events.length === 0 && !this.#isOver) {
      await engine.lanes.single(keepUp(this.#name, start, page.nextCursor))
    }
  }

  /** Processes of an earlier version left the cursor of a page, and the event that they took last in it. */
  async #cursorOf({ cursor, handled }: Place): Promise<string> {
    return (handled === null ? undefined : await cursorBehind(this.#engine, handled)) ?? cursor
  }

  /**
   * One event, its handler's work and the new position in one commit.
   *
   * @returns false when another process handles the events now, or has moved on.
   */
  #take(event: EventView, from: Place, to: Place): Promise<boolean> {
    const { lanes } = this.#engine
    return lanes.ofProgram(async (client) => {
      const { schema } = lanes.database
      const [held] = await lanes.database.query(client, holdSubscription(this.#name, schema))
      const isHere = held?.cursor === from.cursor && held.handled === from.handled
      if (held?.held !== true || !isHere) return false
      await this.#handle(event, client)
      const [moved] = await lanes.database.query(client, moveSubscription(this.#name, from, to))
      if (moved === undefined) throw new Error('the position moved while the handler ran')
      return true
    })
  }

  async #handle(event: EventView, client: Client): Promise<void> {
    const over = new AbortController()
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      over.abort()
      late.reject(new SubscriptionTimeout())
    }, limits.subscriptionHandlerMs)
    const loan = lend(client)
    const { id, type } = event
    try {
      const signal = AbortSignal.any([over.signal, this.#ending])
      const handled = this.#handler(event, { client: loan.client, signal })
      await Promise.race([handled, late.promise])
      if (loan.isBusy()) throw new UnfinishedStatements()
    } catch (error) {
      const attempt = this.#failed?.event === id ? this.#failed.attempt + 1 : 1
      this.#failed = { event: id, type, attempt, error }
      throw error
    } finally {
      loan.end()
      clearTimeout(timer)
    }
  }
}

/** The handler did not end in time. */
class SubscriptionTimeout extends Error {
  override readonly name = 'SubscriptionTimeout'
}
