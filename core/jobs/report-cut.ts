import { cut, seriesOf } from '../report/cut.ts'
import { defineJob, groupOfMerchant, type OfMerchant } from './define.ts'

/**
 * Writes the next report file of one series: of an entity, and of one of its test clocks.
 * Safe to run twice: the file and the position of the series move in one commit, if nothing moved them.
 */
export const reportCut = defineJob<{ ref: string } & OfMerchant>({
  name: 'report-cut',
  retry: { limit: 0, delaySeconds: 1 },
  concurrency: 2,
  // A merchant with much to do leaves room for the others.
  concurrencyOfGroup: 1,
  keyOf: ({ ref }) => ref,
  groupOf: groupOfMerchant,
  async run({ ref }, engine) {
    await engine.inFlight.track(cut(engine, seriesOf(ref)))
  },
})
