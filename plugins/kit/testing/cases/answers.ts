import assert from 'node:assert/strict'
import type { Kind, Operation } from '../../connector.ts'
import type { Money, Outcome } from '../../outcome.ts'
import {
  type Case,
  claimsIn,
  mustHaveMoved,
  needs,
  needsHandler,
  needsLine,
  needsReversal,
  wasDone,
} from '../case.ts'
import { isBelieved, type Stage, told } from '../harness.ts'
import { isForAll } from '../judge.ts'
import {
  firstKinds,
  firstOperation,
  followUpKinds,
  suits,
  usualAmount,
  withArticle,
} from '../operation.ts'
import type { Sandbox } from '../sandbox.ts'
import { eventOf } from './events.ts'
import { mustBeForAll, mustTell, operationFor } from './outcomes.ts'

type Answers = NonNullable<Sandbox['answers']>

/** A change of answers that a sandbox need not have. */
export const needsChange =
  (name: keyof Answers) =>
  (_connector: unknown, { answers }: Sandbox): string | undefined =>
    answers?.[name] === undefined ? `the sandbox has no answers.${name}` : undefined

/** Other words of the acquirer than those of a plain approval or decline. */
export const answers: readonly Case[] = [
  {
    name: 'every currency keeps its amount and its name, also in events',
    without: needs(needsHandler(...firstKinds), ({ supports: { currencies } }) =>
      currencies === 'any' || plainCurrencies.some((code) => currencies.includes(code))
        ? undefined
        : `the connector has none of ${plainCurrencies.join(', ')}`,
    ),
    async run(stage) {
      const { connector, sandbox, acquirer } = stage
      const { currencies } = connector.supports
      for (const currency of plainCurrencies) {
        if (currencies !== 'any' && !currencies.includes(currency)) continue
        const amount = { minor: 9203n, currency }
        const operation = operationFor(stage, { ...sandbox.approved[0]!, amount })
        const before = await stage.bookings()
        const { outcome } = await stage.done(operation)
        await mustHaveMoved(stage, before, [operation], `9203 minor units of ${currency} are paid`)
        mustBeForAll(outcome, amount)
        if (!isBelieved(connector) || acquirer.event === undefined) continue
        const [claim] = await claimsIn(stage, await eventOf(stage, operation.key))
        assert.deepEqual(claim?.amount, amount, `the event about 92.03 ${currency} claims this`)
      }
    },
  },
  {
    name: 'an answer that is cut at any byte says nothing else than the whole',
    without: needs(needsLine, needsHandler(...firstKinds)),
    async run(stage) {
      const { sandbox } = stage
      for (const scene of [sandbox.approved[0]!, sandbox.declined]) {
        const kind = firstKinds.find((known) => stage.connector[known] && suits(scene, known))!
        const { length } = await answerTo(stage, firstOperation(stage.connector, kind, scene))
        for (const at of cuts(length)) {
          const operation = firstOperation(stage.connector, kind, scene)
          const before = await stage.bookings()
          const change = (body: string) => Buffer.from(body).subarray(0, at).toString()
          const { outcome } = await performChanged(stage, operation, change)
          const rule = `an answer cut after ${at} of ${length} bytes was ${told(outcome)}`
          assert.ok(await isTrue(stage, before, operation, outcome, scene), rule)
        }
      }
    },
  },
  {
    name: 'an approval without its code leaves the outcome unknown',
    without: needs(needsLine, needsChange('withoutCode'), needsHandler(...firstKinds)),
    run: (stage) => mustBeUnknown(stage, 'withoutCode', 'without its code'),
  },
  {
    name: 'a partial approval without a smaller amount leaves the outcome unknown',
    without: needs(needsLine, needsChange('partialCode'), needsHandler(...firstKinds)),
    run: (stage) => mustBeUnknown(stage, 'partialCode', 'with the code of a partial approval'),
  },
  {
    name: 'a partial approval of a smaller amount is never taken for the whole',
    without: needs(needsLine, needsChange('partialCode'), needsHandler(...firstKinds)),
    async run(stage) {
      const { amount = usualAmount } = stage.sandbox.approved[0]!
      const part: Money = { ...amount, minor: amount.minor / 2n }
      const operation = operationFor(stage, { ...stage.sandbox.approved[0]!, amount })
      const change = inPart(stage.sandbox, part)
      mustTell((await performChanged(stage, operation, change)).outcome, part)
      if (stage.connector.resolve.enquire === undefined) return
      stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'any')
      mustTell((await stage.enquire(operation)).outcome, part)
    },
  },
  {
    name: 'a malfunction leaves captures, refunds and other follow-ups unknown',
    without: needs(needsLine, needsChange('malfunction'), needsHandler(...followUpKinds)),
    async run(stage) {
      const { malfunction } = stage.sandbox.answers!
      for (const kind of followUpKinds.filter((known) => stage.connector[known])) {
        const { outcome, thrown } = await performChanged(
          stage,
          await stage.prepare(kind),
          malfunction!,
        )
        // An acquirer that only takes the operation tells its end in another message.
        const isOpen = ['unknown', 'pending', 'accepted'].includes(outcome.is)
        const was = `${withArticle(kind)} with a malfunction was ${told(outcome, thrown)}`
        assert.ok(isOpen, `${was}; the acquirer may have booked before it failed`)
      }
    },
  },
  {
    name: 'a capture or a refund of another amount is never taken for the whole',
    without: needs(needsLine, needsHandler('capture', 'refund')),
    async run(stage) {
      const { alterAmount } = stage.sandbox.answers!
      for (const kind of (['capture', 'refund'] as Kind[]).filter((k) => stage.connector[k])) {
        const operation = await stage.prepare(kind)
        const { minor, currency } = operation.amount
        const other: Money = { minor: minor - 100n, currency }
        let isTold = false
        const change = (body: string) => {
          const changed = alterAmount(body, other)
          isTold = changed !== body && body.includes(usualFigures(minor))
          return changed
        }
        const { outcome } = await performChanged(stage, operation, change)
        // An answer that names no amount cannot name another; an open operation is decided later.
        if (!isTold || outcome.is === 'pending') continue
        mustTell(outcome, other)
      }
    },
  },
  {
    name: 'a reversal by key that the acquirer refuses proves nothing',
    without: needs(needsLine, needsReversal, needsChange('refusedReversal')),
    run: (stage) => mustProveNothing(stage, 'refusedReversal', 'a refused reversal by key'),
  },
  {
    name: 'a reversal by key with a malfunction proves nothing',
    without: needs(needsLine, needsReversal, needsChange('failedReversal')),
    run: (stage) => mustProveNothing(stage, 'failedReversal', 'a reversal with a malfunction'),
  },
]

