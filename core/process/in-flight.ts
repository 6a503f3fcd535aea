import { limits } from '@tollgate/schemas'
import { systemClock } from '../clock.ts'
import { GatewayError } from '../errors.ts'

/**
 * The work under way in this process. Back-pressure comes before the first commit: a request that
 * would only queue is refused while a refusal has no consequences.
 */
export class InFlight {
  readonly #byConnector = new Map<string, number>()
  /** The same of each merchant. */
  readonly #byMerchant = new Map<string, number>()
  /** The merchants of admitted channels: entities never move, and a call in a hurry asks nobody. */
  readonly #merchants = new Map<string, string>()
  #first: string | undefined
  #isShared = false
  readonly #work = new Set<Promise<unknown>>()
  readonly #ending = new AbortController()
  #closing = false
  #over = false

  /**
   * A merchant has at most half of a connector's places, so that one whose calls take long leaves room for the others.
   * The only merchant that this process has met has all of them.
   *
   * The place counts from here on, so that requests at the same time do not all find the last one free.
   *
   * @returns what ends it, as `begin` does.
   * @throws GatewayError 429 when the connector or the merchant's half is full, 503 when the process is shutting down.
   */
  admit(
    connector: string,
    { channelId, merchantId }: { readonly channelId: string; readonly merchantId?: string },
    limit: number = limits.runningPerConnector,
  ): () => void {
    if (this.#closing) {
      throw new GatewayError('800.800.801', {
        status: 503,
        description: 'This process is shutting down. Send the request again.',
        retryAfterSeconds: 1,
      })
    }
    if (merchantId !== undefined) this.#learn(channelId, merchantId)
    const most = this.#isShared ? Math.ceil(limit / 2) : limit
    const ofMerchant = this.#byMerchant.get(this.#shareOf(connector, channelId)) ?? 0
    if ((this.#byConnector.get(connector) ?? 0) >= limit || ofMerchant >= most) {
      throw new GatewayError('800.120.100', { status: 429, retryAfterSeconds: 1 })
    }
    return this.begin(connector, channelId)
  }

  /** Takes a place without a limit. @returns what ends it; more than once changes nothing. */
  begin(connector: string, channelId: string): () => void {
    const share = this.#shareOf(connector, channelId)
    add(this.#byConnector, connector, 1)
    add(this.#byMerchant, share, 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      add(this.#byConnector, connector, -1)
      add(this.#byMerchant, share, -1)
    }
  }

  #shareOf(connector: string, channelId: string): string {
    return `${connector} ${this.#merchants.get(channelId) ?? channelId}`
  }

  #learn(channelId: string, merchantId: string): void {
    this.#first ??= merchantId
    this.#isShared ||= merchantId !== this.#first
    if (this.#merchants.has(channelId)) return
    if (this.#merchants.size >= limits.cachedEntities) {
      this.#merchants.delete(this.#merchants.keys().next().value!)
    }
    this.#merchants.set(channelId, merchantId)
  }

  /** Keeps the process open until `work` ends, whether or not its client still waits. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work)
    const forget = () => void this.#work.delete(work)
    work.then(forget, forget)
    return work
  }

  /** Calls under way, by connector, and payments admitted to it. */
  get byConnector(): ReadonlyMap<string, number> {
    return this.#byConnector
  }

  get count(): number {
    return this.#work.size
  }

  /** True after the grace time of a shutdown: no further attempt may start. */
  get over(): boolean {
    return this.#over
  }

  get closing(): boolean {
    return this.#closing
  }

  /** Aborted when a shutdown begins, for work that another process can continue. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  /** Admits no further work and waits for the running work, at most `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true
    this.#ending.abort()
    const until = systemClock.elapsedMs() + graceMs
    while (this.#work.size > 0 && systemClock.elapsedMs() < until) {
      const left = until - systemClock.elapsedMs()
      await Promise.race([
        Promise.allSettled([...this.#work]),
        new Promise((done) => setTimeout(done, left).unref()),
      ])
    }
    this.#over = true
  }
}

/** The places that one request has taken, one at each connector. Its entry point frees them, however it ends. */
export class Places {
  readonly #ends = new Map<string, () => void>()

  add(connector: string, end: () => void): void {
    this.#ends.set(connector, end)
  }

  /** @returns what ends the place at the connector, for a call that ends it by itself. */
  handOver(connector: string): (() => void) | undefined {
    const end = this.#ends.get(connector)
    this.#ends.delete(connector)
    return end
  }

  free(): void {
    for (const end of this.#ends.values()) end()
    this.#ends.clear()
  }
}

function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}
