import { limits } from '@tollgate/schemas'
import { outcomeUnknown } from '../db/database.ts'
import type { Engine } from '../engine.ts'

/**
 * Repeats a write until it succeeds or the process ends. After the end, another process's sweep
 * resolves the attempt.
 */
export async function keepSaying(engine: Engine, say: () => Promise<unknown>): Promise<void> {
  const untilMs = engine.clock.elapsedMs() + limits.keptOutcomeMs
  while (!engine.inFlight.over && engine.clock.elapsedMs() < untilMs) {
    try {
      await say()
      return
    } catch (error) {
      if (!outcomeUnknown(error)) {
        engine.log.warn({}, 'an outcome could not be written')
        return
      }
      await new Promise((resume) => setTimeout(resume, 250))
    }
  }
}