/** Currencies with two decimals that numeric codes and tables of an author mix up. */
const plainCurrencies = ['USD', 'GBP', 'EUR', 'CHF'] as const

/** An amount as answers spell it: minor units, or decimals with a point. */
export const usualFigures = (minor: bigint): string => String(minor / 100n)

/** The same approval, for a part of the amount. */
export const inPart =
  ({ answers }: Sandbox, part: Money) =>
  (body: string): string =>
    answers!.partialCode!(answers!.alterAmount(body, part))

/** Carries an operation out, and changes its answer. */
async function performChanged(
  stage: Stage,
  operation: Operation,
  change: (body: string) => string,
) {
  const met = stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'moving')
  const performed = await stage.perform(operation)
  assert.ok(met.wasMet, 'a request with moves: true goes to the acquirer')
  return performed
}

/** The whole answer to an operation. */
async function answerTo(stage: Stage, operation: Operation): Promise<Buffer> {
  let whole = ''
  await performChanged(stage, operation, (body) => {
    whole = body
    return body
  })
  return Buffer.from(whole)
}

/** Every place of a short answer; of a long one every few bytes, and the last ones. */
const mostCuts = 64
const cuts = (length: number): readonly number[] => {
  const step = Math.ceil(length / mostCuts)
  const all = Array.from({ length }, (_, at) => at)
  return all.filter((at) => at % step === 0 || at >= length - 32)
}

/** Unknown, or what the acquirer said with the whole answer. */
async function isTrue(
  stage: Stage,
  before: Awaited<ReturnType<Stage['bookings']>>,
  operation: Operation,
  outcome: Outcome,
  scene: Sandbox['declined'] | Sandbox['approved'][number],
): Promise<boolean> {
  if (outcome.is === 'unknown') return true
  if (outcome.is === 'declined') return 'reason' in scene && outcome.reason === scene.reason
  if (outcome.is !== 'approved' && outcome.is !== 'accepted') return false
  if ('reason' in scene || !(await wasDone(stage, before, operation))) return false
  if (!isForAll(outcome, operation.amount)) return false
  if (stage.connector.resolve.enquire === undefined) return true
  const { outcome: found } = await stage.enquire(operation)
  return 'refs' in found && JSON.stringify(found.refs) === JSON.stringify(outcome.refs)
}

async function mustBeUnknown(
  stage: Stage,
  name: 'withoutCode' | 'partialCode',
  what: string,
): Promise<void> {
  const operation = operationFor(stage, { ...stage.sandbox.approved[0]!, amount: usualAmount })
  const change = stage.sandbox.answers![name]!
  const { outcome, thrown } = await performChanged(stage, operation, change)
  assert.equal(outcome.is, 'unknown', `an approval ${what} was ${told(outcome, thrown)}`)
  if (stage.connector.resolve.enquire === undefined) return
  stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'any')
  const asked = await stage.enquire(operation)
  const was = told(asked.outcome, asked.thrown)
  assert.equal(asked.outcome.is, 'unknown', `an enquiry that finds an approval ${what} was ${was}`)
}

async function mustProveNothing(
  stage: Stage,
  name: 'refusedReversal' | 'failedReversal',
  what: string,
): Promise<void> {
  const kind = firstKinds.find((known) => stage.connector[known])!
  const { operation } = await stage.done(await stage.prepare(kind))
  const change = stage.sandbox.answers![name]!
  const met = stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'moving')
  const { outcome, thrown } = await stage.reverseByKey(operation)
  assert.ok(met.wasMet, 'a reversal by key sends a request with moves: true')
  const isOpen = outcome.is === 'unknown' || outcome.is === 'refused'
  const rule = 'the payment can stand, so neither reversed nor nothing is true'
  assert.ok(isOpen, `${what} was ${told(outcome, thrown)}; ${rule}`)
}
