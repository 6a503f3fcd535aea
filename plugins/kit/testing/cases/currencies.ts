import assert from 'node:assert/strict'
import type { Money } from '../../outcome.ts'
import { type Case, claimsIn, mustHaveMoved, needs, needsHandler } from '../case.ts'
import type { Stage } from '../harness.ts'
import { operationOn, originalKind } from '../operation.ts'
import { eventOf, needsInbound } from './events.ts'
import { mustBeForAll, needsOddCurrency, oddCurrenciesOf, operationFor } from './outcomes.ts'

/** A second table of decimals, in follow-ups or in messages, is easily another one than the first. */
export const currencies: readonly Case[] = [
  {
    name: 'captures and refunds keep their minor units in every currency',
    without: needs(needsHandler('capture', 'refund'), needsOddCurrency),
    async run(stage) {
      const { connector } = stage
      for (const currency of oddCurrenciesOf(connector)) {
        for (const kind of (['capture', 'refund'] as const).filter((known) => connector[known])) {
          const first = await stage.prepare(originalKind(connector, kind)!, amountIn(currency))
          const original = await stage.done(first)
          const minor = connector.supports[kind]?.partial ? 4601n : 9203n
          await mustBeDoneFor(stage, operationOn(connector, kind, original, minor))
        }
      }
    },
  },
  {
    name: 'events and chargebacks keep their minor units in every currency',
    without: needs(needsInbound, needsOddCurrency),
    async run(stage) {
      const { sandbox, acquirer } = stage
      for (const currency of oddCurrenciesOf(stage.connector)) {
        const scene = { ...sandbox.approved[0]!, amount: amountIn(currency) }
        const { operation } = await stage.done(operationFor(stage, scene))
        const [claim] = await claimsIn(stage, await eventOf(stage, operation.key))
        const rule = `the event about 9203 minor units of ${currency} claims them`
        assert.deepEqual(claim?.amount, operation.amount, rule)
        if (sandbox.chargebacks !== true) continue
        assert.ok(acquirer.chargeback, 'a sandbox with chargebacks needs chargeback()')
        const part: Money = { minor: 4601n, currency }
        const message = await acquirer.chargeback(operation.key, part)
        const [dispute] = await claimsIn(stage, message)
        const also = `the chargeback of 4601 minor units of ${currency} claims them`
        assert.deepEqual(dispute?.amount, part, also)
      }
    },
  },
]

const amountIn = (currency: string): Money => ({ minor: 9203n, currency })

async function mustBeDoneFor(stage: Stage, operation: ReturnType<typeof operationOn>) {
  const { kind, amount } = operation
  const what = `a ${kind} of ${amount.minor} minor units of ${amount.currency}`
  const before = await stage.bookings()
  const { outcome } = await stage.done(operation)
  await mustHaveMoved(stage, before, [operation], `${what} is done once, for its amount`)
  mustBeForAll(outcome, amount.currency)
  if (stage.connector.resolve.enquire === undefined) return
  mustBeForAll((await stage.enquire(operation)).outcome, amount.currency)
}
