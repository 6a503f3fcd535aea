/** The names of fields: unknown, alternative and ignored ones, and indexes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { accepted, json, read, refused } from './decoding.ts'

describe('names', () => {
  it('unknown names are refused without their values', () => {
    const error = refused('colour=4200000000000000')
    assert.deepEqual(error, { name: 'colour', message: 'is not an allowed parameter' })
  })

  for (const [sent, meant] of [
    ['entityID', 'entityId'],
    ['card_number', 'card.number'],
    ['card.nubmer', 'card.number'],
    ['acrd.nubmer', 'card.number'],
    ['cart.items[12].nmae', 'cart.items[12].name'],
    ['Amount', 'amount'],
  ]) {
    it(`a name that is nearly right is answered with the right one: ${sent}`, () => {
      const { message } = refused(`${sent}=1`)
      assert.equal(message, `is not an allowed parameter; did you mean ${meant}?`)
    })
  }

  it('a name of another operation is answered with that operation', () => {
    const { errors } = read(
      'chargebackResultCode=1&job.expression=1&registrationId=1&cart.items[3].nmae=1',
    )
    assert.deepEqual(
      errors.map(({ message }) => message),
      [
        'is not taken here; it belongs to POST /v1/payments/{id}',
        'is not taken here; it belongs to POST /scheduling/v1/schedules',
        'is not taken here; it belongs to the path of POST /v1/registrations/{id}/payments',
        'is not an allowed parameter; did you mean cart.items[3].name?',
      ],
    )
  })

  it('a name far from every known one gets no suggestion', () => {
    assert.equal(refused('ammmmount=1').message, 'is not an allowed parameter')
  })

  it('names in answers are cut at 64 characters, with runs of nine digits masked', () => {
    assert.equal(refused(`${'a'.repeat(80)}=1`).name, 'a'.repeat(64))
    assert.equal(refused('card4200000000000000=1').name, 'card***')
    assert.equal(refused(`${'b'.repeat(60)}123456789=1`).name, `${'b'.repeat(60)}***`)
    assert.equal(refused('card12345678=1').name, 'card12345678')
    assert.equal(refused('x٤٢٠٠٠٠٠٠٠٠=1').name, 'x***')
  })

  it('names in answers contain no control characters', () => {
    assert.equal(refused('a%00%0Ab=1').name, 'a??b')
  })

  it('names longer than 256 characters are refused', () => {
    assert.equal(refused(`${'a'.repeat(257)}=1`).message, 'is longer than 256 characters')
    assert.equal(refused(`${'a'.repeat(256)}=1`).message, 'is not an allowed parameter')
  })

  it('names deeper than eight levels are refused as too deep', () => {
    assert.equal(refused('a.b.c.d.e.f.g.h.i=1').message, 'nests deeper than 8 levels')
    assert.equal(refused('a.b.c.d.e.f.g.h=1').message, 'is not an allowed parameter')
  })

  it('a name sent twice is refused, also with the same value', () => {
    assert.deepEqual(refused('amount=1&amount=1'), { name: 'amount', message: 'is sent twice' })
    assert.equal(
      refused('customParameters[abc]=1&customParameters[abc]=2').message,
      'is sent twice',
    )
    assert.equal(refused('cart.items[0].name=1&cart.items[0].name=1').message, 'is sent twice')
    assert.equal(
      refused('authentication.password=1&authentication.password=1').message,
      'is sent twice',
    )
  })

  for (const name of [
    'card',
    'cart',
    'cart.items',
    'cart.items[0]',
    'customParameters',
    'threeDSecure.schemeData',
  ]) {
    it(`the name of a group takes no value: ${name}`, () => {
      const { errors } = read(`${name}=1&card.number=42000000`)
      assert.equal(errors[0]?.name, name)
      assert.equal(errors[0]?.message, 'is a group of fields and takes no value itself')
    })
  }

  it('a name below a value is unknown', () => {
    assert.match(refused('amount.value=1').message, /^is not an allowed parameter/)
    assert.match(refused('cart.items[0]name=1').message, /^is not an allowed parameter/)
    assert.match(refused('card[number]=1').message, /^is not an allowed parameter/)
    assert.match(
      refused('threeDSecure.schemeData.CB-USECASE=1').message,
      /did you mean|not an allowed/,
    )
  })

  for (const name of [
    '__proto__',
    'constructor',
    'prototype',
    '__proto__.polluted',
    'card.__proto__.polluted',
    'constructor.prototype.polluted',
    'customParameters[__proto__]',
    'customParameters[constructor]',
    'cart.items[__proto__].polluted',
    'toString',
    'hasOwnProperty',
  ]) {
    it(`a name of JavaScript's own machinery is unknown: ${name}`, () => {
      const { errors, request } = read(`${name}=polluted`)
      assert.equal(errors.length, 1)
      assert.equal(({} as Record<string, unknown>).polluted, undefined)
      assert.equal(Object.keys(request).length, 0)
    })
  }
})

describe('alternative names', () => {
  it('an alternative name means the documented one', () => {
    const { request, names } = read('authentication.entityId=a1')
    assert.equal(request.entityId, 'a1')
    assert.deepEqual(names, [['entityId', 'a1']])
  })

  it('an alternative name can accompany the documented one with the same value, in either order', () => {
    assert.deepEqual(accepted('entityId=a1&authentication.entityId=a1'), { entityId: 'a1' })
    assert.deepEqual(accepted('authentication.entityId=a1&entityId=a1'), { entityId: 'a1' })
  })

  it('an alternative name with another value than the documented one is refused', () => {
    const error = refused('entityId=a1&authentication.entityId=b2')
    assert.equal(error.name, 'authentication.entityId')
    assert.match(error.message, /differs from entityId/)
    assert.match(
      refused('authentication.entityId=b2&entityId=a1').message,
      /differs from authentication.entityId/,
    )
  })

  it('an alternative name sent twice is refused', () => {
    assert.equal(
      refused('authentication.entityId=a&authentication.entityId=a').message,
      'is sent twice',
    )
    assert.equal(
      refused('authentication.entityId=a&entityId=a&entityId=a').message,
      'is sent twice',
    )
  })

  it('alternative names work in JSON', () => {
    assert.deepEqual(accepted(json({ authentication: { entityId: 'a1' } })), { entityId: 'a1' })
  })
})

describe('ignored names of deployed clients', () => {
  it('names that deployed clients send are taken and dropped', () => {
    const body = 'authentication.password=x&registrations[0].id=1&registrations[1].id=2&amount=1'
    assert.deepEqual(accepted(body), { amount: '1' })
    assert.deepEqual(read(body).names, [['amount', '1']])
    assert.deepEqual(accepted(json({ registrations: [{ id: '1' }], amount: '1' })), { amount: '1' })
  })
})

describe('indexes', () => {
  it('indexes reach 1000 where the table says so, and 99 elsewhere', () => {
    const many = (count: number, name: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => `${name(index)}=x`).join('&')
    const items = (
      accepted(many(1001, (index) => `cart.items[${index}].name`)) as {
        cart: { items: unknown[] }
      }
    ).cart.items
    assert.equal(items.length, 1001)
    assert.equal(
      refused('cart.items[1001].name=x').message,
      'its index must be a number from 0 to 1000',
    )
    assert.equal(
      refused('airline.passengers[100].name=x').message,
      'its index must be a number from 0 to 99',
    )
  })

  for (const index of [
    '01',
    '-1',
    '+1',
    '1e1',
    '',
    ' 1',
    '99999999999999999999',
    'n',
    '1.5',
    '0x1',
  ]) {
    it(`an index is a plain number, not "${index}"`, () => {
      assert.equal(
        refused(`cart.items[${encodeURIComponent(index)}].name=x`).message,
        'its index must be a number from 0 to 1000',
      )
    })
  }

  it('indexes leave no gap, because answers number elements as they were sent', () => {
    assert.equal(refused('cart.items[1].name=x').name, 'cart.items[0]')
    assert.equal(
      refused('cart.items[0].name=x&cart.items[1].name=&cart.items[2].name=y').name,
      'cart.items[1]',
    )
    assert.equal(refused(json({ cart: { items: [{ name: 'x' }, {}] } })).name, 'cart.items[1]')
  })
})
