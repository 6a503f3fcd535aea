/**
 * Places of one process that merchants share: none takes more than its part, and whoever waits gets one in turn. The
 * only merchant that a process has met has all places.
 */
import { systemClock } from '../clock.ts'

/** Who takes a place: a merchant, or an entity above merchants. Undefined for the embedding program. */
export type Holder = string | undefined

export class SharedRoom<Waiting> {
  readonly #places: number
  readonly #perMerchant: number
  #first: Holder
  #isShared = false
  #taken = 0
  readonly #takenBy = new Map<Holder, number>()
  /** The merchant whose turn is next comes first. */
  readonly #waiting = new Map<Holder, Set<Waiting>>()

  /** @param perMerchant Places of one merchant. The embedding program may take all of them. */
  constructor(places: number, perMerchant: number = places) {
    this.#places = places
    this.#perMerchant = perMerchant
  }

  isFreeFor(holder: Holder): boolean {
    this.#meet(holder)
    return this.#taken < this.#places && this.isWithinShare(holder)
  }

  /** Whether a merchant has fewer places than one may take. */
  isWithinShare(holder: Holder): boolean {
    return (
      holder === undefined ||
      !this.#isShared ||
      (this.#takenBy.get(holder) ?? 0) < this.#perMerchant
    )
  }

  take(holder: Holder): void {
    this.#taken += 1
    this.#takenBy.set(holder, (this.#takenBy.get(holder) ?? 0) + 1)
  }

  leave(holder: Holder): void {
    this.#taken -= 1
    const left = this.#takenBy.get(holder)! - 1
    if (left > 0) this.#takenBy.set(holder, left)
    else this.#takenBy.delete(holder)
  }

  waitFor(holder: Holder, one: Waiting): void {
    this.#meet(holder)
    const others = this.#waiting.get(holder)
    if (others === undefined) this.#waiting.set(holder, new Set([one]))
    else others.add(one)
  }

  #meet(holder: Holder): void {
    this.#first ??= holder
    this.#isShared ||= holder !== undefined && holder !== this.#first
  }

  waitingOf(holder: Holder): number {
    return this.#waiting.get(holder)?.size ?? 0
  }

  /** How many wait for each merchant. */
  *waiting(): Generator<readonly [Holder, number]> {
    for (const [holder, all] of this.#waiting) yield [holder, all.size]
  }

  /**
   * Whoever waited longest, of the merchant whose turn it is among those that may have a place now. Its caller
   * takes the place.
   */
  next(mayHave: (holder: Holder) => boolean = () => true): Waiting | undefined {
    if (this.#taken >= this.#places) return undefined
    for (const [holder, all] of this.#waiting) {
      if (!this.isWithinShare(holder) || !mayHave(holder)) continue
      const [first] = all
      all.delete(first!)
      // Behind all others, for its next turn.
      this.#waiting.delete(holder)
      if (all.size > 0) this.#waiting.set(holder, all)
      return first
    }
    return undefined
  }
}

/** A room for work that waits for its place. */
export class SharedPlaces {
  readonly #room: SharedRoom<() => void>
  readonly #mostMs: number
  readonly #refusal: () => Error

  /** @param mostMs The longest wait: after it nobody would hear the answer, and an outage would let each wait fail alone. */
  constructor(places: number, perMerchant: number, mostMs: number, refusal: () => Error) {
    this.#room = new SharedRoom(places, perMerchant)
    this.#mostMs = mostMs
    this.#refusal = refusal
  }

  /** Refuses work of a merchant of which so much waits already. The embedding program may wait without a limit. */
  refuseBeyond(holder: Holder, most: number): void {
    if (holder !== undefined && this.#room.waitingOf(holder) >= most) throw this.#refusal()
  }

  async within<T>(holder: Holder, work: () => Promise<T>): Promise<T> {
    const room = this.#room
    const askedMs = systemClock.elapsedMs()
    if (room.isFreeFor(holder)) room.take(holder)
    else {
      await new Promise<void>((enter) => {
        const enters = () => {
          room.take(holder)
          enter()
        }
        room.waitFor(holder, enters)
      })
    }
    try {
      if (systemClock.elapsedMs() - askedMs > this.#mostMs) throw this.#refusal()
      return await work()
    } finally {
      room.leave(holder)
      room.next()?.()
    }
  }
}
