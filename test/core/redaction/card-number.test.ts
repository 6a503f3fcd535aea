import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brands } from '@tollgate/schemas'
import cardValidator from 'card-validator'
import fc from 'fast-check'
import { detectBrand, fitsBrand, passesLuhn } from '../../../core/redaction/card-number.ts'
import { checkAccount } from '../../../core/request/account.ts'
import { cardOf, pay, refused } from '../../rig/payment-request.ts'

const options = { now: new Date('2026-11-20T10:00:00Z'), cvvAsked: false }

const published: Readonly<Record<string, string>> = {
  VISA: `4200000000000000 4711100000000000 4111111111111111 4000000000000002 4000000000009995 4000000000009987
    4000000000009979 4000000000000069 4000000000000127 4000000000006975 4000000000000119 4100000000000019
    4000002500003155 4000000000000341 4000000000000077 4200000000000091 4200000000000026 4200000000000109
    4200000000000059 4012001037461114 4012001037141112 4532497088771651 4200000000000042 4200000000000067
    4200000000000018 4200000000000075 4000008400001629 4000008260003178 4000000000000259 4000000000002685
    4000000000005423`,
  MASTER: `5454545454545454 5555555555554444 2223003122003222 5200000000000007 5200000000000056
    5200000000000023 5200000000000106`,
  AMEX: '377777777777770 378282246310005',
  DINERS: '36227206271667 30569309025904',
  DISCOVER: '6011111111111117',
  JCB: '3530111333300000',
  UNIONPAY: '6200000000000005 6205500000000000004',
  MAESTRO: '6759649826438453',
}
const testNumbers = Object.entries(published).flatMap(([brand, numbers]) =>
  numbers.split(/\s+/).map((number) => ({ brand, number })),
)

describe('card numbers', () => {
  test('every published test number passes for its brand, and without one is recognised', () => {
    assert.equal(testNumbers.length, 47)
    for (const { brand, number } of testNumbers) {
      const card = cardOf(number, brand === 'AMEX' ? { cvv: '1234' } : {})
      const named = checkAccount(pay(brand, { card }), options)
      assert.deepEqual([named.kind, named.brand?.code], ['card', brand], number)
      const detected = checkAccount(pay(undefined, { card }), options)
      assert.deepEqual(
        { ...detected, brand: detected.brand?.code },
        { kind: 'card', brand, detected: true },
        number,
      )
    }
  })

  test('a published number of one scheme is refused for every other scheme', () => {
    for (const { brand, number } of testNumbers) {
      for (const other of Object.keys(published).filter((other) => other !== brand)) {
        const card = cardOf(number)
        const run = () => checkAccount(pay(other, { card }), options)
        refused(run, '100.100.700', 'card.number', 'paymentBrand')
      }
    }
  })

  test('any single wrong digit is found', () => {
    const slip = fc.record({
      number: fc.constantFrom(...testNumbers.map(({ number }) => number)),
      place: fc.nat(18),
      by: fc.integer({ min: 1, max: 9 }),
    })
    fc.assert(
      fc.property(slip, ({ number, place, by }) => {
        const at = place % number.length
        const wrong = number.slice(0, at) + ((Number(number[at]) + by) % 10) + number.slice(at + 1)
        assert.equal(passesLuhn(number), true)
        refused(
          () => checkAccount(pay('VISA', { card: cardOf(wrong) }), options),
          '100.100.101',
          'card.number',
        )
      }),
    )
  })

  test('check digits agree with the card library', () => {
    const visa = fc.stringMatching(/^4[0-9]{15}$/)
    fc.assert(
      fc.property(visa, (number) => {
        assert.equal(passesLuhn(number), cardValidator.number(number).isValid)
      }),
    )
  })

  test('schemes agree with the card library, except where the table is more exact', () => {
    const ours = new Set(brands.filter(({ ranges }) => ranges.length > 0).map(({ code }) => code))
    const names: Record<string, string> = {
      mastercard: 'MASTER',
      'american-express': 'AMEX',
      'diners-club': 'DINERS',
    }
    const first = fc.oneof(
      fc.constant(''),
      fc.constantFrom('4', '50', '506', '60', '6277', '636', '65', '9'),
    )
    const number = fc
      .tuple(first, fc.stringMatching(/^[0-9]{19}$/))
      .map(([start, rest]) => (start + rest).slice(0, 19))
    fc.assert(
      fc.property(number, (number) => {
        const detected = detectBrand(number)
        fc.pre(detected === undefined || !ours.has(detected.code))
        const theirs = cardValidator.number(number, { skipLuhnValidation: true }).card?.type
        const expected = theirs === undefined ? undefined : (names[theirs] ?? theirs.toUpperCase())
        assert.equal(detected?.code, expected)
      }),
      { numRuns: 2000 },
    )
  })

  test('a narrower range wins over a wider one', () => {
    const code = (number: string) => detectBrand(number)?.code
    assert.equal(code('4011780000000000'), 'ELO')
    assert.equal(code('5066990000000000'), 'ELO')
    assert.equal(code('6062820000000000'), 'HIPERCARD')
    assert.equal(code('6500310000000000'), 'ELO')
    assert.equal(code('5019000000000000'), 'DANKORT')
    assert.equal(code('6900000000000000'), 'MAESTRO')
    assert.equal(code('9682010000000000'), 'MADA')
    assert.equal(code('9999999999999999'), undefined)
  })

  test('domestic brands and sub-brands are accepted only on the ranges of their hosts', () => {
    const fits = (brand: string, number: string) => {
      const found = brands.find(({ code }) => code === brand)
      assert.ok(found, brand)
      return fitsBrand(number, found)
    }
    const visa = '4200000000000000'
    const master = '5454545454545454'
    const maestro = '6759649826438453'
    for (const brand of ['MADA', 'CARTEBANCAIRE', 'BCMC']) {
      for (const number of [visa, master, maestro]) assert.equal(fits(brand, number), true, brand)
      assert.equal(fits(brand, '6011111111111117'), false, brand)
    }
    for (const brand of ['VISADEBIT', 'VISAELECTRON', 'CARTEBLEUE']) {
      assert.equal(fits(brand, visa), true, brand)
      assert.equal(fits(brand, master), false, brand)
    }
    assert.equal(fits('MASTERDEBIT', master), true)
    assert.equal(fits('MASTERDEBIT', visa), false)
    assert.equal(fits('MADA', '9682010000000000'), true)
    assert.equal(fits('VISA', '9682010000000000'), false)
    // An Elo card of a Visa range can be sent as either.
    assert.equal(fits('VISA', '4011780000000000') && fits('ELO', '4011780000000000'), true)
    // These ranges have no rules, so nothing is refused.
    assert.equal(fits('CARNET', '5022750000000000'), true)
    // The length depends on the brand, not on the range.
    assert.equal(fits('VISA', '42000000000000'), false)
    assert.equal(fits('VISA', '4222222222222'), true)
  })

  test('a number outside every range needs a brand and has no scheme', () => {
    const card = cardOf('9999999999999995')
    refused(() => checkAccount(pay(undefined, { card }), options), '100.100.500', 'paymentBrand')
    refused(
      () => checkAccount(pay('VISA', { card }), options),
      '100.100.700',
      'card.number',
      'paymentBrand',
    )
  })

  test('a recognised number of a wrong length is refused with its own code', () => {
    const card = cardOf('42000000000000')
    assert.equal(passesLuhn(card.number), true)
    refused(() => checkAccount(pay(undefined, { card }), options), '100.100.700', 'card.number')
  })
})
