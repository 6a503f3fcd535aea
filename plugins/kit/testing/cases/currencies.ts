import assert from 'node:assert/strict'
import {
  type Case,
  claimsIn,
  mustHaveMoved,
  mustNotHaveMoved,
  needs,
  needsHandler,
} from '../case.ts'
import { type Stage, told } from '../harness.ts'
import { firstKinds, operationOn, originalKind, withArticle } from '../operation.ts'
import type { Sandbox } from '../sandbox.ts'
import { eventOf, needsInbound } from './events.ts'
import {
  amountIn,
  mustBeForAll,
  needsOddCurrency,
  oddCurrenciesOf,
  operationFor,
  smallestOf,
} from './outcomes.ts'

/** A second table of decimals, in follow-ups or in messages, is easily another one than the first. */
export const currencies: readonly Case[] = [
  {
    name: 'captures and refunds keep their minor units in every currency',
    without: needs(needsHandler('capture', 'refund'), needsOddCurrency),
    async run(stage) {
      const { connector, sandbox } = stage
      for (const currency of oddCurrenciesOf(connector, sandbox)) {
        for (const kind of (['capture', 'refund'] as const).filter((known) => connector[known])) {
          const first = await stage.prepare(
            originalKind(connector, kind)!,
            inAll(currency, sandbox),
          )
          const original = await stage.done(first)
          const { minor } = connector.supports[kind]?.partial
            ? inPart(currency, sandbox)
            : first.amount
          await mustBeDoneFor(stage, operationOn(connector, kind, original, minor))
        }
      }
    },
  },
  {
    name: 'an amount that the acquirer has no unit for is never rounded',
    without: needs(needsHandler(...firstKinds), (connector, sandbox) =>
      tooFineOf(connector, sandbox).length > 0
        ? undefined
        : 'the acquirer has a unit for every amount of its currencies',
    ),
    async run(stage) {
      const { connector, sandbox } = stage
      for (const currency of tooFineOf(connector, sandbox)) {
        const scene = { ...sandbox.approved[0]!, amount: { minor: 9203n, currency } }
        const before = await stage.bookings()
        const { outcome, thrown } = await stage.perform(operationFor(stage, scene))
        const was = `9203 minor units of ${currency} were ${told(outcome, thrown)}`
        assert.ok(outcome.is === 'notSent' || outcome.is === 'declined', was)
        await mustNotHaveMoved(stage, before, `${was}, and nothing moves`)
      }
    },
  },
  {
    name: 'events and chargebacks keep their minor units in every currency',
    without: needs(needsInbound, needsOddCurrency),
    async run(stage) {
      const { sandbox, acquirer } = stage
      for (const currency of oddCurrenciesOf(stage.connector, sandbox)) {
        const scene = { ...sandbox.approved[0]!, amount: inAll(currency, sandbox) }
        const { operation } = await stage.done(operationFor(stage, scene))
        const [claim] = await claimsIn(stage, await eventOf(stage, operation.key))
        const rule = `the event about ${operation.amount.minor} minor units of ${currency} claims them`
        assert.deepEqual(claim?.amount, operation.amount, rule)
        if (sandbox.chargebacks !== true) continue
        assert.ok(acquirer.chargeback, 'a sandbox with chargebacks needs chargeback()')
        const part = inPart(currency, sandbox)
        const message = await acquirer.chargeback(operation.key, part)
        const [dispute] = await claimsIn(stage, message)
        const also = `the chargeback of ${part.minor} minor units of ${currency} claims them`
        assert.deepEqual(dispute?.amount, part, also)
      }
    },
  },
]

const tooFineOf: typeof oddCurrenciesOf = (connector, sandbox) =>
  oddCurrenciesOf(connector, sandbox).filter((code) => smallestOf(code, sandbox) > 1n)

const inAll = (currency: string, sandbox: Sandbox) => amountIn(currency, 9203n, sandbox)
const inPart = (currency: string, sandbox: Sandbox) => amountIn(currency, 4601n, sandbox)

async function mustBeDoneFor(stage: Stage, operation: ReturnType<typeof operationOn>) {
  const { kind, amount } = operation
  const what = `${withArticle(kind)} of ${amount.minor} minor units of ${amount.currency}`
  const before = await stage.bookings()
  const { outcome } = await stage.done(operation)
  await mustHaveMoved(stage, before, [operation], `${what} is done once, for its amount`)
  mustBeForAll(outcome, amount)
  if (stage.connector.resolve.enquire === undefined) return
  mustBeForAll((await stage.enquire(operation)).outcome, amount)
}
