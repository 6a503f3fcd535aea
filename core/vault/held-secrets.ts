/**
 * Secrets that outlive their request and may never be written: security codes of cards whose shoppers
 * are away at a challenge. They live in the memory of the process that got them, and no other process
 * ever has them.
 */
import type { Sensitive } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'

type Kept = { readonly value: Sensitive; readonly untilMs: number }

export class HeldSecrets {
  readonly #clock: Pick<Clock, 'elapsedMs'>
  /** In the order of their end. */
  readonly #kept = new Map<string, Kept>()
  #timer: NodeJS.Timeout | undefined

  constructor(clock: Pick<Clock, 'elapsedMs'>) {
    this.#clock = clock
  }

  /** Keeps a secret for a while. With too many of them, the oldest one goes. */
  put(key: string, value: Sensitive): void {
    this.#kept.delete(key)
    this.#kept.set(key, { value, untilMs: this.#clock.elapsedMs() + limits.heldSecretsMs })
    if (this.#kept.size > limits.heldSecrets) {
      const [oldest] = this.#kept.keys()
      this.#kept.delete(oldest!)
    }
    this.#wait()
  }

  /** The secret, for one use. */
  take(key: string): Sensitive | undefined {
    this.#forget()
    const kept = this.#kept.get(key)
    this.#kept.delete(key)
    return kept?.value
  }

  erase(key: string): void {
    this.#kept.delete(key)
  }

  get size(): number {
    this.#forget()
    return this.#kept.size
  }

  #forget(): void {
    const nowMs = this.#clock.elapsedMs()
    for (const [key, { untilMs }] of this.#kept) {
      if (untilMs > nowMs) return
      this.#kept.delete(key)
    }
  }

  /** A secret goes at its end, also where nobody asks for another one. */
  #wait(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#forget()
      if (this.#kept.size > 0) this.#wait()
    }, limits.heldSecretsSweepMs)
    this.#timer.unref()
  }
}
