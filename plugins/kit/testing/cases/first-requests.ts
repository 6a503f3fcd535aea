import assert from 'node:assert/strict'
import {
  type Case,
  mustHaveMoved,
  mustNotHaveMoved,
  needs,
  needsHandler,
  needsLine,
} from '../case.ts'
import { endOf, isDone, told } from '../harness.ts'
import { moneyKinds, withArticle } from '../operation.ts'
import { knowsKeys } from './keys.ts'
import { hangs, lineFaults } from './line.ts'

/** Operations in two requests: one that is harmless, such as a draft, and one that moves the money of it. */
export const firstRequests: readonly Case[] = [
  {
    name: 'a fault of a request before the one that moves money moves nothing, and ends nothing',
    without: needs(needsLine, needsHandler(...moneyKinds)),
    async run(stage) {
      const { connector } = stage
      for (const kind of moneyKinds.filter((known) => connector[known])) {
        // A login comes once, and not before each operation.
        await stage.done(await stage.prepare(kind))
        const { attempts } = await stage.perform(await stage.prepare(kind))
        if (attempts[0]?.moves !== false) continue
        for (const [name, fault] of Object.entries(lineFaults)) {
          const operation = await stage.prepare(kind)
          const before = await stage.bookings()
          const met = stage.front.meet(fault, 'any')
          const until = hangs(fault) ? { until: met.over } : {}
          const { outcome, thrown } = await stage.perform(operation, until)
          const was = `${name}, before ${withArticle(kind)}: it was ${told(outcome, thrown)}`
          // A connector that asks again, because nothing moves by it, may have gone on.
          if (isDone(await endOf(stage, operation, outcome))) {
            await mustHaveMoved(stage, before, [operation], was)
            continue
          }
          assert.ok(outcome.is === 'notSent' || outcome.is === 'unknown', was)
          await mustNotHaveMoved(stage, before, was)
          if (connector.resolve.enquire !== undefined) {
            const { outcome: found } = await stage.enquire(operation)
            assert.ok(!isDone(found), `${was}, and an enquiry returns ${told(found)}`)
          }
          if (!knowsKeys(stage, kind)) continue
          const again = await stage.perform(operation)
          const end = await endOf(stage, operation, again.outcome)
          const rule = `${was}, and a repeat under its key ${told(end, again.thrown)}`
          assert.ok(isDone(end), rule)
          await mustHaveMoved(stage, before, [operation], `${rule}, once`)
        }
      }
    },
  },
]
