/** The limits of free fields in one request. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GatewayError } from '../../../core/errors.ts'
import { openRequest } from '../../../core/request/parse.ts'
import { limits } from '../../../schemas/index.ts'

const payment = {
  amount: '92.00',
  currency: 'EUR',
  paymentType: 'DB',
  paymentBrand: 'VISA',
  card: { number: '4200000000000000', expiryMonth: '05', expiryYear: '2034', holder: 'Jane Jones' },
}

/** The refused names, by each way to send a request. */
function refused(values: Readonly<Record<string, unknown>>): string[] {
  const form = Buffer.from(flat(values).join('&'))
  const json = Buffer.from(JSON.stringify(values))
  const all = [{ form }, { json }, { values }].map((input) => {
    try {
      openRequest('payments.create', input).check()
      return []
    } catch (error) {
      const { status, parameterErrors = [] } = error as GatewayError
      assert.equal(status, 400)
      return parameterErrors.map(({ name }) => name)
    }
  })
  assert.deepEqual(all[1], all[0])
  assert.deepEqual(all[2], all[0])
  return all[0]!
}

function flat(values: unknown, name = ''): string[] {
  if (typeof values === 'string')
    return [`${encodeURIComponent(name)}=${encodeURIComponent(values)}`]
  return Object.entries(values as object).flatMap(([key, value]) => {
    if (name === '') return flat(value, key)
    const isElement = Array.isArray(values) || name === 'customParameters'
    return flat(value, isElement ? `${name}[${key}]` : `${name}.${key}`)
  })
}

/** Custom parameters of that many bytes, names included. */
function custom(bytes: number, character = 'x'): Record<string, string> {
  const size = Buffer.byteLength(character)
  const parameters: Record<string, string> = {}
  let left = bytes
  for (let no = 0; left > 0; no += 1) {
    const name = `name.${String(no).padStart(5, '0')}`
    const own = `customParameters[${name}]`.length
    const length = Math.max(1, Math.min(1000, Math.floor((left - own) / size)))
    parameters[name] = character.repeat(length)
    left -= own + length * size
  }
  return parameters
}

test('custom parameters have at most 64 KB together, in any encoding', () => {
  assert.deepEqual(
    refused({ ...payment, customParameters: custom(limits.ownNamesBytes - 2000) }),
    [],
  )
  for (const character of ['x', 'ä', '€', '😀']) {
    const customParameters = custom(limits.ownNamesBytes + 1000, character)
    assert.deepEqual(refused({ ...payment, customParameters }), ['customParameters'])
  }
})

test('names of custom parameters count as well as values', () => {
  const customParameters: Record<string, string> = {}
  for (let no = 0; no < 1200; no += 1) customParameters[`${'n'.repeat(56)}.${no}`] = 'x'
  assert.deepEqual(refused({ ...payment, customParameters }), ['customParameters'])
})

const items = (count: number, characters = 150) =>
  Array.from({ length: count }, (_, no) => ({
    merchantItemId: `item-${no}`,
    name: 'n'.repeat(100),
    description: 'd'.repeat(characters),
    quantity: '1',
    price: '1.00',
  }))

test('a cart of 900 items is accepted', () => {
  assert.deepEqual(refused({ ...payment, cart: { items: items(900) } }), [])
})

test('all texts together have at most 262,144 characters, and the largest part is named', () => {
  const leg = { restrictions: 'r'.repeat(150), fareBasis: 'f'.repeat(10) }
  const withLegs = (count: number) => ({
    passengers: Array.from({ length: 100 }, () => ({
      name: 'p'.repeat(20),
      legs: Array.from({ length: count }, () => leg),
    })),
  })
  assert.deepEqual(refused({ ...payment, airline: withLegs(10) }), [])
  assert.deepEqual(refused({ ...payment, airline: withLegs(30) }), ['airline'])
  assert.deepEqual(refused({ ...payment, cart: { items: items(900, 250) } }), ['cart'])
})
