import { limits } from '@tollgate/schemas'
import { systemClock } from '../clock.ts'
import { GatewayError } from '../errors.ts'

/**
 * The work under way in this process. Back-pressure comes before the first commit: a request that
 * would only queue is refused while a refusal has no consequences.
 */
export class InFlight {
  readonly #byConnector = new Map<string, number>()
  readonly #work = new Set<Promise<unknown>>()
  readonly #ending = new AbortController()
  #closing = false
  #over = false

  /** @throws GatewayError 429 when the connector is full, 503 when the process is shutting down. */
  admit(connector: string, limit: number = limits.runningPerConnector): void {
    if (this.#closing) {
      throw new GatewayError('800.800.801', {
        status: 503,
        description: 'This process is shutting down. Send the request again.',
        retryAfterSeconds: 1,
      })
    }
    if ((this.#byConnector.get(connector) ?? 0) < limit) return
    throw new GatewayError('800.120.100', { status: 429, retryAfterSeconds: 1 })
  }

  begin(connector: string): void {
    this.#byConnector.set(connector, (this.#byConnector.get(connector) ?? 0) + 1)
  }

  end(connector: string): void {
    const left = (this.#byConnector.get(connector) ?? 1) - 1
    if (left === 0) this.#byConnector.delete(connector)
    else this.#byConnector.set(connector, left)
  }

  /** Keeps the process open until `work` ends, whether or not its client still waits. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work)
    const forget = () => void this.#work.delete(work)
    work.then(forget, forget)
    return work
  }

  /** Calls under way, by connector. */
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
