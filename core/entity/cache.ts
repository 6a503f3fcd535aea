/** A version of the source, and the time of its check. */
export type Version = { readonly id: string; readonly at: number }

type Entry<Value> = {
  readonly value: Value
  /** When the value was last confirmed, and when it was read. */
  readonly at: number
  readonly readAt: number
  readonly version: string | undefined
}

/**
 * A bounded map whose values are fresh for a time on the monotonic clock. If the source has a version that
 * changes with every change, an old value of the present version is fresh again without a read.
 */
export class FreshCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #loading = new Map<string, Promise<Value>>()
  readonly #freshMs: (value: Value) => number
  readonly #failClosedMs: number
  readonly #max: number
  readonly #nowMs: () => number
  readonly #version: (() => Promise<Version>) | undefined
  readonly #rereadMs: number

  constructor(options: {
    freshMs: (value: Value) => number
    /** Age up to which a value may still be used when no refresh is possible. */
    failClosedMs: number
    max: number
    nowMs: () => number
    version?: () => Promise<Version>
    /** Age from which a value is read again, even if its version is the present one. */
    rereadMs?: number
  }) {
    this.#freshMs = options.freshMs
    this.#failClosedMs = options.failClosedMs
    this.#max = options.max
    this.#nowMs = options.nowMs
    this.#version = options.version
    this.#rereadMs = options.rereadMs ?? Number.POSITIVE_INFINITY
  }

  /** The value when it is fresh, without a promise: the hot path. */
  peek(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    return this.#nowMs() - entry.at < this.#freshMs(entry.value) ? entry.value : undefined
  }

  /** The fresh value, or the result of `load`. Concurrent callers share one load. */
  async get(key: string, load: () => Promise<Value>): Promise<Value> {
    const fresh = this.peek(key)
    if (fresh !== undefined) return fresh
    const running = this.#loading.get(key)
    if (running !== undefined) return running
    const loading = this.#renewed(key, load)
      .then((entry) => {
        this.#entries.delete(key)
        this.#entries.set(key, entry)
        if (this.#entries.size > this.#max) this.#entries.delete(this.#entries.keys().next().value!)
        return entry.value
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

  async #renewed(key: string, load: () => Promise<Value>): Promise<Entry<Value>> {
    // The version before the read: a change between the two never leaves an old value under a new version.
    const version = await this.#version?.()
    const known = this.#entries.get(key)
    // The age counts from before the read, so that a revocation meanwhile is noticed in time.
    const readAt = this.#nowMs()
    if (
      version !== undefined &&
      known?.version === version.id &&
      readAt - known.readAt < this.#rereadMs
    ) {
      return { ...known, at: version.at }
    }
    return { value: await load(), at: readAt, readAt, version: version?.id }
  }

  forget(key: string): void {
    this.#entries.delete(key)
  }
}
