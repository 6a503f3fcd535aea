import { cut, seriesOf } from '../report/cut.ts'
import { defineJob } from './define.ts'

/**
 * Writes the next report file of one series: of an entity, and of one of its test clocks.
 * Safe to run twice: the file and the position of the series move in one commit, if nothing moved them.
 */
export const reportCut = defineJob<{ ref: string }>({
  name: 'report-cut',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: 1,
  keyOf: ({ ref }) => ref,
  async run({ ref }, engine) {
    await engine.inFlight.track(cut(engine, seriesOf(ref)))
  },
})
