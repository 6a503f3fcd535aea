import type { Sensitive } from '@tollgate/plugin-kit'
import type { Clock } from '../clock.ts'

/**
 * Access tokens of acquirers' APIs, cached until shortly before their end. Concurrent callers share
 * one fetch.
 */
export class TokenCache {
  readonly #clock: Clock
  readonly #tokens = new Map<string, { value: Sensitive; untilMs: number }>()
  readonly #loading = new Map<string, Promise<Sensitive>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async get(
    key: string,
    load: () => Promise<{ value: Sensitive; expiresInMs: number }>,
  ): Promise<Sensitive> {
    const known = this.#tokens.get(key)
    if (known !== undefined && this.#clock.elapsedMs() < known.untilMs) return known.value
    const running = this.#loading.get(key)
    if (running !== undefined) return running
    const startedMs = this.#clock.elapsedMs()
    const loading = load()
      .then(({ value, expiresInMs }) => {
        // A tenth of the lifetime stays unused, so that no request carries an expired token.
        this.#tokens.set(key, { value, untilMs: startedMs + expiresInMs * 0.9 })
        return value
      })
      .finally(() => this.#loading.delete(key))
    this.#loading.set(key, loading)
    return loading
  }

  /** Requests under way are refused one after the other: only the token that they carried goes. */
  drop(key: string, refused: Sensitive): void {
    if (this.#tokens.get(key)?.value.reveal() === refused.reveal()) this.#tokens.delete(key)
  }
}
