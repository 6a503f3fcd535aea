/**
 * Writes the results of attempts: one statement takes all results that arrive during the previous
 * statement or soon after its start.
 */
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'
import { type OutcomeRow, writeOutcomes } from './store-delivery.ts'

export class Outcomes {
  readonly #run: (statement: ReturnType<typeof writeOutcomes>) => Promise<unknown>
  readonly #clock: Pick<Clock, 'elapsedMs'>
  #waiting: { row: OutcomeRow; done: () => void }[] = []
  #writing: Promise<void> | undefined
  #startedMs = Number.NEGATIVE_INFINITY

  constructor(
    run: (statement: ReturnType<typeof writeOutcomes>) => Promise<unknown>,
    clock: Pick<Clock, 'elapsedMs'>,
  ) {
    this.#run = run
    this.#clock = clock
  }

  /** Resolves after the write. A failed write is repeated. */
  write(row: OutcomeRow): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ row, done })
      this.#start()
    })
  }

  #start(): void {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
      // A result that arrived since the last check must not wait for the next one.
      if (this.#waiting.length > 0 && !this.#over) this.#start()
    })
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const leftMs = this.#startedMs + limits.webhookGatherMs - this.#clock.elapsedMs()
      if (leftMs > 0 && !this.#over) await new Promise((next) => setTimeout(next, leftMs))
      this.#startedMs = this.#clock.elapsedMs()
      const batch = this.#waiting.slice(0, limits.webhookClaim)
      try {
        await this.#run(writeOutcomes(batch.map(({ row }) => row)))
      } catch {
        if (this.#over) return
        await new Promise((next) => setTimeout(next, limits.webhookPollMs))
        continue
      }
      this.#waiting.splice(0, batch.length)
      for (const { done } of batch) done()
    }
  }

  #over = false

  /** Abandons results that cannot be written now: those notifications are sent once more. */
  async close(): Promise<void> {
    this.#over = true
    await this.#writing
  }
}
