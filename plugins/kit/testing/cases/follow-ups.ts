import assert from 'node:assert/strict'
import type { Kind } from '../../connector.ts'
import { type Case, mustHaveMoved, mustNotHaveMoved, needs, needsHandler } from '../case.ts'
import { delivered, endOf, isBelieved, isDone, type Stage, told } from '../harness.ts'
import { type Done, operationOn, originalKind, withArticle } from '../operation.ts'
import { mustBeForAll } from './outcomes.ts'

/** Operations on an earlier one. */
export const followUps: readonly Case[] = [
  {
    name: 'an authorisation is captured in full and in part',
    without: needsHandler('capture'),
    async run(stage) {
      const { partial, multiple } = stage.connector.supports.capture ?? {}
      await mustCarryOut(stage, 'capture', [whole])
      if (partial) await mustCarryOut(stage, 'capture', [half])
      if (partial && multiple) await mustCarryOut(stage, 'capture', [half, restOfHalf])
    },
  },
  {
    name: 'a capture above the authorisation is refused',
    without: needsHandler('capture'),
    run: (stage) => mustBeRefused(stage, 'capture'),
  },
  {
    name: 'a payment is refunded in full and in part',
    without: needsHandler('refund'),
    async run(stage) {
      await mustCarryOut(stage, 'refund', [whole])
      if (stage.connector.supports.refund?.partial) {
        await mustCarryOut(stage, 'refund', [half, restOfHalf])
      }
    },
  },
  {
    name: 'a capture is refunded in full, by its own references',
    without: needs(needsHandler('refund'), needsHandler('capture')),
    async run(stage) {
      const capture = await stage.done(await stage.prepare('capture'))
      const before = await stage.bookings()
      const operation = operationOn(stage.connector, 'refund', capture)
      await stage.done(operation)
      await mustHaveMoved(stage, before, [operation], 'the refund of a capture is done once')
    },
  },
  {
    name: 'a refund above the payment is refused',
    without: needsHandler('refund'),
    run: (stage) => mustBeRefused(stage, 'refund'),
  },
  {
    name: 'an authorisation is reversed in full and in part',
    without: needsHandler('reverse'),
    async run(stage) {
      await mustCarryOut(stage, 'reverse', [whole])
      const kind = originalKind(stage.connector, 'reverse')
      if (kind === 'authorize' && stage.connector.supports.reverse?.partial) {
        await mustCarryOut(stage, 'reverse', [half])
      }
    },
  },
  {
    name: 'an authorisation is incremented and captured as a sum',
    without: needsHandler('increment'),
    async run(stage) {
      const root = await mustCarryOut(stage, 'increment', [() => 1000n])
      if (stage.connector.capture === undefined) return
      const before = await stage.bookings()
      const sum = root.operation.amount.minor + 1000n
      const { operation } = await stage.done(operationOn(stage.connector, 'capture', root, sum))
      await mustHaveMoved(stage, before, [operation], 'the increased amount is captured')
    },
  },
  {
    name: 'an operation on a payment without references says what is missing, unless it is done',
    without: needsHandler('capture', 'refund', 'reverse', 'increment'),
    async run(stage) {
      const kinds = (['capture', 'refund', 'reverse', 'increment'] as const).filter(
        (kind) => stage.connector[kind],
      )
      for (const kind of kinds) {
        const { original, ...rest } = await stage.prepare(kind)
        const operation = { ...rest, original: { ...original!, refs: {} } }
        const { outcome, thrown, moved } = await stage.perform(operation)
        if (isDone(await endOf(stage, operation, outcome))) continue
        const isMissing = outcome.is === 'declined' && outcome.reason === '900.100.202' && !moved
        const was = `${withArticle(kind)} was ${told(outcome, thrown)}`
        assert.ok(isMissing, `${was}; an operator can add what new MissingReference(name) names`)
      }
    },
  },
]

const whole = (minor: bigint) => minor
const half = (minor: bigint) => minor / 2n
const restOfHalf = (minor: bigint) => minor - minor / 2n

/** Carries out several operations on one original, and checks each booking. */
async function mustCarryOut(
  stage: Stage,
  kind: Kind,
  parts: readonly ((minor: bigint) => bigint)[],
): Promise<Done> {
  const original = await stage.done(await stage.prepare(originalKind(stage.connector, kind)!))
  const all = original.operation.amount.minor
  for (const part of parts) {
    const before = await stage.bookings()
    const operation = operationOn(stage.connector, kind, original, part(all))
    const { outcome } = await stage.done(operation)
    const rule = `${kind} of ${operation.amount.minor} of ${all} is done once, for its amount`
    await mustHaveMoved(stage, before, [operation], rule)
    mustBeForAll(outcome, operation.amount)
  }
  return original
}

async function mustBeRefused(stage: Stage, kind: Kind): Promise<void> {
  const original = await stage.done(await stage.prepare(originalKind(stage.connector, kind)!))
  const before = await stage.bookings()
  const { minor } = original.operation.amount
  const operation = operationOn(stage.connector, kind, original, minor + 1n)
  const { outcome, thrown } = await stage.perform(operation)
  const was = `${kind} of ${minor + 1n} of ${minor} was ${told(outcome, thrown)}`
  const isTaken = outcome.is === 'accepted' || outcome.is === 'pending'
  // An acquirer that only takes an operation refuses it later.
  if (isTaken && isBelieved(stage.connector)) {
    const claims = await delivered(stage, operation.key)
    const said = claims.map((claim) => `${claim.key} ${claim.outcome.is}`)
    assert.deepEqual(said, [`${operation.key} declined`], `${was}; its event refuses it`)
  } else if (isTaken && stage.connector.resolve.enquire !== undefined) {
    const found = await stage.enquire(operation)
    const end = `${was}, and an enquiry returns ${told(found.outcome, found.thrown)}`
    assert.equal(found.outcome.is, 'declined', `${end}; it refuses it`)
  } else assert.equal(outcome.is, 'declined', was)
  await mustNotHaveMoved(stage, before, `${withArticle(kind)} above the sum moves nothing`)
}
