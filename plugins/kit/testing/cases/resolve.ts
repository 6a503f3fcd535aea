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
import { type Stage, told } from '../harness.ts'
import { firstKinds, firstOperation, moneyKinds, suits } from '../operation.ts'
import type { Scene } from '../sandbox.ts'
import { askUnder, lineFaults, performUnder } from './line.ts'

const kindOf = (connector: Connector): Kind => firstKinds.find((kind) => connector[kind])!
const lost: Fault = { reaches: true, damage: { do: 'silence' } }
const late: Fault = { reaches: false, damage: { do: 'silence' } }

/** How the engine finds out what happened, and undoes it. */
export const resolve: readonly Case[] = [
  {
    name: 'finds out by enquiry what was done',
    without: needs(needsEnquiry, needsHandler(...moneyKinds)),
    async run(stage) {
      for (const kind of moneyKinds.filter((known) => stage.connector[known])) {
        const before = await stage.prepare(kind)
        const { operation, outcome } = await stage.done(before)
        const bookings = await stage.bookings()
        const found = await stage.enquire(operation)
        const is = told(found.outcome, found.thrown)
        assert.equal(found.outcome.is, outcome.is, `an enquiry about a ${kind} says ${is}`)
        if (found.outcome.is !== 'approved' && found.outcome.is !== 'accepted') continue
        assert.deepEqual(found.outcome.refs, outcome.refs, 'an enquiry finds the same references')
        const rule = 'amount only where it differs'
        assert.ok(!('amount' in found.outcome) || found.outcome.amount === undefined, rule)
        await mustNotHaveMoved(stage, bookings, 'an enquiry moves nothing')
        assert.equal(found.moved, false, 'an enquiry is not tagged with moves: true')
      }
    },
  },
  {
    name: 'finds out by enquiry what was declined',
    without: needs(needsEnquiry, needsHandler(...firstKinds)),
    async run(stage) {
      const { declined } = stage.sandbox
      const kind = firstKinds.find((known) => stage.connector[known] && suits(declined, known))!
      const operation = firstOperation(stage.connector, kind, declined)
      await stage.perform(operation)
      const { outcome, thrown } = await stage.enquire(operation)
      // An acquirer may keep no trace of what it declined.
      if (outcome.is === 'notFound') return
      assert.equal(outcome.is, 'declined', `an enquiry says ${told(outcome, thrown)}`)
      assert.equal(outcome.is === 'declined' && outcome.reason, declined.reason)
    },
  },
  {
    name: 'finds out by enquiry what was done when the answer was lost',
    without: needs(needsEnquiry, needsHandler(...firstKinds), (connector, sandbox) =>
      sandbox.lost === undefined ? needsLine(connector, sandbox) : undefined,
    ),
    async run(stage) {
      if (stage.sandbox.lost !== undefined) return losesByItself(stage, stage.sandbox.lost)
      for (const kind of moneyKinds.filter((known) => stage.connector[known])) {
        const operation = await stage.prepare(kind)
        await performUnder(stage, operation, lost)
        const { outcome, thrown } = await stage.enquire(operation)
        const isDone = outcome.is === 'approved' || outcome.is === 'accepted'
        assert.ok(isDone, `an enquiry about a ${kind} says ${told(outcome, thrown)}`)
      }
    },
  },
  {
    name: 'says notFound of a key that was never used',
    without: needs(needsEnquiry, needsHandler(...firstKinds)),
    async run(stage) {
      const { outcome, thrown } = await stage.enquire(await stage.prepare(kindOf(stage.connector)))
      assert.equal(outcome.is, 'notFound', `an enquiry says ${told(outcome, thrown)}`)
    },
  },
  {
    name: 'says notFound of what is still on its way, and finds it when it came',
    without: needs(needsLine, needsEnquiry, needsHandler(...firstKinds)),
    async run(stage) {
      const operation = await stage.prepare(kindOf(stage.connector))
      const { met } = await performUnder(stage, operation, late)
      const early = await stage.enquire(operation)
      const rule = 'what did not arrive yet may still arrive: only notFound is the truth'
      assert.equal(
        early.outcome.is,
        'notFound',
        `${rule}, not ${told(early.outcome, early.thrown)}`,
      )
      await met.release()
      const { outcome, thrown } = await stage.enquire(operation)
      const isDone = outcome.is === 'approved' || outcome.is === 'accepted'
      assert.ok(isDone, `an enquiry says ${told(outcome, thrown)} of what arrived late`)
    },
  },
  {
    name: 'concludes nothing from a broken answer to an enquiry',
    without: needs(needsLine, needsEnquiry, needsHandler(...firstKinds)),
    async run(stage) {
      const { operation } = await stage.done(await stage.prepare(kindOf(stage.connector)))
      for (const [name, fault] of Object.entries(lineFaults)) {
        const { outcome } = await askUnder(stage, fault, (until) => stage.enquire(operation, until))
        // Asking again is allowed here: nothing moves.
        const isTrue = outcome.is === 'approved' || outcome.is === 'accepted'
        const rule = `${name}: the enquiry said ${told(outcome)}`
        assert.ok(outcome.is === 'unknown' || isTrue, rule)
      }
    },
  },
  {
    name: 'undoes by key what was done, for good',
    without: needs(needsReversal, needsHandler(...firstKinds)),
    async run(stage) {
      for (const kind of firstKinds.filter((known) => stage.connector[known])) {
        const before = await stage.bookings()
        const { operation } = await stage.done(await stage.prepare(kind))
        const { outcome, thrown } = await stage.reverseByKey(operation)
        const was = `a reversal by key of a ${kind} was ${told(outcome, thrown)}`
        assert.equal(outcome.is, 'reversed', was)
        await mustNotHaveMoved(stage, before, `nothing of the ${kind} stands`)
        await mustBeHarmless(stage, operation)
        const again = await stage.reverseByKey(operation)
        const isDone = again.outcome.is === 'reversed' || again.outcome.is === 'nothing'
        assert.ok(isDone, `a second reversal by key was ${told(again.outcome, again.thrown)}`)
        await mustNotHaveMoved(stage, before, `nothing of the ${kind} stands after all that`)
      }
    },
  },
  {
    name: 'makes a key harmless that was never used',
    without: needs(needsReversal, needsHandler(...firstKinds)),
    async run(stage) {
      const operation = await stage.prepare(kindOf(stage.connector))
      const before = await stage.bookings()
      const { outcome, thrown } = await stage.reverseByKey(operation)
      assert.equal(outcome.is, 'nothing', `the reversal was ${told(outcome, thrown)}`)
      await mustBeHarmless(stage, operation)
      await mustNotHaveMoved(stage, before, 'nothing moves by a key that was made harmless')
    },
  },
  {
    name: 'makes a key harmless whose request is still on its way',
    without: needs(needsLine, needsReversal, needsHandler(...firstKinds)),
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
    name: 'concludes nothing from a broken answer to a reversal by key',
    without: needs(needsLine, needsReversal, needsHandler(...firstKinds)),
    async run(stage) {
      for (const [name, fault] of Object.entries(lineFaults)) {
        const before = await stage.bookings()
        const { operation } = await stage.done(await stage.prepare(kindOf(stage.connector)))
        const { outcome } = await askUnder(stage, fault, (until) =>
          stage.reverseByKey(operation, until),
        )
        const rule = `${name}: the reversal was ${told(outcome)}`
        if (outcome.is !== 'reversed') {
          assert.ok(outcome.is === 'unknown' || outcome.is === 'refused', rule)
          continue
        }
        await mustNotHaveMoved(stage, before, rule)
      }
    },
  },
]

