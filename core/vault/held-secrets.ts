/**
 * Secrets that outlive their request and may never be written: security codes of cards whose shoppers
 * are away at a challenge. They live in the memory of the process that got them, and no other process
 * ever has them.
 */
import type { Sensitive } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'

type Kept = {
  readonly value: Sensitive
  readonly untilMs: number
  readonly merchant: string
}

export class HeldSecrets {
  readonly #clock: Pick<Clock, 'elapsedMs'>
  /** In the order of their end. */
  readonly #kept = new Map<string, Kept>()
  /** The keys of each merchant, in the order of their end. */
  readonly #keys = new Map<string, Set<string>>()
  #timer: NodeJS.Timeout | undefined

  constructor(clock: Pick<Clock, 'elapsedMs'>) {
    this.#clock = clock
  }

  /**
   * Keeps a secret for a while. With too many of them, the oldest one goes of the merchant that has most: nobody
   * pushes out the secrets of a merchant with fewer.
   */
  put(key: string, value: Sensitive, merchant: string): void {
    this.erase(key)
    const untilMs = this.#clock.elapsedMs() + limits.heldSecretsMs
    this.#kept.set(key, { value, untilMs, merchant })
    const keys = this.#keys.get(merchant) ?? new Set()
    this.#keys.set(merchant, keys.add(key))
    if (this.#kept.size > limits.heldSecrets) this.#makeRoom()
    this.#wait()
  }

  /** The secret, for one use. */
  take(key: string): Sensitive | undefined {
    this.#forget()
    const kept = this.#kept.get(key)
    this.erase(key)
    return kept?.value
  }

  erase(key: string): void {
    const kept = this.#kept.get(key)
    if (kept === undefined) return
    this.#kept.delete(key)
    const keys = this.#keys.get(kept.merchant)
    keys?.delete(key)
    if (keys?.size === 0) this.#keys.delete(kept.merchant)
  }

  #makeRoom(): void {
    let most: ReadonlySet<string> = new Set()
    for (const keys of this.#keys.values()) if (keys.size > most.size) most = keys
    const [oldest] = most
    if (oldest !== undefined) this.erase(oldest)
  }

  get size(): number {
    this.#forget()
    return this.#kept.size
  }

  #forget(): void {
    const nowMs = this.#clock.elapsedMs()
    for (const [key, { untilMs }] of this.#kept) {
      if (untilMs > nowMs) return
      this.erase(key)
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
