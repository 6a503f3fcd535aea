import assert from 'node:assert/strict'
import type { Connector, Kind } from '../../connector.ts'
import { keyPromise } from '../../facts.ts'
import type { Outcome } from '../../outcome.ts'
import {
  type Case,
  mustHaveMoved,
  mustNotHaveMoved,
  needs,
  needsHandler,
  wasDone,
} from '../case.ts'
import { endOf, type Stage, told } from '../harness.ts'
import { firstKinds, frozen, moneyKinds } from '../operation.ts'

const atOnce = 8

const needsKeys = ({ supports }: Connector): string | undefined =>
  typeof supports.key !== 'function' && supports.key.by === 'none'
    ? 'the acquirer knows no keys'
    : undefined

/** Whether the connector has this kind, and the acquirer carries out its keys once for the account of the sandbox. */
export const knowsKeys = ({ connector, account }: Stage, kind: Kind): boolean =>
  connector[kind] !== undefined && keyPromise(connector.supports, kind, account).by === 'key'

/** One key, one movement of money, and no movement unknown to the engine. */
export const keys: readonly Case[] = [
  {
    name: "every request that moves money carries the engine's key",
    without: needsHandler(...moneyKinds),
    async run(stage) {
      for (const kind of moneyKinds.filter((known) => stage.connector[known])) {
        const operation = await stage.prepare(kind)
        const before = await stage.bookings()
        await stage.done(operation)
        await mustHaveMoved(stage, before, [operation], `${kind} is done once, for its amount`)
        const known = await wasDone(stage, before, operation)
        const advice = known ? '' : await stage.keyAdvice(operation, [])
        assert.ok(known, `the acquirer does not know ${kind} by operation.key${advice}`)
      }
    },
  },
  {
    name: 'one key has one effect, however often it is sent',
    without: needs(needsHandler(...moneyKinds), needsKeys),
    async run(stage) {
      for (const kind of moneyKinds.filter((known) => knowsKeys(stage, known))) {
        const operation = await stage.prepare(kind)
        const before = await stage.bookings()
        const first = await stage.perform(operation)
        const all = await Promise.all(
          Array.from({ length: atOnce }, () => stage.perform(operation)),
        )
        for (const { outcome, thrown } of all) {
          const was = `a repeated ${kind} was ${told(outcome, thrown)}`
          assert.equal(outcome.is, first.outcome.is, was)
          assert.deepEqual(refsOf(outcome), refsOf(first.outcome), 'a repeat has the same refs')
        }
        await endOf(stage, operation, first.outcome)
        await mustHaveMoved(stage, before, [operation], `a repeated ${kind} is done once`)
      }
    },
  },
  {
    name: 'a used key is refused for another operation',
    without: needs(needsHandler(...firstKinds), needsKeys),
    async run(stage) {
      const kind = firstKinds.find((known) => knowsKeys(stage, known))
      if (kind === undefined) return
      const { operation } = await stage.done(await stage.prepare(kind))
      const before = await stage.bookings()
      const { minor, currency } = operation.amount
      const other = frozen({ ...operation, amount: { minor: minor + 100n, currency } })
      const { outcome } = await stage.perform(other)
      await mustNotHaveMoved(stage, before, 'a key is used for one operation only')
      if (outcome.is === 'approved') {
        const rule = 'an approval of another amount says which one was approved'
        assert.deepEqual(outcome.amount, operation.amount, rule)
      } else {
        assert.ok(['declined', 'unknown'].includes(outcome.is), `the answer was ${told(outcome)}`)
      }
    },
  },
  {
    name: 'a request that moves money is tagged before it is sent',
    without: needsHandler(...moneyKinds),
    async run(stage) {
      const { connector } = stage
      for (const kind of moneyKinds.filter((known) => connector[known])) {
        const { moved } = await stage.perform(await stage.prepare(kind))
        const rule = `${kind} tags its request with moves: true, or calls context.sending()`
        assert.ok(moved, rule)
      }
      if (connector.resolve.reverseByKey === undefined) return
      const kind = firstKinds.find((known) => connector[known])!
      const { operation } = await stage.done(await stage.prepare(kind))
      const { moved } = await stage.reverseByKey(operation)
      assert.ok(moved, 'resolve.reverseByKey tags its request too')
    },
  },
  {
    name: 'nothing moves after the time for sending',
    without: needsHandler(...moneyKinds),
    async run(stage) {
      for (const kind of moneyKinds.filter((known) => stage.connector[known])) {
        const operation = await stage.prepare(kind)
        const before = await stage.bookings()
        const { outcome } = await stage.perform(operation, { tooLate: true })
        await mustNotHaveMoved(stage, before, `a late ${kind} moves nothing`)
        const is = ['notSent', 'unknown'].includes(outcome.is)
        assert.ok(is, `a late ${kind} was ${told(outcome)}`)
      }
    },
  },
]

const refsOf = (outcome: Outcome) => ('refs' in outcome ? outcome.refs : undefined)