/** An acquirer inside the process carries a payment out and does not say so. */
async function losesByItself(stage: Stage, scene: Scene): Promise<void> {
  const before = await stage.bookings()
  const operation = firstOperation(stage.connector, kindOf(stage.connector), scene)
  const { outcome } = await stage.perform(operation)
  assert.equal(outcome.is, 'unknown', `a payment without an answer was ${told(outcome)}`)
  const found = (await stage.enquire(operation)).outcome
  const isDone = found.is === 'approved' || found.is === 'accepted'
  assert.ok(isDone, `an enquiry says ${told(found)}`)
  await mustHaveMoved(stage, before, [operation], 'it is done once, for its amount')
}

/** A key that was reversed does nothing any more, and no enquiry calls it approved. */
async function mustBeHarmless(stage: Stage, operation: Operation): Promise<void> {
  const { outcome } = await stage.perform(operation)
  const isDone = outcome.is === 'approved' || outcome.is === 'accepted'
  assert.ok(!isDone, `an operation with a key that was reversed was ${told(outcome)}`)
  if (stage.connector.resolve.enquire === undefined) return
  const found = (await stage.enquire(operation)).outcome
  const isFound = found.is === 'approved' || found.is === 'accepted'
  assert.ok(!isFound, `an enquiry about a key that was reversed says ${told(found)}`)
}
