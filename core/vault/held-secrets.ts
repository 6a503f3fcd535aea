/**
 * Security codes of payments whose shopper is at the issuer. They are kept in the memory of this
 * process alone, for minutes: never on disk, and never sealed either.
 */
import type { Sensitive } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'

type Held = { readonly secret: Sensitive; readonly untilMs: number }

export class HeldSecrets {
  readonly #clock: Clock
  /** In the order of their end, since all are kept for the same time. */
  readonly #held = new Map<string, Held>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Keeps a code; the oldest are dropped where there are too many. */
  put(attemptKey: string, secret: Sensitive): void {
    this.#dropOver()
    this.#held.delete(attemptKey)
    this.#held.set(attemptKey, {
      secret,
      untilMs: this.#clock.elapsedMs() + limits.heldSecretMs,
    })
    for (const [oldest] of this.#held) {
      if (this.#held.size <= limits.heldSecrets) break
      this.#held.delete(oldest)
    }
  }

  /** The code, once; undefined in every other process and after its time. */
  take(attemptKey: string): Sensitive | undefined {
    this.#dropOver()
    const held = this.#held.get(attemptKey)
    this.#held.delete(attemptKey)
    return held?.secret
  }

  erase(attemptKey: string): void {
    this.#held.delete(attemptKey)
  }

  get size(): number {
    this.#dropOver()
    return this.#held.size
  }

  #dropOver(): void {
    const nowMs = this.#clock.elapsedMs()
    for (const [key, { untilMs }] of this.#held) {
      if (untilMs > nowMs) break
      this.#held.delete(key)
    }
  }
}
