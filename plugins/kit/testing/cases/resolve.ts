import assert from 'node:assert/strict'
import type { Connector, Kind, Operation } from '../../connector.ts'
import {
  type Case,
  mustHaveMoved,
  mustNotHaveMoved,
  needs,
  needsEnquiry,
  needsHandler,
  needsLine,
  needsReversal,
} from '../case.ts'
import type { Fault } from '../fault.ts'
import {
  delivered,
  endOf,
  isBelieved,
  isDone,
  reversalEnded,
  type Stage,
  told,
} from '../harness.ts'
import {
  firstKinds,
  firstOperation,
  followUpKinds,
  moneyKinds,
  suits,
  withArticle,
} from '../operation.ts'
import type { Sandbox, Scene } from '../sandbox.ts'
import { askUnder, lineFaults, performUnder } from './line.ts'
import { mustBeForAll } from './outcomes.ts'
import { statusFaults } from './statuses.ts'

const kindOf = (connector: Connector): Kind => firstKinds.find((kind) => connector[kind])!
const lost: Fault = { reaches: true, damage: { do: 'silence' } }
const late: Fault = { reaches: false, damage: { do: 'silence' } }
const allFaults: Readonly<Record<string, Fault>> = { ...lineFaults, ...statusFaults }

const closesKeys = (_connector: Connector, { takesLatecomers }: Sandbox): string | undefined =>
  takesLatecomers ? 'the acquirer cannot close a key that it never saw' : undefined

