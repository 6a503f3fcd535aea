/**
 * Writes how tries ended: whatever ends while one statement is under way, or soon after it began, goes
 * into the next.
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

  /** Resolves when it is written. What the database does not take is offered again. */
  write(row: OutcomeRow): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ row, done })
      this.#start()
    })
  }

  #start(): void {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
      // What came between the last look and now must not wait for the next one.
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

  /** What cannot be written now is left: those notifications are sent once more. */
  async close(): Promise<void> {
    this.#over = true
    await this.#writing
  }
}
