/** Counted declines, shoppers' addresses, and thresholds. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { results } from '@tollgate/schemas'
import { failureOf } from '../../../core/card-testing/failure.ts'
import { shopperAddress } from '../../../core/card-testing/shopper-address.ts'
import {
  defaultThresholds,
  isOn,
  isWide,
  thresholdsOf,
} from '../../../core/entity/card-testing-settings.ts'
import { checkEntitySettings } from '../../../core/entity/settings.ts'

describe('declines', () => {
  test('declines about the card count', () => {
    const card = [
      '800.100.151',
      '800.100.152',
      '800.100.153',
      '800.100.155',
      '800.100.157',
      '800.100.159',
    ]
    const more = [
      '800.100.161',
      '800.100.203',
      '800.400.101',
      '800.300.401',
      '700.601.003',
      '100.400.319',
    ]
    for (const code of [...card, ...more]) assert.equal(failureOf(code), 'card', code)
  })

  test('declines that genuine shoppers often get count for their number and address only', () => {
    for (const code of ['300.100.100', '100.380.401']) assert.equal(failureOf(code), 'shopper')
  })

  test("declines caused by the acquirer, the merchant or the shopper's choice do not count", () => {
    const faults = [
      '900.100.100',
      '900.100.400',
      '900.100.600',
      '999.999.999',
      '800.800.800',
      '600.100.100',
    ]
    const setUp = [
      '800.100.190',
      '800.100.164',
      '800.100.173',
      '600.200.500',
      '500.100.301',
      '800.121.100',
    ]
    const shopper = ['100.396.101', '100.396.103', '100.397.101', '100.380.501']
    const requests = ['200.300.404', '100.100.101', '100.100.303', '800.120.100', '000.000.000']
    for (const code of [...faults, ...setUp, ...shopper, ...requests]) {
      assert.equal(failureOf(code), undefined, code)
    }
    const technical = new Set([
      'communication',
      'system',
      'configuration',
      'format',
      'registration',
      'job',
    ])
    for (const [code, group] of results) {
      if (technical.has(group)) assert.equal(failureOf(code), undefined, code)
    }
  })
})

describe("a shopper's address", () => {
  test("a public address is the shopper's; of IPv6 its network", () => {
    assert.equal(shopperAddress('8.8.4.4'), '8.8.4.4')
    assert.equal(shopperAddress('::ffff:8.8.4.4'), '8.8.4.4')
    const network = '2a02:8071:5000:1::/64'
    assert.equal(shopperAddress('2a02:8071:5000:1:aaaa:bbbb:cccc:dddd'), network)
    assert.equal(shopperAddress('2A02:8071:5000:0001::1'), network)
    assert.equal(shopperAddress('2a02:8071:5000:1::'), network)
    assert.equal(shopperAddress('2a02::1'), '2a02:0:0:0::/64')
    assert.equal(shopperAddress('2a02::1:2:3:4:8.8.4.4'), '2a02:0:1:2::/64')
  })

  test("a private address, or a malformed one, is no shopper's address", () => {
    for (const text of [
      undefined,
      '',
      '10.0.0.7',
      '127.0.0.1',
      '::1',
      'fd00::1',
      'localhost',
      '8.8.4',
    ]) {
      assert.equal(shopperAddress(text), undefined, text)
    }
  })
})

describe('thresholds', () => {
  test('thresholds are on in live and off in test, and far higher for shared dimensions', () => {
    const live = defaultThresholds('live')
    assert.equal(isOn(defaultThresholds('test')), false)
    for (const dimension of ['bin', 'channel', 'token'] as const) {
      assert.ok(isWide(dimension))
      assert.ok(live[dimension] >= 10 * live.address)
      assert.ok(live[dimension] >= 10 * live.number)
    }
  })

  test("an entity's thresholds override those of the installation, also to switch one off", () => {
    const live = defaultThresholds('live')
    const own = thresholdsOf(live, { cardTestingNumber: 3, cardTestingBin: 0 })
    assert.deepEqual(own, { ...live, number: 3, bin: 0 })
    checkEntitySettings({ cardTestingNumber: 3, cardTestingChannel: 0 })
    for (const value of [-1, 1.5, '3', true, 1_000_001]) {
      assert.throws(
        () => checkEntitySettings({ cardTestingNumber: value }),
        /cardTestingNumber must be a whole number from 0 to 1000000/,
      )
    }
  })
})
