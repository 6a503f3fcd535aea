/** Attempts of this process that are not decided, by what they have in common. */
import { limits } from '@tollgate/schemas'
import type { Key } from './windows.ts'

/** What one process saw is known in the others after this: two rounds of sharing, and time for them. */
const toldWithinMs = 4 * limits.cardTestingShareMs

/** What the row of a payment does not tell of its attempt, and the number that was tried, as a keyed hash. */
export type Unstored = { readonly keys: readonly Key[]; readonly number: string }

type Open = { readonly name: string; readonly untilMs: number; readonly unstored: Unstored }

export class UnderWay {
  readonly #sent = new Map<string, number>()
  /** By payment, in the order in which they will be given up. */
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

  /** It is over here, and the acquirer decides later; perhaps another process hears of it. */
  hold(paymentId: string, name: string, unstored: Unstored, nowMs: number): void {
    if (this.#open.has(paymentId)) return
    this.#open.set(paymentId, { name, untilMs: nowMs + limits.cardTestingOpenMs, unstored })
    this.#openOf.set(name, this.open(name) + 1)
    if (this.#open.size > limits.cardTestingKeys) this.decided(this.#open.keys().next().value!)
  }

  /** @returns what of it is to be counted here, once. */
  decided(paymentId: string): Unstored | undefined {
    const held = this.#open.get(paymentId)
    if (held === undefined) return undefined
    this.#open.delete(paymentId)
    less(this.#openOf, held.name)
    return held.unstored
  }

  /** Some of the payments that are held as open: all of them in turn, however many they are. */
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
   * Another process saw it decided. When it failed it goes on counting until what that process saw is
   * surely known here too: it would count for nothing in between.
   *
   * @returns what of it is to be counted here, once.
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

  /** How long it takes until fewer than `room` are open under a name, when nobody decides one sooner. */
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
