/**
 * The buffer between payments and their step log. Payments never wait for the log, which is written
 * in groups, a tenth of a second later. A process's death loses its buffer, and a database outage
 * drops and counts the excess; the payments' own rows still contain the results.
 */
import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'
import { sqlState } from '../db/database.ts'
import { serverTime } from '../db/durability.ts'
import { storable } from '../db/json.ts'
import type { Lanes } from '../db/lanes.ts'
import { tellFailure } from '../db/tell-failure.ts'
import { newId } from '../ids.ts'
import { addSteps, type StepDetail, type StepRow } from './store.ts'

const clockStepMs = 1

export type NewStep = {
  readonly paymentId: string
  readonly name: string
  /** Wall clock, milliseconds. */
  readonly startedMs: number
  readonly durationUs?: number
  readonly outcome?: string
  readonly detail?: StepDetail | undefined
}

export class StepLog {
  readonly #lanes: Lanes
  readonly #clock: Clock
  readonly #log: Log
  readonly #days: number
  #waiting: string[] = []
  #waitingCharacters = 0
  /** Requests that came again, by payment: counted, because a client can send them without end. */
  readonly #repeats = new Map<string, { readonly startedMs: number; times: number }>()
  #dropped = 0
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined
  #closed = false
  /** The offset of the database's clock from this machine's, and its expiry. */
  #aheadMs = 0
  #askAgainMs = Number.NEGATIVE_INFINITY

  /** @param days How long steps are kept; 0: none is written. */
  constructor(lanes: Lanes, clock: Clock, log: Log, days: number) {
    this.#lanes = lanes
    this.#clock = clock
    this.#log = log
    this.#days = days
  }

  get days(): number {
    return this.#days
  }

  /** Takes one step. Never throws and never waits. */
  note(step: NewStep): void {
    if (this.#days === 0 || this.#closed) return
    const text = this.#textOf(step)
    const isFull =
      this.#waiting.length >= limits.waitingSteps ||
      this.#waitingCharacters + text.length > limits.waitingStepCharacters
    if (isFull) {
      this.#dropped += 1
      return
    }
    this.#waiting.push(text)
    this.#waitingCharacters += text.length
    this.#timer ??= setTimeout(() => void this.flush(), limits.stepFlushMs).unref()
  }

  /** The same request came again and got the payment that it made first. */
  repeated(paymentId: string): void {
    if (this.#days === 0 || this.#closed) return
    const known = this.#repeats.get(paymentId)
    if (known !== undefined) known.times += 1
    else if (this.#repeats.size < limits.stepRows) {
      this.#repeats.set(paymentId, { startedMs: this.#clock.realMs(), times: 1 })
    }
    this.#timer ??= setTimeout(() => void this.flush(), limits.stepFlushMs).unref()
  }

  #takeRepeats(): void {
    for (const [paymentId, { startedMs, times }] of this.#repeats) {
      this.note({ paymentId, name: 'repeated', startedMs, detail: { times } })
    }
    this.#repeats.clear()
  }

  #textOf({ paymentId, startedMs, name, durationUs, outcome, detail }: NewStep): string {
    const row: StepRow = {
      payment_id: paymentId,
      id: newId(),
      at_ms: startedMs + this.#aheadMs,
      duration_us: durationUs ?? null,
      name,
      outcome: outcome ?? null,
      detail: detail ?? null,
    }
    return storable(row)
  }

  /** Writes the buffer. Resolves when all present steps are written or given up. */
  async flush(): Promise<void> {
    if (this.#flushing !== undefined) await this.#flushing
    this.#takeRepeats()
    if (this.#waiting.length === 0) return
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined
    })
    await this.#flushing
  }

  async #write(): Promise<void> {
    clearTimeout(this.#timer)
    try {
      await this.#compareClocks()
      while (this.#waiting.length > 0) {
        const rows = this.#waiting.slice(0, limits.stepRows)
        await this.#insert(rows)
        this.#waiting.splice(0, rows.length)
        this.#waitingCharacters -= rows.reduce((sum, row) => sum + row.length, 0)
      }
      if (this.#dropped > 0) {
        this.#log.warn({ steps: this.#dropped }, 'steps were not logged: too many waited')
        this.#dropped = 0
      }
      this.#timer = undefined
    } catch (error) {
      const about = { steps: this.#waiting.length }
      tellFailure(this.#log, error, 'steps could not be logged yet', about)
      this.#timer = this.#closed
        ? undefined
        : setTimeout(() => void this.flush(), limits.stepRetryMs).unref()
    }
  }

  /** A row that Postgres can never take must not keep the others waiting for ever. */
  async #insert(rows: readonly string[]): Promise<void> {
    try {
      await this.#lanes.single(addSteps(`[${rows.join(',')}]`))
    } catch (error) {
      if (!/^2[23]/.test(sqlState(error) ?? '')) throw error
      if (rows.length === 1) this.#dropped += 1
      else for (const row of rows) await this.#insert([row])
    }
  }

  /** Rows of one payment are written by several machines: their order is that of the database's clock. */
  async #compareClocks(): Promise<void> {
    const startedMs = this.#clock.elapsedMs()
    if (startedMs < this.#askAgainMs) return
    const wallMs = this.#clock.realMs()
    const [row] = await this.#lanes.single(serverTime)
    const tookMs = this.#clock.elapsedMs() - startedMs
    const ahead = row!.now.getTime() - wallMs - tookMs / 2
    // The difference that the query's duration and clocks with whole milliseconds cannot explain;
    // smaller differences count as none. Otherwise a step would show a call after its own settling.
    const unexplainedMs = Math.max(0, Math.abs(ahead) - tookMs / 2 - clockStepMs)
    this.#aheadMs = Math.sign(ahead) * Math.round(unexplainedMs)
    this.#askAgainMs = startedMs + limits.heartbeatMs
  }

  /** Writes the remaining steps. Later ones are lost. */
  async close(): Promise<void> {
    await this.flush()
    this.#closed = true
    clearTimeout(this.#timer)
  }
}
