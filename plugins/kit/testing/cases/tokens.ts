import assert from 'node:assert/strict'
import { type Case, mustHaveMoved, needs, needsHandler, needsLine } from '../case.ts'
import { endOf, isDone, type Stage, told } from '../harness.ts'
import { moneyKinds, withArticle } from '../operation.ts'
import { mustBlameTheAccount } from './facts.ts'
import { knowsKeys } from './keys.ts'
import { lineFaults, performUnder } from './line.ts'
import { mustBeFound } from './resolve.ts'

const kindsOf = ({ connector }: Stage) => moneyKinds.filter((kind) => connector[kind])
const rule = 'call dropToken with the token that was refused, so that the next request gets another'

/** Access tokens that the acquirer forgot before their time. A connector without tokens passes. */
export const tokens: readonly Case[] = [
  {
    name: 'a token that the acquirer forgot costs one operation at most',
    without: needsHandler(...moneyKinds),
    async run(stage) {
      for (const kind of kindsOf(stage)) {
        // A token of another scope is got for this kind alone.
        await stage.done(await stage.prepare(kind))
        const [first, second] = [await stage.prepare(kind), await stage.prepare(kind)]
        const before = await stage.bookings()
        stage.forgetTokens()
        const { outcome, thrown } = await stage.perform(first)
        const end = await endOf(stage, first, outcome)
        mustBlameTheAccount(end, thrown)
        const done = isDone(end) ? [first] : []
        await mustHaveMoved(stage, before, done, `${kind} was ${told(end, thrown)}`)
        const next = await stage.perform(second)
        const nextEnd = await endOf(stage, second, next.outcome)
        const was = `the ${kind} after it was ${told(nextEnd, next.thrown)}`
        assert.ok(isDone(nextEnd), `${was}; ${rule}`)
        await mustHaveMoved(stage, before, [...done, second], `${was}, and is done once`)
      }
    },
  },
  {
    name: 'a token that the acquirer forgot answers no enquiry and no reversal by key',
    without: needsHandler(...moneyKinds),
    async run(stage) {
      const { enquire, reverseByKey } = stage.connector.resolve
      const { operation } = await stage.done(await stage.prepare(kindsOf(stage)[0]!))
      if (enquire !== undefined) {
        stage.forgetTokens()
        const { outcome, thrown } = await stage.enquire(operation)
        const was = `an enquiry with it was ${told(outcome, thrown)}`
        assert.ok(outcome.is === 'unknown' || isDone(outcome), was)
        await mustBeFound(stage, operation, `${rule}: the enquiry after it`)
      }
      if (reverseByKey === undefined) return
      stage.forgetTokens()
      const { outcome, thrown } = await stage.reverseByKey(operation)
      const was = `a reversal with it was ${told(outcome, thrown)}`
      assert.ok(outcome.is !== 'nothing', was)
      const again = await stage.reverseByKey(operation)
      const isOver = ['reversed', 'requested', 'nothing'].includes(again.outcome.is)
      assert.ok(isOver, `${was}, the one after it ${told(again.outcome, again.thrown)}; ${rule}`)
    },
  },
  {
    name: 'HTTP 401 of a machine on the way leads to no second booking',
    without: needs(needsLine, needsHandler(...moneyKinds)),
    async run(stage) {
      for (const kind of kindsOf(stage)) {
        const operation = await stage.prepare(kind)
        const before = await stage.bookings()
        const fault = lineFaults['HTTP 401 with a page of HTML']!
        const { attempts, outcome } = await performUnder(stage, operation, fault)
        const sent = attempts.filter(({ moves }) => moves).length
        const most = knowsKeys(stage, kind) ? 2 : 1
        assert.ok(
          sent <= most,
          `${withArticle(kind)} was sent ${sent} times; without keys, never repeat one`,
        )
        if (stage.connector.resolve.enquire !== undefined) {
          await mustBeFound(
            stage,
            operation,
            `${withArticle(kind)} was ${told(outcome)}, and an enquiry`,
          )
        }
        await mustHaveMoved(
          stage,
          before,
          [operation],
          `${withArticle(kind)} is done once, by its key`,
        )
      }
    },
  },
]
