/** Facts that no acquirer can have are refused at the start, and numbers of currencies are read. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type Connector,
  currencyByNumber,
  definePlugin,
  keyPromise,
  PluginError,
  type Supports,
} from '@tollgate/plugin-kit'
import { acquirerJson } from '../../../connectors/acquirer-json/index.ts'
import { Registry } from '../../../core/connector/registry.ts'

const { supports } = acquirerJson

const load = (changed: Readonly<Record<string, unknown>>) => {
  const connector = { ...acquirerJson, supports: { ...supports, ...changed } } as Connector
  const plugin = definePlugin({ name: 'bank', contract: 1, connectors: [connector] })
  const url = 'https://bank.example'
  return new Registry([plugin], { 'acquirer-json': { url } })
}

describe('facts of a connector', () => {
  for (const [what, changed, says] of [
    ['an unknown brand', { brands: ['VISA', 'MASTERCARD'] }, /supports.brands has MASTERCARD/],
    ['an unknown currency', { currencies: ['EURO'] }, /supports.currencies has EURO/],
    ['a time below 0', { enquiryVisibleAfterMs: -1 }, /enquiryVisibleAfterMs .* not -1/],
    ['a time that is none', { enquiryVisibleAfterMs: Number.NaN }, /enquiryVisibleAfterMs .* NaN/],
    ['keys of one digit', { keyFormat: { alphabet: 'digits', length: 1 } }, /supports.keyFormat/],
    ['keys for no time', { key: { by: 'key', ttlMs: 0 } }, /supports.key must be/],
  ] as const) {
    test(`${what}: the start is refused, and the fact is named`, () => {
      assert.throws(
        () => load(changed),
        (error) =>
          error instanceof PluginError && error.code === 'bad-facts' && says.test(error.message),
      )
    })
  }

  test('keys can be promised for some kinds and accounts; what fails promises none', () => {
    const forDay = { by: 'key', ttlMs: 86_400_000 } as const
    const none = { by: 'none' } as const
    const key: Supports['key'] = (kind, { api }) => (kind === 'refund' && api === 1 ? none : forDay)
    load({ key })
    assert.equal(keyPromise({ key }, 'refund', { api: 1 }), none)
    assert.equal(keyPromise({ key }, 'refund', { api: 2 }), forDay)
    assert.equal(keyPromise({ key: forDay }, 'refund', { api: 1 }), forDay)
    const failing = (key: unknown) => keyPromise({ key: key as Supports['key'] }, 'capture', {})
    assert.deepEqual(
      failing(() => ({ by: 'key' })),
      none,
    )
    assert.deepEqual(
      failing(() => undefined),
      none,
    )
    const throws = () => {
      throw new Error('no settings')
    }
    assert.deepEqual(failing(throws), none)
  })

  test('keys for ever and long keys are facts', () => {
    load({ key: { by: 'key', ttlMs: Number.POSITIVE_INFINITY } })
    load({ keyFormat: { alphabet: 'alphanumeric', length: 24 } })
  })
})

test('a number of two currencies is the one that was asked for', () => {
  assert.equal(currencyByNumber('978')?.code, 'EUR')
  assert.equal(currencyByNumber('532', 'ANG')?.code, 'ANG')
  assert.equal(currencyByNumber('532', 'XCG')?.code, 'XCG')
  assert.equal(currencyByNumber('532', 'EUR'), undefined)
  assert.equal(currencyByNumber('000'), undefined)
})
