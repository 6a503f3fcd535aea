import assert from 'node:assert/strict'
import { currencyOf, isResultCode } from '@tollgate/schemas'
import type { Connector, Kind, Operation } from '../../connector.ts'
import type { Found, Money } from '../../outcome.ts'
import {
  type Case,
  mustHaveMoved,
  mustNotHaveMoved,
  needs,
  needsEnquiry,
  needsHandler,
  needsLine,
} from '../case.ts'
import { isDone, type Stage, told } from '../harness.ts'
import { isForAll, isTexts } from '../judge.ts'
import {
  firstKinds,
  firstOperation,
  frozen,
  newIds,
  newKey,
  scenesOf,
  suits,
  usualAmount,
} from '../operation.ts'
import type { Sandbox, Scene } from '../sandbox.ts'

const firstKindsOf = (connector: Connector): readonly Kind[] =>
  firstKinds.filter((kind) => connector[kind] !== undefined)

/** The first handler for a scene. */
export function operationFor({ connector }: Stage, scene: Scene) {
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
          const { outcome, thrown, attempts } = await stage.perform(operation)
          const what = `${kind} by ${scene.instrument.kind}`
          const advice = isDone(outcome) ? '' : await stage.keyAdvice(operation, attempts)
          const was = `${what} should be approved but was ${told(outcome, thrown)}${advice}`
          assert.ok(isDone(outcome), was)
          await mustHaveMoved(stage, before, [operation], `${what} is done once, for its amount`)
          const { refs } = outcome
          const hasRefs = isTexts(refs) && Object.keys(refs).length > 0
          assert.ok(hasRefs, `${what} has a reference of the acquirer, and references are texts`)
          mustBeForAll(outcome, operation.amount)
        }
      }
    },
  },
  {
    name: 'settlement files call payments by references that outcomes have',
    without: needs(needsHandler(...firstKinds), ({ settlement }) =>
      settlement === undefined ? 'the connector reads no settlement files' : undefined,
    ),
    async run(stage) {
      const { connector } = stage
      const known = new Set<string>()
      for (const kind of [...firstKindsOf(connector), 'capture', 'refund'] as const) {
        if (connector[kind] === undefined) continue
        const { outcome } = await stage.done(await stage.prepare(kind))
        for (const name of Object.keys(outcome.refs)) known.add(name)
      }
      const missing = connector.settlement!.refs.filter((name) => !known.has(name))
      const rule = 'settlement.refs names members of refs, by which Tollgate finds the payment'
      assert.deepEqual(missing, [], `${rule}; outcomes have ${[...known].join(', ')}`)
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
    name: 'an approval with an unlisted code leaves the outcome unknown',
    without: needs(needsLine, needsHandler(...firstKinds)),
    async run(stage) {
      const rule = 'the acquirer may mean a new kind of approval, or a part of the amount'
      await mustStayOpen(stage, stage.sandbox.answers!.alterCode, 'an unlisted code', rule)
    },
  },
  {
    name: 'a malfunction of the acquirer leaves the outcome unknown, and an enquiry finds the payment',
    without: needs(needsLine, needsHandler(...firstKinds), (_connector, { answers }) =>
      answers?.malfunction === undefined ? 'the acquirer has no such answer' : undefined,
    ),
    async run(stage) {
      const rule = 'the acquirer may have booked before it failed'
      const { malfunction } = stage.sandbox.answers!
      const operation = await mustStayOpen(stage, malfunction!, 'a malfunction', rule)
      if (stage.connector.resolve.enquire === undefined) return
      const { outcome, thrown } = await stage.enquire(operation)
      const was = `the payment was booked, but the enquiry is ${told(outcome, thrown)}`
      assert.ok(isDone(outcome), was)
    },
  },
  {
    name: 'amounts keep their minor units in currencies without decimals and with three',
    without: needs(needsHandler(...firstKinds), needsOddCurrency),
    async run(stage) {
      const { connector, sandbox } = stage
      for (const currency of oddCurrenciesOf(connector, sandbox)) {
        const amount = amountIn(currency, 9203n, sandbox)
        const operation = operationFor(stage, { ...sandbox.approved[0]!, amount })
        const before = await stage.bookings()
        const done = await stage.done(operation)
        await mustHaveMoved(
          stage,
          before,
          [operation],
          `${amount.minor} minor units of ${currency} are paid`,
        )
        mustBeForAll(done.outcome, amount)
        if (connector.resolve.enquire === undefined) continue
        const { outcome, thrown } = await stage.enquire(operation)
        const is = told(outcome, thrown)
        assert.equal(outcome.is, done.outcome.is, `the enquiry in ${currency} is ${is}`)
        mustBeForAll(outcome, amount)
      }
    },
  },
  {
    name: 'texts arrive as they were sent, whatever characters they have',
    without: needs(needsHandler(...firstKinds), (_connector, { texts }) =>
      texts === undefined ? 'the acquirer takes no texts' : undefined,
    ),
    async run(stage) {
      const { acquirer } = stage
      assert.ok(acquirer.received, 'a sandbox with texts needs received()')
      const plain = operationFor(stage, stage.sandbox.approved[0]!)
      for (const text of awkwardTexts) {
        const { instrument } = plain
        const withHolder =
          instrument === undefined || !('holder' in instrument)
            ? {}
            : { instrument: { ...instrument, holder: text } }
        const words = { merchantTransactionId: text, descriptor: text }
        const key = newKey(stage.connector)
        const operation = frozen({ ...plain, ...newIds(), ...withHolder, ...words, key })
        await stage.done(operation)
        const arrived = await acquirer.received(key)
        for (const name of stage.sandbox.texts ?? []) {
          const sent = name === 'expiry' ? expiryOf(operation) : text
          assert.equal(arrived[name], sent, `${name} arrives at the acquirer as it was`)
        }
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
      const was = `after its end an enquiry returns ${told(late.outcome, late.thrown)}`
      assert.ok(isDone(late.outcome), was)
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

/** Currencies with no decimals and with three. */
const oddCurrencies = ['JPY', 'KWD'] as const

/** Those that a connector takes, with those whose digits behind the point are the acquirer's own. */
export const oddCurrenciesOf = (
  { supports: { currencies } }: Connector,
  { exponents = {} }: Sandbox,
): readonly string[] =>
  [...oddCurrencies, ...Object.keys(exponents)].filter(
    (code) => currencies === 'any' || currencies.includes(code),
  )

export function needsOddCurrency(connector: Connector, sandbox: Sandbox): string | undefined {
  if (oddCurrenciesOf(connector, sandbox).length > 0) return undefined
  return `the connector has none of ${oddCurrencies.join(', ')}`
}

/** The acquirer's smallest unit of a currency, in minor units; 1n, or 100n where it has no decimals and ISO 4217 two. */
export function smallestOf(currency: string, { exponents = {} }: Sandbox): bigint {
  const iso = currencyOf(currency)?.exponent ?? 0
  return 10n ** BigInt(Math.max(0, iso - (exponents[currency] ?? iso)))
}

/** So many minor units, without a part that the acquirer has no unit for. */
export function amountIn(currency: string, minor: bigint, sandbox: Sandbox): Money {
  return { minor: minor - (minor % smallestOf(currency, sandbox)), currency }
}

/** Texts that break out of XML, JSON, forms and fixed columns. */
const awkwardTexts = [
  'Tom & Jerry <b>"best"</b> \'offer\'',
  ']]> &amp; &#65; <!-- %41 + = ; | \\',
  'Zoë Müller-Łukasz 東京 😀',
]

function expiryOf({ instrument }: Operation): string | undefined {
  if (instrument?.kind !== 'card') return undefined
  return `${instrument.expiryYear}-${instrument.expiryMonth}`
}

/** An approval names no amount, or the one that was asked for: another would be a wrong exponent. */
export function mustBeForAll(outcome: Found, asked: Money): void {
  const { minor, currency } = (outcome.is === 'approved' && outcome.amount) || asked
  const rule = `the outcome names ${minor} ${currency}, but ${asked.minor} ${asked.currency} were approved`
  assert.ok(isForAll(outcome, asked), `${rule} (minor units)`)
}

/** The acquirer books a payment; its answer is changed to one from which that cannot be told. */
async function mustStayOpen(
  stage: Stage,
  change: (body: string) => string,
  what: string,
  why: string,
): Promise<Operation> {
  const operation = operationFor(stage, stage.sandbox.approved[0]!)
  const before = await stage.bookings()
  const met = stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'moving')
  const { outcome, thrown } = await stage.perform(operation)
  assert.ok(met.wasMet, 'a request with moves: true goes to the acquirer')
  await mustHaveMoved(stage, before, [operation], 'the acquirer booked the payment')
  const rule = `${what} leaves the outcome unknown, because ${why}`
  assert.equal(outcome.is, 'unknown', `${rule}; it was ${told(outcome, thrown)}`)
  if (stage.connector.resolve.enquire === undefined) return operation
  stage.front.meet({ reaches: true, damage: { do: 'change', change } }, 'any')
  const asked = await stage.enquire(operation)
  const isOpen = asked.outcome.is === 'unknown'
  assert.ok(isOpen, `${rule}, also in an enquiry, which was ${told(asked.outcome, asked.thrown)}`)
  return operation
}

/** An approval names a different amount. A connector that cannot tell returns unknown. */
export function mustTell(
  outcome: { readonly is: string; readonly amount?: Money },
  other: Money,
): void {
  if (outcome.is === 'unknown') return
  const what = `an answer for ${other.minor} ${other.currency}, which was not requested,`
  assert.equal(outcome.is, 'approved', `${what} was ${outcome.is}`)
  assert.deepEqual(outcome.amount, other, `${what} was approved without naming the amount`)
}
