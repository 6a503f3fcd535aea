import assert from 'node:assert/strict'
import type { Claim } from '../../connector.ts'
import type { Found, ReversalEnd } from '../../outcome.ts'
import { type Case, mustHaveMoved, mustNotHaveMoved, needs, needsReversal } from '../case.ts'
import { isBelieved, reversalEnded, type Stage, told } from '../harness.ts'
import { answered, firstKinds, firstOperation, suits } from '../operation.ts'
import type { Booking, Sandbox } from '../sandbox.ts'

const needsScene = (_: unknown, { reversedLater }: Sandbox): string | undefined =>
  reversedLater === undefined ? 'the acquirer reverses at once' : undefined

/** Reversals by key that the acquirer only takes. */
export const reversals: readonly Case[] = [
  {
    name: 'a reversal that the acquirer only took is requested, and is told as reversed',
    without: needs(needsReversal, needsScene),
    async run(stage) {
      const { operation, before } = await requested(stage)
      const claims = await reversalEnded(stage, operation.key, 'reversed')
      await mustNotHaveMoved(stage, before, 'nothing remains after the reversal')
      const found = await foundAfter(stage, operation)
      const isGone = found === undefined || /^(reversed|declined|notFound)$/.test(found.is)
      assert.ok(isGone, `an enquiry returns ${found && told(found)} after the reversal`)
      mustBeClaimed(stage, claims, operation.key, 'reversed')
      const again = await stage.reverseByKey(operation)
      const isDone = again.outcome.is === 'reversed' || again.outcome.is === 'nothing'
      assert.ok(isDone, `a reversal of a reversed key was ${told(again.outcome, again.thrown)}`)
    },
  },
  {
    name: 'a requested reversal that fails is told as not reversed',
    without: needs(needsReversal, needsScene),
    async run(stage) {
      const { operation, before } = await requested(stage)
      const claims = await reversalEnded(stage, operation.key, 'notReversed')
      await mustHaveMoved(stage, before, [operation], 'the operation stands')
      const found = await foundAfter(stage, operation)
      const stands = found === undefined || /^(notReversed|approved|accepted)$/.test(found.is)
      assert.ok(stands, `an enquiry returns ${found && told(found)} after the failure`)
      mustBeClaimed(stage, claims, operation.key, 'notReversed')
    },
  },
]

/** A payment whose reversal the acquirer took; a repeat requests nothing twice. */
async function requested(stage: Stage) {
  const scene = stage.sandbox.reversedLater!
  const tells = stage.connector.resolve.enquire !== undefined || isBelieved(stage.connector)
  assert.ok(tells, 'a connector that requests reversals has resolve.enquire or inbound')
  const kind = firstKinds.find((known) => stage.connector[known] && suits(scene, known))
  assert.ok(kind, 'the connector has no handler for sandbox.reversedLater')
  const before: readonly Booking[] = await stage.bookings()
  const operation = answered(await stage.done(firstOperation(stage.connector, kind, scene)))
  for (const time of ['a', 'a repeated']) {
    const { outcome, thrown } = await stage.reverseByKey(operation)
    assert.equal(outcome.is, 'requested', `${time} reversal was ${told(outcome, thrown)}`)
  }
  const found = await foundAfter(stage, operation)
  const isSuccess = found?.is === 'approved' || found?.is === 'accepted'
  const rule = 'a payment that is being taken back is no success'
  assert.ok(!isSuccess && found?.is !== 'declined', `${rule}, not ${found && told(found)}`)
  return { operation, before }
}

async function foundAfter(
  stage: Stage,
  operation: Parameters<Stage['enquire']>[0],
): Promise<Found | undefined> {
  if (stage.connector.resolve.enquire === undefined) return undefined
  return (await stage.enquire(operation)).outcome
}

function mustBeClaimed(
  { connector }: Stage,
  claims: readonly Claim[],
  key: string,
  is: ReversalEnd['is'],
): void {
  if (!isBelieved(connector)) return
  const said = claims.map((claim) => ({ key: claim.key, is: claim.outcome.is }))
  assert.deepEqual(said, [{ key, is }], 'the event claims the end of the reversal')
}
