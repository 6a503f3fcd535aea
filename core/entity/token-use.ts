/**
 * Records the last use of tokens. A request only adds the token in memory, once a minute at most. One
 * statement writes all tokens of a second, and no request waits for it.
 */
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'
import type { Lanes } from '../db/lanes.ts'
import { markTokensUsed } from './store.ts'

export class TokenUse {
  readonly #lanes: Pick<Lanes, 'single'>
  readonly #clock: Pick<Clock, 'elapsedMs'>
  readonly #notedMs = new Map<string, number>()
  #waiting: string[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(lanes: Pick<Lanes, 'single'>, clock: Pick<Clock, 'elapsedMs'>) {
    this.#lanes = lanes
    this.#clock = clock
  }

  note(id: string): void {
    const nowMs = this.#clock.elapsedMs()
    const notedMs = this.#notedMs.get(id)
    if (notedMs !== undefined && nowMs - notedMs < limits.tokenUseMs) return
    this.#notedMs.delete(id)
    this.#notedMs.set(id, nowMs)
    if (this.#notedMs.size > limits.cachedTokens) {
      this.#notedMs.delete(this.#notedMs.keys().next().value!)
    }
    this.#waiting.push(id)
    this.#timer ??= setTimeout(() => void this.write(), limits.tokenUseGatherMs).unref()
  }

  /** Writes the uses in memory. If that fails, only the next use is recorded. */
  async write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const ids = this.#waiting
    if (ids.length === 0) return
    this.#waiting = []
    await this.#lanes.single(markTokensUsed(ids)).catch(() => {})
  }
}
