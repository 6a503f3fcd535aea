/** The log of outages: a line at the start of each, one every ten seconds, and one at its end. */
import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { systemClock } from '../clock.ts'
import { reasonOf } from '../error-words.ts'
import { isOutage, sqlState } from './failures.ts'

export class OutageLog {
  readonly #log: Log
  #isWatching = false
  #sinceMs: number | undefined
  /** Failures since the last line. */
  #failures = 0
  #lastMs = Number.NEGATIVE_INFINITY
  #isTold = false
  #why: unknown
  #timer: NodeJS.Timeout | undefined

  constructor(log: Log) {
    this.#log = log
  }

  /** From now on. A start that waits for its database tells so itself. */
  watch(): void {
    this.#isWatching = true
  }

  /** A statement or connection that failed. Only those that mean an outage count. */
  failed(error: unknown): void {
    if (!this.#isWatching || !isOutage(error)) return
    this.#failures += 1
    this.#why = error
    if (this.#sinceMs !== undefined) return
    const nowMs = systemClock.elapsedMs()
    this.#sinceMs = nowMs
    this.#timer = setInterval(() => this.#tell(), limits.outageLogMs)
    this.#timer.unref()
    // A connection that breaks again and again makes no line for each time.
    if (nowMs - this.#lastMs < limits.outageLogMs) return
    this.#tell()
  }

  /** A statement that was carried out. */
  answered(): void {
    if (this.#sinceMs === undefined) return
    const seconds = Math.ceil((systemClock.elapsedMs() - this.#sinceMs) / 1000)
    this.#sinceMs = undefined
    clearInterval(this.#timer)
    if (!this.#isTold) return
    this.#isTold = false
    this.#log.info({ seconds, failures: this.#failures }, 'the database is available again')
    this.#failures = 0
  }

  #tell(): void {
    const nowMs = systemClock.elapsedMs()
    const seconds = Math.round((nowMs - this.#sinceMs!) / 1000)
    const code = sqlState(this.#why) ?? (this.#why as { code?: unknown }).code
    this.#log.warn(
      {
        ...{ seconds, failures: this.#failures, reason: reasonOf(this.#why) },
        ...(typeof code === 'string' && { code }),
      },
      this.#isTold ? 'the database is still not available' : 'the database is not available',
    )
    this.#lastMs = nowMs
    this.#isTold = true
    this.#failures = 0
  }

  close(): void {
    this.#isWatching = false
    clearInterval(this.#timer)
  }
}
