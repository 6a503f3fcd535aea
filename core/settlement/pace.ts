/**
 * Leaves the machine to payments. Work on settlement files rests between its steps while payments come in, in
 * proportion to the step, so that it takes a fixed part of the time. Nothing waits on an idle installation.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { lowestIdAt } from '../ids.ts'
import { ScopeLost } from './leases.ts'
import { newPayments } from './store-pace.ts'

export class Pace {
  readonly #engine: Pick<Engine, 'lanes' | 'clock' | 'inFlight'>
  readonly #isHurried: boolean
  #sinceMs: number

  /** @param isHurried A test clock waits for the work: it neither rests nor stops. */
  constructor(engine: Pick<Engine, 'lanes' | 'clock' | 'inFlight'>, isHurried: boolean) {
    this.#engine = engine
    this.#isHurried = isHurried
    this.#sinceMs = engine.clock.elapsedMs()
  }

  /**
   * Rests after a step. The leases are renewed meanwhile.
   *
   * @throws ScopeLost when this process closes: another one, or the next start, continues.
   */
  async rest(): Promise<void> {
    if (this.#isHurried) return
    const { clock, inFlight } = this.#engine
    const { shortestMs, times, longestMs } = limits.settlementRest
    const workedMs = clock.elapsedMs() - this.#sinceMs
    if (workedMs >= shortestMs && (await this.#areBusy())) {
      await pause(Math.min(times * workedMs, longestMs), undefined, {
        signal: inFlight.ending,
      }).catch(() => {})
    }
    if (inFlight.closing) throw new ScopeLost('this process closes')
    if (workedMs >= shortestMs) this.#sinceMs = clock.elapsedMs()
  }

  /** A database that does not answer is busy, too. */
  async #areBusy(): Promise<boolean> {
    const { clock, lanes } = this.#engine
    const { recentMs } = limits.settlementRest
    const nowMs = clock.realMs()
    const [after, until] = [lowestIdAt(nowMs - recentMs), lowestIdAt(nowMs + recentMs)]
    return lanes.read(newPayments(after, until)).then(
      (rows) => rows.length > 0,
      () => true,
    )
  }
}
