/** Undecided attempts of this process, by their shared features. */
import { limits } from '@tollgate/schemas'
import type { Key } from './windows.ts'

/**
 * Other processes know this process's counts after this: two rounds of sharing, and their duration.
 */
const toldWithinMs = 4 * limits.cardTestingShareMs

/** The features of an attempt beyond the payment's row, and the tried number as a keyed hash. */
export type Unstored = { readonly keys: readonly Key[]; readonly number: string }

type Open = { readonly name: string; readonly untilMs: number; readonly unstored: Unstored }

export class UnderWay {
  readonly #sent = new Map<string, number>()
  /** By payment, in the order of expiry. */
  readonly #open = new Map<string, Open>()
  readonly #openOf = new Map<string, number>()
  #unasked: Iterator<string> | undefined

  begin(name: string): void {
    this.#sent.set(name, this.sent(name) + 1)
  }

  end(name: string): void {
    less(this.#sent, name)
  }

  sent(name: string): number {
    return this.#sent.get(name) ?? 0
  }

  open(name: string): number {
    return this.#openOf.get(name) ?? 0
  }

  /** Keeps an attempt whose payment is pending; another process may settle it. */
  hold(paymentId: string, name: string, unstored: Unstored, nowMs: number): void {
    if (this.#open.has(paymentId)) return
    this.#open.set(paymentId, { name, untilMs: nowMs + limits.cardTestingOpenMs, unstored })
    this.#openOf.set(name, this.open(name) + 1)
    if (this.#open.size > limits.cardTestingKeys) this.decided(this.#open.keys().next().value!)
  }

  /** @returns the features to count here, once. */
  decided(paymentId: string): Unstored | undefined {
    const held = this.#open.get(paymentId)
    if (held === undefined) return undefined
    this.#open.delete(paymentId)
    less(this.#openOf, held.name)
    return held.unstored
  }

  /** Some of the open payments, all of them in turn. */
  someOpen(most: number): string[] {
    const some: string[] = []
    while (some.length < most) {
      this.#unasked ??= this.#open.keys()
      const next = this.#unasked.next()
      if (next.done === true) {
        this.#unasked = undefined
        break
      }
      some.push(next.value)
    }
    return some
  }

  /**
   * Another process settled the payment. A failure continues to count here until that process's
   * counts have certainly arrived, so that no gap appears.
   *
   * @returns the features to count here, once.
   */
  decidedElsewhere(paymentId: string, isApproved: boolean, nowMs: number): Unstored | undefined {
    const held = this.#open.get(paymentId)
    if (held === undefined || isApproved) return this.decided(paymentId)
    const untilMs = Math.min(held.untilMs, nowMs + toldWithinMs)
    this.#open.set(paymentId, { ...held, untilMs, unstored: { ...held.unstored, keys: [] } })
    return held.unstored
  }

  giveUp(nowMs: number): void {
    for (const [paymentId, { untilMs }] of this.#open) {
      if (untilMs <= nowMs) this.decided(paymentId)
    }
  }

  /** The time until fewer than `room` are open under a name, without earlier decisions. */
  msUntilBelow(name: string, room: number, nowMs: number): number {
    if (this.open(name) < room) return 0
    const ends = [...this.#open.values()].flatMap((open) =>
      open.name === name ? [open.untilMs] : [],
    )
    const [last = nowMs] = ends.sort((one, other) => one - other).slice(ends.length - room)
    return Math.max(0, last - nowMs)
  }
}

function less(counts: Map<string, number>, name: string): void {
  const left = (counts.get(name) ?? 1) - 1
  if (left === 0) counts.delete(name)
  else counts.set(name, left)
}
