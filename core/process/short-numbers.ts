import type { Lanes } from '../db/lanes.ts'
import { shortNoOf } from '../ids.ts'
import { nextShortNumbers } from './store.ts'

/** Step of the sequence. */
const block = 1000

/**
 * Numbers behind short ids. Reserved from Postgres in blocks, so that a payment has its number
 * before its first commit. Unused numbers of a block are lost. The numbers of a pod are its own, so the pods of
 * an installation need not agree on them.
 */
export class ShortNumbers {
  readonly #lanes: Lanes
  readonly #pod: number
  #next = 0n
  #end = 0n
  #refill: Promise<void> | undefined

  constructor(lanes: Lanes, pod = 0) {
    this.#lanes = lanes
    this.#pod = pod
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
    // Blocks divide the numbers of every pod without a rest, so a block never reaches into those of another pod.
    this.#next = shortNoOf(this.#pod, row!.first)
    this.#end = this.#next + BigInt(block)
  }
}
