/** A bounded map whose values are fresh for a time measured on the monotonic clock. */
export class FreshCache<Value> {
  readonly #entries = new Map<string, { value: Value; at: number }>()
  readonly #loading = new Map<string, Promise<Value>>()
  readonly #freshMs: (value: Value) => number
  readonly #failClosedMs: number
  readonly #max: number
  readonly #nowMs: () => number

  constructor(options: {
    freshMs: (value: Value) => number
    /** Age up to which a value may still be used when no refresh is possible. */
    failClosedMs: number
    max: number
    nowMs: () => number
  }) {
    this.#freshMs = options.freshMs
    this.#failClosedMs = options.failClosedMs
    this.#max = options.max
    this.#nowMs = options.nowMs
  }

  /** The value when it is fresh, without a promise: the hot path. */
  peek(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    return this.#nowMs() - entry.at < this.#freshMs(entry.value) ? entry.value : undefined
  }

  /** The fresh value, or what `load` gives; many callers at once share one load. */
  async get(key: string, load: () => Promise<Value>): Promise<Value> {
    const fresh = this.peek(key)
    if (fresh !== undefined) return fresh
    const running = this.#loading.get(key)
    if (running !== undefined) return running
    // Age counts from before the read: what was revoked meanwhile is seen in time.
    const at = this.#nowMs()
    const loading = load()
      .then((value) => {
        this.#entries.delete(key)
        this.#entries.set(key, { value, at })
        if (this.#entries.size > this.#max) this.#entries.delete(this.#entries.keys().next().value!)
        return value
      })
      .catch((error: unknown) => {
        const stale = this.#entries.get(key)
        if (stale !== undefined && this.#nowMs() - stale.at < this.#failClosedMs) return stale.value
        throw error
      })
      .finally(() => this.#loading.delete(key))
    this.#loading.set(key, loading)
    return loading
  }

  forget(key: string): void {
    this.#entries.delete(key)
  }
}
