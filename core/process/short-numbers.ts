import type { Lanes } from '../db/lanes.ts'
import { nextShortNumbers } from './store.ts'

/** Step of the sequence. */
const block = 1000

/**
 * Numbers behind short ids. Reserved from Postgres in blocks, so that a payment has its number
 * before its first commit. Unused numbers of a block are lost.
 */
export class ShortNumbers {
  readonly #lanes: Lanes
  #next = 0n
  #end = 0n
  #refill: Promise<void> | undefined

  constructor(lanes: Lanes) {
    this.#lanes = lanes
  }

  /** A number, at once when the block still has one. */
  take(): bigint | Promise<bigint> {
    if (this.#next < this.#end) return this.#next++
    return this.#afterRefill()
  }

  async #afterRefill(): Promise<bigint> {
    while (this.#next >= this.#end) {
      this.#refill ??= this.#takeBlock().finally(() => {
        this.#refill = undefined
      })
      await this.#refill
    }
    return this.#next++
  }

  async #takeBlock(): Promise<void> {
    const [row] = await this.#lanes.single(nextShortNumbers)
    this.#next = row!.first
    this.#end = row!.first + BigInt(block)
  }
}
