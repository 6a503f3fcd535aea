/** Amounts in the units of acquirers, and back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decimalOf,
  moneyOf,
  moneyOfDecimal,
  readJson,
  readText,
  unitsOf,
} from '@tollgate/plugin-kit'

const own = { ISK: 2, HUF: 0, CLP: 2 }

test('amounts have the digits of the acquirer, where they differ from ISO 4217', () => {
  const rows = [
    ['EUR', 9200n, 9200n, '92.00'],
    ['EUR', 5n, 5n, '0.05'],
    ['JPY', 92n, 92n, '92'],
    ['KWD', 9203n, 9203n, '9.203'],
    ['ISK', 92n, 9200n, '92.00'],
    ['HUF', 9200n, 92n, '92'],
    ['HUF', 0n, 0n, '0'],
  ] as const
  for (const [currency, minor, units, decimal] of rows) {
    const money = { minor, currency }
    assert.equal(unitsOf(money, own), units)
    assert.equal(decimalOf(money, own), decimal)
    assert.deepEqual(moneyOf(units, currency, own), money)
    assert.deepEqual(moneyOfDecimal(decimal, currency, own), money)
  }
})

test('no amount is rounded, in either direction', () => {
  assert.throws(() => unitsOf({ minor: 9250n, currency: 'HUF' }, own), RangeError)
  assert.throws(() => decimalOf({ minor: 1n, currency: 'HUF' }, own), RangeError)
  assert.throws(() => unitsOf({ minor: 1n, currency: 'XXX' }, own), RangeError)
  assert.throws(() => unitsOf({ minor: 1n, currency: 'constructor' }, own), RangeError)
  assert.equal(moneyOf(9250n, 'ISK', own), undefined)
  for (const text of ['92', '92.0', '92.000', '-92.00', '', '.00', '92,00', '9e1', ' 92.00']) {
    assert.equal(moneyOfDecimal(text, 'EUR', own), undefined, text)
  }
})

test('a byte-order mark is no part of a text, and what is no JSON is not quoted', () => {
  assert.equal(readText(Buffer.from('\ufeffa\ufeff')), 'a\ufeff')
  assert.deepEqual(readJson(Buffer.from('\ufeff{"code":"00"}')), { code: '00' })
  assert.throws(() => readJson(Buffer.from('4200000000000000x')), {
    message: 'the 17 bytes are not JSON',
  })
})
