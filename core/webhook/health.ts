/** The health of endpoints: the limit that disables one, and how it is stored. */
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '@tollgate/schemas'
import { tellFailure } from '../db/tell-failure.ts'
import type { Engine } from '../engine.ts'
import { givenUpAfterMs } from './backoff.ts'
import { disable } from './disable.ts'
import type { EndpointQueue } from './endpoint-queue.ts'
import type { Run } from './reader.ts'
import { saveHealth, saveRecovery } from './store-queue.ts'
import type { Endpoint, Tried, Verdict } from './types.ts'

/** Short beside a lease: a recovery that is not stored in time has its notification sent again by another process. */
const longestPauseMs = limits.webhookLeaseMs / 8

/** The verdict of an attempt that disables its endpoint; undefined while the endpoint stays enabled. */
export function disabling(
  queue: EndpointQueue,
  { kind, version }: Endpoint,
  tried: Tried,
  nowMs: number,
): Verdict | undefined {
  if (kind === 'callback') return undefined
  if (tried.status === 410) return { reason: 'it answered 410 Gone', version }
  const sinceMs = nowMs - (queue.failingSince?.getTime() ?? nowMs)
  return sinceMs >= givenUpAfterMs
    ? { reason: `nothing but failures for ${limits.webhookDays} days`, version }
    : undefined
}

/**
 * Stores the health of endpoints. One endpoint has one statement at a time, which stores what holds
 * when it begins: a verdict that waits for the database ends with the next success.
 */
export class HealthWriter {
  readonly #engine: Engine
  readonly #run: Run
  readonly #me: string
  readonly #stop = new AbortController()

  constructor(engine: Engine, run: Run, me: string) {
    this.#engine = engine
    this.#run = run
    this.#me = me
  }

  /**
   * Stores the health of an endpoint, or carries out its verdict, with further tries after failed ones.
   *
   * @returns false when this process has lost the lease, or ends and a last try failed. The next process
   * to take the endpoint then goes by what was stored before. A verdict that does not hold any more changes nothing.
   */
  save(queue: EndpointQueue): Promise<boolean> {
    queue.unsaved = true
    queue.saving ??= this.#untilSaved(queue)
    return queue.saving
  }

  /** Those that wait for their next try have their last one now. */
  stop(): void {
    this.#stop.abort()
  }

  async #untilSaved(queue: EndpointQueue): Promise<boolean> {
    const { signal } = this.#stop
    let pauseMs: number = limits.webhookPollMs
    let told: string | undefined
    try {
      while (queue.unsaved && !queue.left) {
        queue.unsaved = false
        try {
          if (await this.#store(queue)) continue
          queue.ending = true
          return false
        } catch (error) {
          queue.unsaved = true
          if (String(error) !== told) this.#warn(queue, error)
          told = String(error)
        }
        if (signal.aborted) return false
        await pause(pauseMs, undefined, { signal }).catch(() => {})
        pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      }
      return !queue.unsaved
    } finally {
      queue.saving = undefined
    }
  }

  /** False when another process has the lease. A verdict leaves the endpoint in any case. */
  async #store(queue: EndpointQueue): Promise<boolean> {
    const { verdict } = queue
    const health = {
      endpointId: queue.endpointId,
      failures: queue.failures,
      failingSince: queue.failingSince,
      probeAt: queue.probeAt,
    }
    if (verdict !== undefined) {
      await disable(this.#engine, this.#run, this.#me, health, verdict)
      return true
    }
    const now = new Date(this.#engine.clock.realMs())
    const { frees } = queue
    // A recovery during the statement sets it again.
    queue.frees = false
    try {
      const statement = frees ? saveRecovery(this.#me, health, now) : saveHealth(this.#me, health)
      const [stored] = await this.#run(statement)
      return stored !== undefined
    } catch (error) {
      queue.frees ||= frees
      throw error
    }
  }

  #warn({ endpointId }: EndpointQueue, error: unknown): void {
    const message = 'the state of a webhook endpoint could not be written yet'
    tellFailure(this.#engine.log, error, message, { endpoint: endpointId })
  }
}
