/**
 * How often an acquirer is asked about one payment because its shopper came back or pressed again. A few
 * questions at once are usual: a page loaded twice, a step of an authentication after another. Further ones
 * wait, and meanwhile the known state is the answer. Each process counts for itself.
 */
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'

const { atOnce, pauseMs } = limits.shopperQuestions

export class ShopperQuestions {
  readonly #clock: Clock
  /** The end of the pauses that the questions about a payment cost, the oldest question first. */
  readonly #until = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether the acquirer may be asked now. */
  may(key: string): boolean {
    const now = this.#clock.elapsedMs()
    return (this.#until.get(key) ?? now) <= now + (atOnce - 1) * pauseMs
  }

  /** A question that was asked. */
  count(key: string): void {
    const now = this.#clock.elapsedMs()
    for (const [other, until] of this.#until) {
      if (until > now) break
      this.#until.delete(other)
    }
    const until = Math.max(now, this.#until.get(key) ?? now) + pauseMs
    this.#until.delete(key)
    this.#until.set(key, until)
  }
}
