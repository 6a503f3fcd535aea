import { advance } from '../test-clock/advance.ts'
import { defineJob } from './define.ts'

/**
 * Moves a test clock to its target, doing everything that is due on the way.
 * Safe to run twice: each step is found again from the clock's position, and each charge takes its
 * own slot.
 */
export const advanceClock = defineJob<{ clockId: string }>({
  name: 'advance-clock',
  retry: { limit: 20, delaySeconds: 1 },
  concurrency: 4,
  keyOf: ({ clockId }) => clockId,
  async run({ clockId }, engine) {
    await advance(engine, clockId)
  },
})
