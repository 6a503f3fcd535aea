import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { Kind, Operation } from '../../connector.ts'
import type { Outcome } from '../../outcome.ts'
import { type Case, mustNotHaveMoved, needs, needsHandler, needsLine, wasDone } from '../case.ts'
import type { Damage, Fault } from '../fault.ts'
import { isDone, type Performed, type Stage, told } from '../harness.ts'
import { moneyKinds } from '../operation.ts'
import type { Booking } from '../sandbox.ts'

const html = '<html><body><h1>Bad gateway</h1></body></html>'
const page = (status: number): Damage => ({ do: 'replace', status, type: 'text/html', body: html })
const text = (status: number, body: string, type = 'application/json'): Damage => ({
  do: 'replace',
  status,
  type,
  body,
})
const reaches = (damage: Damage): Fault => ({ reaches: true, damage })
const isKept = (damage: Damage): Fault => ({ reaches: false, damage })

/** The faults of one request, named as the connector sees them. */
export const lineFaults: Readonly<Record<string, Fault>> = {
  'no answer in time, and the acquirer never got it': isKept({ do: 'silence' }),
  'no answer in time, though the acquirer did it': reaches({ do: 'silence' }),
  'a reset before the acquirer got it': isKept({ do: 'reset' }),
  'a reset after the acquirer did it': reaches({ do: 'reset' }),
  'HTTP 500 before the acquirer got it': isKept(text(500, '{"error":"internal error"}')),
  'HTTP 500 after the acquirer did it': reaches(text(500, '{"error":"internal error"}')),
  'HTTP 401 with a page of HTML': reaches(page(401)),
  'HTTP 502 with a page of HTML': reaches(page(502)),
  'HTTP 200 with a page of HTML': reaches(page(200)),
  'an empty answer': reaches(text(200, '')),
  'an answer that is cut off': reaches({ do: 'cut' }),
  'half an answer that looks whole': reaches({
    do: 'change',
    change: (body) => body.slice(0, body.length >> 1),
  }),
  'JSON that says nothing': reaches(text(200, '{}')),
  'half an answer, and then silence': reaches({ do: 'stall' }),
  'a redirect to elsewhere': reaches({
    ...(page(302) as Extract<Damage, { do: 'replace' }>),
    location: 'https://elsewhere.example/',
  }),
  'an answer without an end': reaches(text(200, ' '.repeat(1_100_000))),
}

/** Answers that tempt a connector to retry. */
const tempting: readonly Fault[] = [
  isKept({ do: 'silence' }),
  isKept({ do: 'reset' }),
  isKept(text(503, '{"error":"try again"}')),
]

/** Whether a call under this fault ends with its deadline alone. */
export const hangs = ({ damage }: Fault) => damage.do === 'silence' || damage.do === 'stall'

/** Carries an operation out under a fault of its request; the deadline ends a hanging call. */
export async function performUnder(stage: Stage, operation: Operation, fault: Fault) {
  const met = stage.front.meet(fault, 'moving')
  const performed = await stage.perform(operation, hangs(fault) ? { until: met.over } : {})
  assert.ok(met.wasMet, `${operation.kind} sends a request with moves: true`)
  return { met, ...performed }
}

/** The same for an enquiry or a reversal by key, whose request needs no tag. */
export async function askUnder<T>(
  stage: Stage,
  fault: Fault,
  ask: (until: { until?: Promise<void> }) => Promise<Performed<T>>,
): Promise<Performed<T>> {
  const met = stage.front.meet(fault, 'any')
  const asked = await ask(hangs(fault) ? { until: met.over } : {})
  assert.ok(met.wasMet, 'a request goes to the acquirer')
  return asked
}

const kindsOf = (stage: Stage): readonly Kind[] =>
  moneyKinds.filter((kind) => stage.connector[kind] !== undefined)

/**
 * A connector that asks the acquirer again before its answer may know the outcome. Then the outcome
 * must be true, with its references.
 */
export async function isTheTruth(
  stage: Stage,
  before: readonly Booking[],
  operation: Operation,
  outcome: Outcome,
): Promise<boolean> {
  if (stage.connector.resolve.enquire === undefined) return false
  const { outcome: found } = await stage.enquire(operation)
  if (outcome.is === 'pending') return found.is === 'pending'
  if (!isDone(outcome) || !(await wasDone(stage, before, operation))) return false
  return 'refs' in found && isDeepStrictEqual(found.refs, outcome.refs)
}

const needed = needs(needsLine, needsHandler(...moneyKinds))

/** The damage that networks and intermediate machines can do to one request. */
export const line: readonly Case[] = [
  ...Object.entries(lineFaults).map(
    ([name, fault]): Case => ({
      name: `a fault leaves the outcome unknown: ${name}`,
      without: needed,
      async run(stage) {
        for (const kind of kindsOf(stage)) {
          const operation = await stage.prepare(kind)
          const before = await stage.bookings()
          const { outcome, thrown } = await performUnder(stage, operation, fault)
          const isTrue = await isTheTruth(stage, before, operation, outcome)
          const was = `${kind} was ${told(outcome, thrown)}`
          const rule = `${was}: return unknown, the acquirer may have booked it`
          // An engine turns an impossible `notSent` into `unknown`; another case checks that.
          assert.ok(outcome.is === 'unknown' || isTrue, rule)
        }
      },
    }),
  ),
  {
    name: 'notSent is never returned after a request was written',
    without: needed,
    async run(stage) {
      for (const fault of Object.values(lineFaults)) {
        const kind = kindsOf(stage)[0]!
        const { returned } = await performUnder(stage, await stage.prepare(kind), fault)
        assert.notEqual(
          returned?.is,
          'notSent',
          `${kind} returned notSent after a request was written`,
        )
      }
    },
  },
  {
    name: 'a request is sent once, because the engine decides about retries',
    without: needed,
    async run(stage) {
      for (const kind of kindsOf(stage)) {
        for (const fault of tempting) {
          const operation = await stage.prepare(kind)
          const { attempts } = await performUnder(stage, operation, fault)
          const sent = attempts.filter(({ moves }) => moves)
          assert.equal(sent.length, 1, `${kind} sent again after a failed request`)
        }
      }
    },
  },
  {
    name: 'a refused connection proves that nothing was sent',
    without: needed,
    async run(stage) {
      const deaf = stage.acquirer.settings(await stage.front.deafUrl())
      for (const kind of kindsOf(stage)) {
        const operation = await stage.prepare(kind)
        const before = await stage.bookings()
        const { outcome } = await stage.perform(operation, deaf)
        const is = ['notSent', 'unknown'].includes(outcome.is)
        assert.ok(is, `${kind} was ${told(outcome)} although nothing was sent`)
        await mustNotHaveMoved(stage, before, 'nothing was sent')
      }
    },
  },
  {
    name: 'an answer is read byte by byte',
    without: needed,
    async run(stage) {
      const operation = await stage.prepare(kindsOf(stage)[0]!)
      const { outcome, thrown } = await performUnder(stage, operation, reaches({ do: 'drip' }))
      assert.ok(isDone(outcome), `the outcome was ${told(outcome, thrown)}`)
    },
  },
]
