import assert from 'node:assert/strict'
import { type Case, mustHaveMoved, needsHandler } from '../case.ts'
import { told } from '../harness.ts'
import { firstKinds, firstOperation, scenesOf, usualAmount } from '../operation.ts'

/** Many simultaneous payments with different amounts: none affects another. */
export const load: readonly Case[] = [
  {
    name: 'simultaneous payments do not affect each other',
    without: needsHandler(...firstKinds),
    async run(stage, { parallel }) {
      const { connector, sandbox } = stage
      const kind = firstKinds.find((known) => connector[known])!
      const [scene] = scenesOf(sandbox, kind)
      const { minor, currency } = scene!.amount ?? usualAmount
      const before = await stage.bookings()
      const operations = Array.from({ length: parallel }, (_, index) => {
        const amount = { minor: minor + BigInt(index) * 100n, currency }
        return firstOperation(connector, kind, { ...scene!, amount })
      })
      const all = await Promise.all(operations.map((operation) => stage.perform(operation)))
      const references = new Set<string>()
      for (const { outcome, thrown } of all) {
        const isDone = outcome.is === 'approved' || outcome.is === 'accepted'
        assert.ok(isDone, `one of ${parallel} payments was ${told(outcome, thrown)}`)
        references.add(JSON.stringify(outcome.refs))
      }
      assert.equal(references.size, parallel, 'every payment has its own references')
      await mustHaveMoved(stage, before, operations, 'every payment is done once, for its amount')
      const keys = new Map((await stage.bookings()).map(({ key, amount }) => [key, amount]))
      for (const { key, amount } of operations) {
        assert.deepEqual(keys.get(key), amount, 'every payment is done under its own key')
      }
    },
  },
]