/** Enquiries and reversals by key. */
export const resolve: readonly Case[] = [
  {
    name: 'an enquiry finds an approved operation',
    without: needs(needsEnquiry, needsHandler(...moneyKinds)),
    async run(stage) {
      for (const kind of moneyKinds.filter((known) => stage.connector[known])) {
        const before = await stage.prepare(kind)
        const { operation, outcome } = await stage.done(before)
        const bookings = await stage.bookings()
        const found = await stage.enquire(operation)
        const is = told(found.outcome, found.thrown)
        assert.equal(
          found.outcome.is,
          outcome.is,
          `an enquiry about ${withArticle(kind)} returns ${is}`,
        )
        if (found.outcome.is !== 'approved' && found.outcome.is !== 'accepted') continue
        assert.deepEqual(found.outcome.refs, outcome.refs, 'an enquiry finds the same references')
        mustBeForAll(found.outcome, operation.amount)
        await mustNotHaveMoved(stage, bookings, 'an enquiry moves nothing')
        assert.equal(found.moved, false, 'an enquiry is not tagged with moves: true')
      }
    },
  },
  {
    name: 'an enquiry finds a declined operation',
    without: needs(needsEnquiry, needsHandler(...firstKinds)),
    async run(stage) {
      const { declined } = stage.sandbox
      const kind = firstKinds.find((known) => stage.connector[known] && suits(declined, known))!
      const operation = firstOperation(stage.connector, kind, declined)
      await stage.perform(operation)
      const { outcome, thrown } = await stage.enquire(operation)
      // An acquirer can keep no record of a decline.
      if (outcome.is === 'notFound') return
      assert.equal(outcome.is, 'declined', `an enquiry returns ${told(outcome, thrown)}`)
      assert.equal(outcome.is === 'declined' && outcome.reason, declined.reason)
    },
  },
  {
    name: 'an enquiry finds an operation whose answer was lost',
    without: needs(needsEnquiry, needsHandler(...firstKinds), (connector, sandbox) =>
      sandbox.lost === undefined ? needsLine(connector, sandbox) : undefined,
    ),
    async run(stage) {
      if (stage.sandbox.lost !== undefined) return losesByItself(stage, stage.sandbox.lost)
      for (const kind of moneyKinds.filter((known) => stage.connector[known])) {
        const operation = await stage.prepare(kind)
        await performUnder(stage, operation, lost)
        await mustBeFound(stage, operation, `an enquiry about ${withArticle(kind)}`)
      }
    },
  },
  {
    name: 'an enquiry about an unused key returns notFound',
    without: needs(needsEnquiry, needsHandler(...firstKinds)),
    async run(stage) {
      const { outcome, thrown } = await stage.enquire(await stage.prepare(kindOf(stage.connector)))
      assert.equal(outcome.is, 'notFound', `an enquiry returns ${told(outcome, thrown)}`)
    },
  },
  {
    name: 'an enquiry about a delayed request returns notFound, and finds it after its arrival',
    without: needs(needsLine, needsEnquiry, needsHandler(...firstKinds)),
    async run(stage) {
      const operation = await stage.prepare(kindOf(stage.connector))
      const { met } = await performUnder(stage, operation, late)
      const early = await stage.enquire(operation)
      const rule = 'a late request can still arrive, so only notFound is true'
      assert.equal(
        early.outcome.is,
        'notFound',
        `${rule}, not ${told(early.outcome, early.thrown)}`,
      )
      await met.release()
      await mustBeFound(stage, operation, 'after a late arrival an enquiry')
    },
  },
  {
    name: 'a broken answer to an enquiry proves nothing',
    without: needs(needsLine, needsEnquiry, needsHandler(...firstKinds)),
    async run(stage) {
      const { operation } = await stage.done(await stage.prepare(kindOf(stage.connector)))
      for (const [name, fault] of Object.entries(allFaults)) {
        const { outcome } = await askUnder(stage, fault, (until) => stage.enquire(operation, until))
        // A repeated enquiry is allowed, because nothing moves.
        const isTrue = outcome.is === 'approved' || outcome.is === 'accepted'
        const rule = `${name}: the enquiry returned ${told(outcome)}`
        assert.ok(outcome.is === 'unknown' || isTrue, `${rule}; return unknown`)
      }
    },
  },
  {
    name: 'a reversal by key undoes an operation for good',
    without: needs(needsReversal, needsHandler(...firstKinds)),
    async run(stage) {
      for (const kind of firstKinds.filter((known) => stage.connector[known])) {
        const before = await stage.bookings()
        const { operation } = await stage.done(await stage.prepare(kind))
        const { outcome, thrown } = await stage.reverseByKey(operation)
        const was = `a reversal by key of ${withArticle(kind)} was ${told(outcome, thrown)}`
        if (outcome.is === 'requested') await reversalEnded(stage, operation.key, 'reversed')
        else assert.equal(outcome.is, 'reversed', was)
        await mustNotHaveMoved(stage, before, `nothing of the ${kind} remains`)
        await mustBeHarmless(stage, operation)
        const again = await stage.reverseByKey(operation)
        const isDone = again.outcome.is === 'reversed' || again.outcome.is === 'nothing'
        assert.ok(isDone, `a second reversal by key was ${told(again.outcome, again.thrown)}`)
        await mustNotHaveMoved(stage, before, `nothing of the ${kind} remains after the repetition`)
      }
    },
  },
  {
    name: 'a reversal by key undoes every kind that reversibleByKey names',
    without: needs(needsReversal, needsHandler(...followUpKinds)),
    async run(stage) {
      const { reversibleByKey } = stage.connector.supports
      const isNamed = (kind: Kind) => reversibleByKey?.includes(kind) !== false
      for (const kind of followUpKinds.filter((k) => stage.connector[k] && isNamed(k))) {
        const operation = await stage.prepare(kind)
        const before = await stage.bookings()
        await stage.done(operation)
        const { outcome, thrown } = await stage.reverseByKey(operation)
        const rule = 'leave a kind out of supports.reversibleByKey if the acquirer cannot undo it'
        const was = `a reversal by key of ${withArticle(kind)} was ${told(outcome, thrown)}; ${rule}`
        if (outcome.is === 'requested') await reversalEnded(stage, operation.key, 'reversed')
        else assert.equal(outcome.is, 'reversed', was)
        await mustNotHaveMoved(stage, before, `nothing of the ${kind} remains; ${rule}`)
      }
    },
  },
  {
    name: 'a reversal by key closes an unused key',
    without: needs(needsReversal, closesKeys, needsHandler(...firstKinds)),
    async run(stage) {
      const operation = await stage.prepare(kindOf(stage.connector))
      const before = await stage.bookings()
      const { outcome, thrown } = await stage.reverseByKey(operation)
      assert.equal(outcome.is, 'nothing', `the reversal was ${told(outcome, thrown)}`)
      await mustBeHarmless(stage, operation)
      await mustNotHaveMoved(stage, before, 'a closed key moves nothing')
    },
  },
  {
    name: 'a reversal by key closes a key with a delayed request',
    without: needs(needsLine, needsReversal, closesKeys, needsHandler(...firstKinds)),
    async run(stage) {
      const operation = await stage.prepare(kindOf(stage.connector))
      const before = await stage.bookings()
      const { met } = await performUnder(stage, operation, late)
      const { outcome, thrown } = await stage.reverseByKey(operation)
      assert.equal(outcome.is, 'nothing', `the reversal was ${told(outcome, thrown)}`)
      await met.release()
      await mustNotHaveMoved(stage, before, 'the late request moves nothing')
    },
  },
  {
    name: 'a request that arrives after the reversal of its key is told by an event, and can be undone',
    without: needs(needsReversal, needsHandler(...firstKinds), (_connector, { takesLatecomers }) =>
      takesLatecomers ? undefined : 'the acquirer closes keys that it never saw',
    ),
    async run(stage) {
      const { connector } = stage
      const rule = 'a connector whose acquirer takes latecomers has inbound, with proof'
      assert.ok(isBelieved(connector), rule)
      for (const kind of firstKinds.filter((known) => connector[known])) {
        const operation = await stage.prepare(kind)
        const before = await stage.bookings()
        const { outcome, thrown } = await stage.reverseByKey(operation)
        const was = `the reversal of an unused key was ${told(outcome, thrown)}`
        assert.ok(outcome.is === 'requested' || outcome.is === 'nothing', was)
        if (outcome.is === 'requested') {
          const claims = await reversalEnded(stage, operation.key, 'notReversed')
          const rule =
            'nothing was there: that no reversal was possible does not say that it stands'
          assert.deepEqual(claims, [], rule)
          const again = await stage.reverseByKey(operation)
          assert.equal(again.outcome.is, 'nothing', `afterwards it is ${told(again.outcome)}`)
        }
        await mustNotHaveMoved(stage, before, 'the reversal of an unused key moves nothing')
        await stage.perform(operation)
        await mustHaveMoved(stage, before, [operation], 'the late request is carried out')
        const [late] = await delivered(stage, operation.key)
        const isTold = late?.outcome.is === 'approved' || late?.outcome.is === 'accepted'
        assert.ok(isTold && late.key === operation.key, `an event tells of the late ${kind}`)
        const undone = await stage.reverseByKey(operation)
        if (undone.outcome.is === 'requested') await reversalEnded(stage, operation.key, 'reversed')
        else assert.equal(undone.outcome.is, 'reversed', `it was ${told(undone.outcome)}`)
        await mustNotHaveMoved(stage, before, `nothing of the late ${kind} remains`)
      }
    },
  },
  {
    name: 'a broken answer to a reversal by key proves nothing',
    without: needs(needsLine, needsReversal, needsHandler(...firstKinds)),
    async run(stage) {
      for (const [name, fault] of Object.entries(allFaults)) {
        const before = await stage.bookings()
        const { operation } = await stage.done(await stage.prepare(kindOf(stage.connector)))
        const { outcome } = await askUnder(stage, fault, (until) =>
          stage.reverseByKey(operation, until),
        )
        const rule = `${name}: the reversal was ${told(outcome)}`
        if (outcome.is !== 'reversed') {
          const isOpen = outcome.is === 'unknown' || outcome.is === 'refused'
          assert.ok(isOpen, `${rule}; return unknown`)
          continue
        }
        await mustNotHaveMoved(stage, before, rule)
      }
    },
  },
]

