import { limits } from '@tollgate/schemas'
import { outcomeUnknown } from '../db/database.ts'
import type { Engine } from '../engine.ts'

/**
 * Repeats the write of an outcome while the database is unreachable, for ten minutes at most. If that
 * fails, or the process ends, the sweep of another process resolves the attempt.
 */
export async function retryWrite(engine: Engine, write: () => Promise<unknown>): Promise<void> {
  const untilMs = engine.clock.elapsedMs() + limits.keptOutcomeMs
  while (!engine.inFlight.over && engine.clock.elapsedMs() < untilMs) {
    try {
      await write()
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
