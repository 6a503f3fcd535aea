/** Waits for events on behalf of many clients, with one query for all of them. */
import { limits } from '@tollgate/schemas'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { lowestIdAt } from '../ids.ts'
import type { SharedPlaces } from '../process/shared-room.ts'
import { halfOfReads } from '../query/read-limiter.ts'
import { isBefore, type Position } from './position.ts'
import { channelsWithNews } from './store.ts'

type Place = Pick<Position, 'txid' | 'seq' | 'id'>

type Waiter = {
  readonly channels: ReadonlySet<string>
  /** The client has read everything up to this position. */
  readonly after: Place
  readonly until: number
  /** True when the client has disconnected. */
  readonly isGone: () => boolean
  readonly wake: () => void
}

/** New events have ids of the last day. The read at the end of the wait finds all others. */
const recentMs = 24 * 3_600_000

const tooMany = (
  whose: string,
  whatFor = 'wait for events in this process; ask without wait, or with fewer at once',
) =>
  new GatewayError('800.120.100', {
    status: 429,
    retryAfterSeconds: 1,
    description: `too many requests, try again later: too many readers of ${whose} ${whatFor}`,
  })

export class Watch {
  readonly #engine: Engine
  readonly #waiters = new Set<Waiter>()
  readonly #places = new Map<string, number>()
  readonly #looks: SharedPlaces
  #taken = 0
  #looking: Promise<void> | undefined
  #hurry: (() => void) | undefined

  constructor(engine: Engine) {
    this.#engine = engine
    const refusal = () => tooMany('one merchant', 'are before this one')
    this.#looks = halfOfReads(engine.lanes, limits.eventFeedTurnMs, refusal)
  }

  /**
   * Counts a waiting client, and returns a function that ends its count. Beyond the limits, a refusal is
   * better than an empty page: the client would repeat its request at once.
   *
   * @param merchant The merchant of the token. Undefined for the embedding program, which has only the
   * limit of the process.
   * @throws GatewayError 429
   */
  enter(token: string, merchant: string | undefined): () => void {
    const names = merchant === undefined ? [] : [`token ${token}`, `merchant ${merchant}`]
    const [ofToken = 0, ofMerchant = 0] = names.map((name) => this.#places.get(name) ?? 0)
    if (ofToken >= limits.eventFeedWaitersPerToken) throw tooMany('one access token')
    if (ofMerchant >= limits.eventFeedWaitersPerMerchant) throw tooMany('one merchant')
    if (this.#taken >= limits.eventFeedWaiters) throw tooMany('all of them')
    this.#taken += 1
    for (const name of names) this.#places.set(name, (this.#places.get(name) ?? 0) + 1)
    return () => {
      this.#taken -= 1
      for (const name of names) {
        const left = this.#places.get(name)! - 1
        if (left > 0) this.#places.set(name, left)
        else this.#places.delete(name)
      }
    }
  }

  /**
   * Reads events. They can be very many that the reader does not want, so that readers take no more than half of the
   * read connections, in turns by merchant.
   *
   * @param isFirst The reader has read nothing yet, and may be refused.
   * @throws GatewayError 429
   */
  async look<Row>(merchant: string | undefined, statement: Sql<Row>, isFirst: boolean) {
    if (isFirst) this.#looks.refuseBeyond(merchant, limits.eventFeedWaitersPerMerchant)
    return this.#looks.within(merchant, () => this.#engine.lanes.read(statement))
  }

  /**
   * Resolves when one of the channels may have an event after the position, when the time is over, when
   * the client has disconnected, or when the process ends. Holds no connection.
   */
  wait(
    channels: readonly string[],
    after: Place,
    until: number,
    isGone: () => boolean,
  ): Promise<void> {
    return new Promise((wake) => {
      this.#waiters.add({ channels: new Set(channels), after, until, isGone, wake })
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined
      })
    })
  }

  async #look(): Promise<void> {
    // Commits of this process are read at once, those of others a few times a second.
    const off = this.#engine.events.on(() => this.#hurry?.())
    try {
      while (this.#waiters.size > 0) {
        await this.#pause()
        await this.#round()
      }
    } finally {
      off()
    }
  }

  #pause(): Promise<void> {
    return new Promise((next) => {
      const timer = setTimeout(next, limits.eventFeedPollMs)
      this.#hurry = () => {
        this.#hurry = undefined
        clearTimeout(timer)
        setTimeout(next, limits.eventFeedHurryMs)
      }
    })
  }

  async #round(): Promise<void> {
    const { clock, inFlight } = this.#engine
    const nowMs = clock.elapsedMs()
    for (const waiter of this.#waiters) {
      if (inFlight.closing || nowMs >= waiter.until || waiter.isGone()) this.#wake(waiter)
    }
    if (this.#waiters.size === 0) return
    const earliest = new Map<string, Place>()
    for (const { channels, after } of this.#waiters) {
      for (const id of channels) {
        const known = earliest.get(id)
        if (known === undefined || isBefore(after, known)) earliest.set(id, after)
      }
    }
    const news = await this.#news(earliest)
    for (const waiter of this.#waiters) {
      if (news === undefined || news.some((id) => waiter.channels.has(id))) this.#wake(waiter)
    }
  }

  /** Undefined when the database does not respond: the reads of the clients then fail by themselves. */
  async #news(after: ReadonlyMap<string, Place>): Promise<string[] | undefined> {
    const floor = lowestIdAt(this.#engine.clock.realMs() - recentMs)
    try {
      const rows = await this.#engine.lanes.read(
        channelsWithNews([...after.keys()], [...after.values()], floor),
      )
      return rows.map(({ id }) => id)
    } catch {
      return undefined
    }
  }

  #wake(waiter: Waiter): void {
    this.#waiters.delete(waiter)
    waiter.wake()
  }
}

const watches = new WeakMap<Engine, Watch>()

/** The watch of this engine. */
export function watchOf(engine: Engine): Watch {
  const known = watches.get(engine)
  if (known !== undefined) return known
  const made = new Watch(engine)
  watches.set(engine, made)
  return made
}
