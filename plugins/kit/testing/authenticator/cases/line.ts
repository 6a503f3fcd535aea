import assert from 'node:assert/strict'
import { hangs, lineFaults } from '../../cases/line.ts'
import type { Fault } from '../../fault.ts'
import {
  type AuthenticatorCase,
  confirmedScene,
  needsAll,
  needsChallenge,
  needsServer,
} from '../case.ts'
import { comparable, isProven, toldOf } from '../judge.ts'

const changed = (change: (body: string) => string): Fault => ({
  reaches: true,
  damage: { do: 'change', change },
})

/** Addresses to which no browser may be sent. */
const hostileAddresses = [
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'file:///etc/passwd',
  '//issuer.example/page',
  'issuer',
  '',
]

/** The damage that networks, and servers that answer wrongly, can do. */
export const line: readonly AuthenticatorCase[] = [
  ...Object.entries(lineFaults).map(
    ([name, fault]): AuthenticatorCase => ({
      name: `a fault confirms nobody and refuses nobody: ${name}`,
      without: needsServer,
      async run(stage) {
        const request = stage.request(confirmedScene(stage))
        const met = stage.front.meet(fault, 'any')
        const until = hangs(fault) ? { until: met.over } : {}
        const { answer, thrown } = await stage.authenticate(request, until)
        assert.ok(met.wasMet, 'an authentication sends a request')
        if (answer.is === 'unknown') return
        const { answer: found } = await stage.enquire(request)
        const rule = `the answer was ${toldOf(answer, thrown)}; throw, so that the engine enquires`
        assert.deepEqual(comparable(answer), comparable(found), rule)
      },
    }),
  ),
  {
    name: 'the answer to another authentication is not accepted',
    without: needsAll(needsServer, (_authenticator, { answers }) =>
      answers?.nameTheKey ? undefined : 'answers of the server do not name their key',
    ),
    async run(stage) {
      let other = ''
      stage.front.meet(
        changed((body) => {
          other = body
          return body
        }),
        'any',
      )
      await stage.authenticate(stage.request(confirmedScene(stage)))
      stage.front.meet(
        changed(() => other),
        'any',
      )
      const { answer } = await stage.authenticate(stage.request(confirmedScene(stage)))
      assert.ok(!isProven(answer), `the answer to another authentication was ${toldOf(answer)}`)
    },
  },
  {
    name: 'a confirmation without its proof is no confirmation',
    without: needsServer,
    async run(stage) {
      stage.front.meet(changed(stage.sandbox.answers!.withoutProof), 'any')
      const { answer } = await stage.authenticate(stage.request(confirmedScene(stage)))
      assert.ok(!isProven(answer), `a confirmation without its proof was ${toldOf(answer)}`)
    },
  },
  {
    name: 'a confirmation of another amount states that amount',
    without: needsAll(needsServer, (_authenticator, { answers }) =>
      answers?.alterAmount === undefined ? 'answers of the server have no amount' : undefined,
    ),
    async run(stage) {
      const request = stage.request(confirmedScene(stage))
      const amount = { minor: request.amount.minor - 1n, currency: request.amount.currency }
      const { alterAmount } = stage.sandbox.answers!
      stage.front.meet(
        changed((body) => alterAmount!(body, amount)),
        'any',
      )
      const { answer } = await stage.authenticate(request)
      if (!isProven(answer)) return
      const told = (answer as { readonly amount?: unknown }).amount
      assert.deepEqual(told, amount, 'the answer states the confirmed amount')
    },
  },
  {
    name: 'a shopper is sent to addresses of http and https only',
    without: needsAll(needsServer, needsChallenge),
    async run(stage) {
      const { alterPage } = stage.sandbox.answers!
      for (const address of hostileAddresses) {
        stage.front.meet(
          changed((body) => alterPage(body, address)),
          'any',
        )
        const request = stage.request(stage.sandbox.challenge!)
        const { returned } = await stage.authenticate(request)
        const rule = `a shopper was sent to ${JSON.stringify(address)}`
        assert.notEqual(returned?.is, 'shopper', rule)
      }
    },
  },
]