/** An acquirer inside the process carries a payment out and loses its answer. */
async function losesByItself(stage: Stage, scene: Scene): Promise<void> {
  const before = await stage.bookings()
  const operation = firstOperation(stage.connector, kindOf(stage.connector), scene)
  const { outcome } = await stage.perform(operation)
  assert.equal(outcome.is, 'unknown', `a payment without an answer was ${told(outcome)}`)
  await mustBeFound(stage, operation, 'an enquiry')
  await mustHaveMoved(stage, before, [operation], 'the payment is made once, for its amount')
}

/** The acquirer has the operation, perhaps only taken: an enquiry says so, and finds it done in the end. */
export async function mustBeFound(stage: Stage, operation: Operation, what: string): Promise<void> {
  const { outcome, thrown } = await stage.enquire(operation)
  const end = await endOf(stage, operation, outcome)
  assert.ok(isDone(end), `${what} returns ${told(end, thrown)}`)
}

/** A reversed key has no further effect, and no enquiry returns it as approved. */
async function mustBeHarmless(stage: Stage, operation: Operation): Promise<void> {
  const { outcome } = await stage.perform(operation)
  const isDone = outcome.is === 'approved' || outcome.is === 'accepted'
  const isSaid = stage.sandbox.repeatsAnswers === true
  assert.ok(!isDone || isSaid, `an operation under a reversed key was ${told(outcome)}`)
  if (stage.connector.resolve.enquire === undefined) return
  const found = (await stage.enquire(operation)).outcome
  const isFound = found.is === 'approved' || found.is === 'accepted'
  assert.ok(!isFound, `an enquiry about a reversed key returns ${told(found)}`)
}
