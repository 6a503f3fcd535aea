import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { type Case, needs, needsEnquiry, needsHandler, needsLine, needsReversal } from '../case.ts'
import type { Answer, Fault } from '../fault.ts'
import { type Stage, told } from '../harness.ts'
import { firstKinds, moneyKinds } from '../operation.ts'
import type { Sandbox } from '../sandbox.ts'
import { broughtOf, needsComplete, partsOf, sendAway } from './completion.ts'
import { askUnder, performUnder } from './line.ts'

const needsNames = (_connector: unknown, { answers }: Sandbox): string | undefined =>
  answers?.nameTheKey ? undefined : 'answers of the acquirer do not name their key'

/** Whole answers of the acquirer that belong to other keys: gateways and shared connections mix answers up. */
export const mixUps: readonly Case[] = [
  {
    name: 'the answer to another payment is not accepted',
    without: needs(needsLine, needsHandler(...moneyKinds), needsNames),
    async run(stage) {
      const kinds = moneyKinds.filter((kind) => stage.connector[kind])
      for (const kind of kinds) {
        const first = await stage.prepare(kind)
        const answer = await answerTo(stage, 'moving', () => stage.perform(first))
        assert.ok(answer, `${kind} sends a request with moves: true`)
        // Answers to follow-ups can name less than those to payments.
        if (kind !== kinds[0] && !names(answer, first.key)) continue
        const operation = await stage.prepare(kind)
        const { outcome } = await performUnder(stage, operation, mixedUp(answer))
        const rule = `the answer to another ${kind} was ${told(outcome)}`
        assert.equal(outcome.is, 'unknown', rule)
      }
    },
  },
  {
    name: 'an enquiry believes no answer about another key',
    without: needs(needsLine, needsEnquiry, needsHandler(...firstKinds), needsNames),
    async run(stage) {
      const kind = firstKinds.find((known) => stage.connector[known])!
      const asked = {
        'a payment that was made': (await stage.done(await stage.prepare(kind))).operation,
        'a payment that does not exist': await stage.prepare(kind),
      }
      const { operation, outcome } = await stage.done(await stage.prepare(kind))
      for (const [what, other] of Object.entries(asked)) {
        const answer = await answerTo(stage, 'any', () => stage.enquire(other))
        if (answer === undefined || !names(answer, other.key)) continue
        const ask = () => stage.enquire(operation)
        const { outcome: found } = await askUnder(stage, mixedUp(answer), ask)
        const isTrue = 'refs' in found && isDeepStrictEqual(found.refs, outcome.refs)
        const rule = `an answer about another key, ${what}, was ${told(found)}`
        assert.ok(found.is === 'unknown' || isTrue, rule)
      }
    },
  },
  {
    name: 'a reversal by key believes no answer about another key',
    without: needs(needsLine, needsReversal, needsHandler(...firstKinds), needsNames),
    async run(stage) {
      const kind = firstKinds.find((known) => stage.connector[known])!
      const asked = {
        'a payment that was made': (await stage.done(await stage.prepare(kind))).operation,
        'a payment that does not exist': await stage.prepare(kind),
      }
      for (const [what, other] of Object.entries(asked)) {
        const answer = await answerTo(stage, 'moving', () => stage.reverseByKey(other))
        if (answer === undefined || !names(answer, other.key)) continue
        const { operation } = await stage.done(await stage.prepare(kind))
        const met = stage.front.meet(mixedUp(answer), 'moving')
        const { outcome } = await stage.reverseByKey(operation)
        assert.ok(met.wasMet, 'a reversal by key sends a request with moves: true')
        const isOpen = outcome.is === 'unknown' || outcome.is === 'refused'
        const rule = `the reversal of another key, ${what}, was ${told(outcome)}`
        assert.ok(isOpen, `${rule}, and the payment of this key stands`)
      }
    },
  },
  {
    name: 'a return of the shopper believes no answer about another key',
    without: needs(needsComplete, needsLine, needsNames),
    async run(stage) {
      const other = await paidPage(stage)
      const answer = await answerTo(stage, 'any', () => complete(stage, other))
      if (answer === undefined || !names(answer, other.operation.key)) return
      const one = await paidPage(stage)
      stage.front.meet(mixedUp(answer), 'any')
      const { outcome } = await complete(stage, one)
      if (outcome.is !== 'approved' && outcome.is !== 'accepted') {
        const isOpen = outcome.is !== 'declined'
        assert.ok(isOpen, `the answer about another key was ${told(outcome)}`)
        return
      }
      const { outcome: truth } = await complete(stage, one)
      const isTrue = 'refs' in truth && isDeepStrictEqual(truth.refs, outcome.refs)
      assert.ok(isTrue, `the answer about another key was ${told(outcome)}`)
    },
  },
]

/** The acquirer never gets the request, so an approval or a reversal cannot be true. */
const mixedUp = (answer: Answer): Fault => ({ reaches: false, damage: { do: 'mixUp', answer } })

/** An answer that does not name its key cannot be recognised as another one's. */
const names = ({ body }: Answer, key: string): boolean => body.includes(key)

/** The acquirer's whole answer to a call; undefined when the call sends no such request. */
async function answerTo(
  stage: Stage,
  sort: 'moving' | 'any',
  call: () => Promise<unknown>,
): Promise<Answer | undefined> {
  const asItIs = (body: string) => body
  const met = stage.front.meet({ reaches: true, damage: { do: 'change', change: asItIs } }, sort)
  await call()
  met.forget()
  return met.answer
}

/** A payment whose shopper paid on the page that it was sent to. */
async function paidPage(stage: Stage) {
  const away = await sendAway(stage)
  const { shopper } = partsOf(stage)
  return { ...away, brought: broughtOf(await shopper(away.operation.key, away.redirect)) }
}

const complete = (
  stage: Stage,
  { operation, outcome, brought }: Awaited<ReturnType<typeof paidPage>>,
) => stage.complete(operation, outcome, brought)
