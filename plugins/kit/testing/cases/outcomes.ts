import assert from 'node:assert/strict'
import { isResultCode } from '@tollgate/schemas'
import type { Connector, Kind } from '../../connector.ts'
import type { Money } from '../../outcome.ts'
import {
  type Case,
  mustHaveMoved,
  mustNotHaveMoved,
  needs,
  needsEnquiry,
  needsHandler,
  needsLine,
} from '../case.ts'
import { type Stage, told } from '../harness.ts'
import { isTexts } from '../judge.ts'
import { firstKinds, firstOperation, scenesOf, suits, usualAmount } from '../operation.ts'
import type { Scene } from '../sandbox.ts'

const firstKindsOf = (connector: Connector): readonly Kind[] =>
  firstKinds.filter((kind) => connector[kind] !== undefined)

/** The first handler for a scene. */
function operationFor({ connector }: Stage, scene: Scene) {
  const kind = firstKindsOf(connector).find((known) => suits(scene, known))
  assert.ok(kind, 'the scene suits one of authorize, debit, credit')
  return firstOperation(connector, kind, scene)
}

/** Answers of an acquirer, and the outcomes they require. */
export const outcomes: readonly Case[] = [
  {
    name: 'an approval of the acquirer is approved',
    without: needsHandler(...firstKinds),
    async run(stage) {
      const { connector, sandbox } = stage
      for (const method of connector.supports.methods) {
        const isThere = sandbox.approved.some(({ instrument }) => instrument.kind === method)
        assert.ok(isThere, `sandbox.approved has a scene for the method ${method}`)
      }
      for (const kind of firstKindsOf(connector)) {
        for (const scene of scenesOf(sandbox, kind)) {
          const before = await stage.bookings()
          const operation = firstOperation(connector, kind, scene)
          const { outcome, thrown } = await stage.perform(operation)
          const what = `${kind} by ${scene.instrument.kind}`
          const isDone = outcome.is === 'approved' || outcome.is === 'accepted'
          assert.ok(isDone, `${what} should be approved but was ${told(outcome, thrown)}`)
          await mustHaveMoved(stage, before, [operation], `${what} is done once, for its amount`)
          const { refs } = outcome
          const hasRefs = isTexts(refs) && Object.keys(refs).length > 0
          assert.ok(hasRefs, `${what} has a reference of the acquirer, and references are texts`)
          if (outcome.is === 'approved' && outcome.amount !== undefined) {
            assert.deepEqual(outcome.amount, operation.amount, 'amount only where it differs')
          }
        }
      }
    },
  },
  {
    name: 'a decline of the acquirer is declined with its reason',
    without: needsHandler(...firstKinds),
    async run(stage) {
      const { connector, sandbox } = stage
      for (const kind of firstKindsOf(connector).filter((k) => suits(sandbox.declined, k))) {
        const before = await stage.bookings()
        const { outcome, thrown } = await stage.perform(
          firstOperation(connector, kind, sandbox.declined),
        )
        const was = `${kind} was ${told(outcome, thrown)}`
        assert.equal(outcome.is, 'declined', was)
        assert.equal(outcome.is === 'declined' && outcome.reason, sandbox.declined.reason, was)
        await mustNotHaveMoved(stage, before, `a declined ${kind} moves nothing`)
      }
    },
  },
  {
    name: 'an unknown code is never an approval',
    without: needs(needsLine, needsHandler(...firstKinds)),
    async run(stage) {
      const operation = operationFor(stage, stage.sandbox.declined)
      const change = stage.sandbox.answers!.alterCode
      const met = stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'moving')
      const { outcome, returned, thrown } = await stage.perform(operation)
      assert.ok(met.wasMet, 'a request with moves: true goes to the acquirer')
      const is = ['declined', 'unknown'].includes(outcome.is)
      assert.ok(is, `an unknown code is declined or unknown, not ${told(outcome, thrown)}`)
      if (returned?.is === 'declined') {
        const isReason = typeof returned.reason === 'string' && isResultCode(returned.reason)
        assert.ok(isReason, 'a decline with an unknown code has a reason of the table')
      }
    },
  },
  {
    name: 'an approval for another amount or currency names it',
    without: needs(needsLine, needsHandler(...firstKinds)),
    async run(stage) {
      const [scene] = stage.sandbox.approved
      const { minor, currency } = scene!.amount ?? usualAmount
      const others: readonly Money[] = [
        { minor: minor - 100n, currency },
        { minor: minor * 100n, currency },
        { minor, currency: currency === 'USD' ? 'GBP' : 'USD' },
      ]
      for (const other of others) {
        const operation = operationFor(stage, scene!)
        const change = (body: string) => stage.sandbox.answers!.alterAmount(body, other)
        const met = stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'moving')
        const { outcome } = await stage.perform(operation)
        assert.ok(met.wasMet, 'a request with moves: true goes to the acquirer')
        mustTell(outcome, other)
        if (stage.connector.resolve.enquire === undefined) continue
        stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'any')
        mustTell((await stage.enquire(operation)).outcome, other)
      }
    },
  },
  {
    name: 'a payment stays open as long as at the acquirer',
    without: needs(needsHandler(...firstKinds), needsEnquiry, (_connector, { pending }) =>
      pending === undefined ? 'the sandbox has no pending scene' : undefined,
    ),
    async run(stage) {
      const { finish } = stage.acquirer
      assert.ok(finish, 'a sandbox with a pending scene needs finish()')
      const before = await stage.bookings()
      const operation = operationFor(stage, stage.sandbox.pending!)
      const { outcome, thrown } = await stage.perform(operation)
      assert.equal(outcome.is, 'pending', `an open payment was ${told(outcome, thrown)}`)
      const early = await stage.enquire(operation)
      assert.equal(early.outcome.is, 'pending', `an enquiry returns ${told(early.outcome)}`)
      await mustNotHaveMoved(stage, before, 'an open payment moves nothing')
      await finish.call(stage.acquirer, operation.key)
      const late = await stage.enquire(operation)
      const isDone = late.outcome.is === 'approved' || late.outcome.is === 'accepted'
      assert.ok(isDone, `after its end an enquiry returns ${told(late.outcome, late.thrown)}`)
      await mustHaveMoved(stage, before, [operation], 'the payment ends once, for its amount')
    },
  },
  {
    name: 'an instrument is verified without moving money',
    without: needsHandler('verify'),
    async run(stage) {
      const before = await stage.bookings()
      for (const scene of scenesOf(stage.sandbox, 'verify')) {
        const { outcome, thrown } = await stage.perform(
          firstOperation(stage.connector, 'verify', scene),
        )
        assert.equal(outcome.is, 'approved', `verify was ${told(outcome, thrown)}`)
      }
      await mustNotHaveMoved(stage, before, 'verify moves nothing')
    },
  },
]

/** An approval names a different amount. A connector that cannot tell returns unknown. */
function mustTell(outcome: { readonly is: string; readonly amount?: Money }, other: Money): void {
  if (outcome.is === 'unknown') return
  const what = `an answer for ${other.minor} ${other.currency}, which was not requested,`
  assert.equal(outcome.is, 'approved', `${what} was ${outcome.is}`)
  assert.deepEqual(outcome.amount, other, `${what} was approved without naming the amount`)
}
