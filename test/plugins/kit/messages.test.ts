/** What the contract suite says of a mistake: the finding, and what to do about it. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { type Connector, declined, type Found, type Operation } from '@tollgate/plugin-kit'
import { contractCases, runContract } from '@tollgate/plugin-kit/testing'
import { acquirerJson as right } from '../../../connectors/acquirer-json/index.ts'
import { sandbox } from '../../../connectors/acquirer-json/sandbox/sandbox.ts'
import {
  but,
  catching,
  enquiring,
  overHttp,
  receiving,
  saying,
  sending,
  type Wrap,
} from './wrong-connectors/changed-connector.ts'

/** Sends another key in the header, and in the body; undefined: none. */
const underKey =
  (keyOf: (operation: Operation) => string | undefined, also: 'body' | 'header' = 'body'): Wrap =>
  (send, operation) =>
  (method, url, options = {}) => {
    const key = keyOf(operation)
    const { 'idempotency-key': _replaced, ...headers } = options.headers ?? {}
    const named = key === undefined ? headers : { ...headers, 'idempotency-key': key }
    const json = also === 'body' ? { ...Object(options.json), reference: key } : options.json
    return send(method, url, { ...options, json, headers: named })
  }

const keyed = "every request that moves money carries the engine's key"
const resets = 'a fault leaves the outcome unknown: a reset after the acquirer did it'

const mistakes: readonly {
  readonly what: string
  readonly connector: Connector
  readonly in: string
  readonly says: RegExp
}[] = [
  {
    what: 'a key of its own',
    connector: overHttp(underKey(() => randomBytes(16).toString('hex'))),
    in: 'an approval of the acquirer is approved',
    says: /^authorize by card should be approved but was unknown \(.*\); the acquirer booked 92\.00 EUR under the key [0-9a-f]{32}, not under operation\.key: send operation\.key with each request/,
  },
  {
    what: 'no key',
    connector: overHttp(underKey(() => undefined)),
    in: keyed,
    says: /^authorize should be approved but was .*; operation\.key is not in the request, .*: send it with each request/,
  },
  {
    what: 'a capture under the key of its authorisation, beside its own',
    connector: overHttp(
      underKey(({ original }) => original?.key, 'header'),
      ['capture'],
    ),
    in: keyed,
    says: /^capture should be approved but was .*; the header idempotency-key is the key of the authorize: send operation\.key$/,
  },
  {
    what: 'a capture by the key of its authorisation alone',
    connector: overHttp(
      (send, { original }) =>
        (method, url, options) =>
          send(method, url, {
            ...options,
            json: { reference: original?.key },
            headers: { ...options?.headers, 'idempotency-key': 'none' },
          }),
      ['capture'],
    ),
    in: keyed,
    says: /^capture should be approved but was .*, but the key of the authorize is: send operation\.key with each request/,
  },
  {
    what: 'units a hundred times too large',
    connector: sending(({ amount: { minor, currency }, ...rest }) => ({
      ...rest,
      amount: { minor: minor / 100n, currency },
    })),
    in: 'an approval of the acquirer is approved',
    says: /: the acquirer booked 92 EUR instead of 9200 EUR \(minor units\)/,
  },
  {
    what: 'a decline of what may have been booked',
    connector: catching(() => declined('900.100.300')),
    in: resets,
    says: /^authorize was declined 900\.100\.300: return unknown, the acquirer may have booked it$/,
  },
  {
    what: 'a proof that is none',
    connector: receiving({ verify: () => true }),
    in: 'a forged event is not proven',
    says: /^verify took a message whose byte \d+ was changed: compare the signature over all bytes/,
  },
  {
    what: 'enquiries that find nothing',
    connector: enquiring(async () => ({ is: 'notFound' })),
    in: 'an enquiry finds an approved operation',
    says: /^an enquiry about an authorize returns notFound/,
  },
]

describe('messages of the contract suite', () => {
  for (const { what, connector, in: name, says } of mistakes) {
    test(`the suite says what is wrong with ${what}`, async () => {
      const { cases } = contractCases(connector, sandbox, { parallel: 5 })
      const found = cases.find((one) => one.name === name)
      assert.ok(found, name)
      await assert.rejects(found.run(), { message: says })
    })
  }
})

test('an approval may name the amount that was asked for', async () => {
  const naming = <T extends Found>(outcome: T, { amount }: Operation): T =>
    outcome.is === 'approved' ? { ...outcome, amount: outcome.amount ?? amount } : outcome
  const { enquire } = right.resolve
  const connector = but({
    ...saying(naming),
    resolve: {
      ...right.resolve,
      enquire: async (operation, context) => naming(await enquire!(operation, context), operation),
    },
  })
  const { failed } = await runContract(connector, sandbox, { parallel: 5 })
  assert.deepEqual(
    failed.map(({ name, error }) => `${name}: ${error.message}`),
    [],
  )
})
