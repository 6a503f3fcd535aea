import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allFields, fieldOf, formatsIn, matches, patternOf } from '../rig/table-look-up.ts'
import { unboundedOrNested } from './pattern-structure.ts'

test('the example of every pattern matches and respects its lengths', () => {
  for (const { field } of allFields) {
    for (const format of formatsIn(field.format)) {
      if (format.kind !== 'pattern') continue
      assert.ok(matches(format.pattern, format.example), `${field.name}: ${format.example}`)
      const length = [...format.example].length
      assert.ok(length >= (format.min ?? 0) && length <= (format.max ?? Infinity), field.name)
    }
  }
})

const patterns = new Set([
  ...allFields.flatMap(({ field }) =>
    formatsIn(field.format).flatMap((format) => (format.kind === 'pattern' ? format.pattern : [])),
  ),
  ...allFields.flatMap(({ field }) => field.options.key?.pattern ?? []),
])

test('no pattern can backtrack without bound', () => {
  assert.ok(patterns.size >= 25, `${patterns.size} patterns`)
  for (const pattern of patterns) {
    assert.equal(unboundedOrNested(pattern), undefined, pattern)
    const alphabet = ['a', '0', ' ', '=', '.', '-', '+4', '1.', '[', '\u{1F4B3}']
    for (const part of alphabet) {
      const hostile = `${part.repeat(20_000)}\u0000`
      assert.equal(matches(pattern, hostile), false, pattern)
    }
  }
})

test('the check on patterns finds dangerous ones', () => {
  for (const dangerous of ['(a+)+', 'a*', '(a{1,9}b?){2,9}', '(?:[0-9]|[0-9]{2}){1,40}', 'x{3,}']) {
    assert.notEqual(unboundedOrNested(dangerous), undefined, dangerous)
  }
  for (const harmless of ['(19|20)[0-9]{2}', '[^\\[\\]]{1,64}', '[+(]?1(\\.[0-9]{1,3})?']) {
    assert.equal(unboundedOrNested(harmless), undefined, harmless)
  }
})

test('the limits of every format are consistent', () => {
  for (const { field } of allFields) {
    for (const format of formatsIn(field.format)) {
      if (
        'min' in format &&
        'max' in format &&
        format.min !== undefined &&
        format.max !== undefined
      ) {
        assert.ok(format.min <= format.max, field.name)
      }
      if (format.kind === 'choice') {
        assert.equal(new Set(format.of).size, format.of.length, field.name)
        assert.ok(format.of.length > 0, field.name)
      }
    }
    const { default: absent, because } = field.options
    if (absent !== undefined && field.format.kind === 'choice') {
      assert.ok(field.format.of.includes(absent), `default of ${field.name}`)
    }
    assert.match(field.meaning, /^[A-Z0-9].*\.$/, `${field.name} has a description in a sentence`)
    if (because !== undefined) assert.match(because, /^[A-Z].*\.$/, field.name)
  }
})

test('real postcodes, phone numbers, cities and mandates are accepted', () => {
  const accepted: [group: string, name: string, value: string][] = [
    ['billing', 'billing.postcode', 'SW1A 2AA'],
    ['billing', 'billing.postcode', '1000-205'],
    ['merchant.billing', 'merchant.billing.postcode', '1011 AB'],
    ['customer', 'customer.phone', '(030) 901820'],
    ['shipping', 'shipping.mobile', '110'],
    ['recipient', 'recipient.phone', '+1 415-555-0100'],
    ['bankAccount', 'bankAccount.mandate.id', '2026-AB-117'],
    ['bankAccount', 'bankAccount.bic', 'COBADEFF'],
  ]
  for (const [group, name, value] of accepted) {
    assert.ok(matches(patternOf(group, name), value), `${name} = ${value}`)
    assert.ok(fieldOf(group, name).options.because, `${name} says why it is wider than documented`)
  }
  assert.deepEqual(
    fieldOf('shipping', 'shipping.city').format,
    fieldOf('billing', 'billing.city').format,
  )
  assert.ok(fieldOf('shipping', 'shipping.city').options.because)
})

test('documented limits of patterns hold', () => {
  const refused: [group: string, name: string, value: string][] = [
    ['basic', 'merchantTransactionId', 'short-1'],
    ['basic', 'entityId', '8AC7A4C9671F0E2B01672A5D8E3F0B1C'],
    ['billing', 'billing.postcode', '12345678901234567'],
    ['customer', 'customer.phone', 'call me'],
    ['customer', 'customer.phone', `+${'1'.repeat(25)}`],
    ['bankAccount', 'bankAccount.iban', 'DE8937040044'],
    ['bankAccount', 'bankAccount.bic', 'COBADEFFX'],
    ['tokenAccount', 'tokenAccount.number', '48953700120'],
    ['threeDSecure', 'threeDSecure.eci', '09'],
    ['threeDSecure', 'threeDSecure.version', '3.0.0'],
    ['cart.items', 'cart.items[n].tax', '101'],
    ['chargeback', 'chargebackResultCode', '000.100.110'],
    ['sender', 'sender.surname', 'Smith-Jones'],
  ]
  for (const [group, name, value] of refused) {
    assert.equal(matches(patternOf(group, name), value), false, `${name} = ${value}`)
  }
})
