/** Requests in JSON, and the objects of embedders, which are read like JSON. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GatewayError } from '../../../core/errors.ts'
import { accepted, json, only, read, refused } from './decoding.ts'

describe('a JSON body', () => {
  it('a JSON body has the same structure, nested', () => {
    assert.deepEqual(
      accepted(
        json({
          amount: '92.00',
          cart: { items: [{ name: 'Book' }] },
          customParameters: { 'SHOPPER_a.b': true },
          threeDSecure: { schemeData: { 'CB-USECASE': '01' } },
          descriptor: '',
        }),
      ),
      {
        amount: '92.00',
        cart: { items: [{ name: 'Book' }] },
        customParameters: { 'SHOPPER_a.b': 'true' },
        threeDSecure: { schemeData: { 'CB-USECASE': '01' } },
      },
    )
    assert.deepEqual(read(json({ threeDSecure: { schemeData: { 'CB-USECASE': '1' } } })).names, [
      ['threeDSecure.schemeData[CB-USECASE]', '1'],
    ])
  })

  for (const [what, body, name] of [
    ['a number', '{"amount": 92.00}', 'amount'],
    ['null', '{"amount": null}', 'amount'],
    ['a repeated name', '{"amount": "1", "amount": "1"}', 'amount'],
    ['a repeated group', '{"card": {"holder": "Jane"}, "card": {"number": "42000000"}}', 'card'],
    ['a name repeated under an escape', '{"amount": "1", "amou\\u006et": "2"}', 'amount'],
    ['a group for a value', '{"amount": {"value": "1"}}', 'amount'],
    ['a list for a value', '{"amount": ["1"]}', 'amount'],
    ['a value for a group', '{"card": "1"}', 'card'],
    ['a group for a list', '{"cart": {"items": {"0": {"name": "x"}}}}', 'cart.items'],
    ['a value for an element', '{"cart": {"items": ["x"]}}', 'cart.items[0]'],
    ['a flat name', '{"card.number": "42000000"}', 'card.number'],
    ['half a surrogate pair', '{"descriptor": "\\ud800"}', 'descriptor'],
    ['a control character', '{"descriptor": "\\u0000"}', 'descriptor'],
    ['an unknown group', '{"crad": {"number": "42000000"}}', 'crad'],
    ['a prototype', '{"__proto__": {"polluted": "1"}}', '__proto__'],
    ['a prototype further in', '{"card": {"__proto__": {"polluted": "1"}}}', 'card.__proto__'],
  ] as const) {
    it(`a JSON body with ${what} is refused`, () => {
      const { errors } = read(json(body))
      assert.equal(only(errors).name, name)
      assert.equal(only(errors).value, undefined)
      assert.equal(({} as Record<string, unknown>).polluted, undefined)
    })
  }

  for (const body of [
    '',
    ' ',
    '[1',
    '{"a"',
    '{"a":}',
    '{"a":"1",}',
    '{a:1}',
    "{'a':'1'}",
    '{"a":"\n"}',
    '{"a":"\\x"}',
    '{"a":01}',
    '{"a":"1"} x',
    '{"a":"1',
    'nul',
    '\ufeff{}',
  ]) {
    it(`invalid JSON is refused: ${JSON.stringify(body)}`, () => {
      assert.throws(
        () => read(json(body)),
        (error) =>
          error instanceof GatewayError && error.code === '200.100.103' && error.status === 400,
      )
    })
  }

  it('a refusal of JSON names the position and never the text', () => {
    assert.throws(
      () => read(json('{"card":{"number":4200000000000000x}}')),
      (error) =>
        error instanceof GatewayError &&
        /position 34/.test(error.message) &&
        !/4200/.test(error.message),
    )
  })

  it('JSON in another encoding than UTF-8 is refused', () => {
    const bytes = Buffer.from('{"descriptor":"\u00e9"}', 'latin1')
    assert.throws(() => read({ json: bytes }), /is not UTF-8/)
  })

  it('a list in JSON is no longer than its highest index', () => {
    const passengers = (count: number) =>
      json({ airline: { passengers: Array(count).fill({ name: 'x' }) } })
    assert.ok(accepted(passengers(100)))
    assert.equal(refused(passengers(101)).name, 'airline.passengers[100]')
  })

  it('JSON other than an object is refused', () => {
    for (const body of ['[]', '"x"', 'true', 'null', '1'])
      assert.match(refused(json(body)).message, /must be an object/)
  })

  it('JSON deeper than eight levels is refused', () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}"1"${'}'.repeat(levels)}`
    assert.throws(
      () => read(json(nested(9))),
      (error) =>
        error instanceof GatewayError && /deeper/.test(error.parameterErrors[0]?.message ?? ''),
    )
    assert.equal(refused(json(nested(8))).name, 'a')
  })
})

describe("an embedder's object", () => {
  it("an embedder's object is read like JSON, and undefined counts as not sent", () => {
    const values = { amount: '1', descriptor: undefined, cart: { items: [{ name: 'x' }] } }
    assert.deepEqual(accepted({ values }), { amount: '1', cart: { items: [{ name: 'x' }] } })
  })

  it("an embedder's object is not changed and shares nothing with the request", () => {
    const values = { card: { holder: 'Jane' } }
    const { request } = read({ values })
    assert.notEqual(request.card, values.card)
    assert.deepEqual(values, { card: { holder: 'Jane' } })
  })

  for (const [what, value] of [
    ['a number', 92],
    ['a big integer', 92n],
    ['null', null],
    ['a function', () => '92'],
    ['a String object', Object('92')],
    ['a date', new Date(0)],
  ] as const) {
    it(`an embedder's object with ${what} is refused`, () =>
      assert.equal(refused({ values: { amount: value } }).name, 'amount'))
  }

  it('a circular object is refused without harm', () => {
    const values: Record<string, unknown> = { amount: '1' }
    values.card = values
    assert.deepEqual(
      read({ values }).errors.map(({ name }) => name),
      ['card.amount', 'card.card'],
    )
  })

  it('only plain objects are taken as groups', () => {
    assert.equal(refused({ values: { card: new Map([['holder', 'Jane']]) } }).name, 'card')
    assert.equal(refused({ values: [] }).message, 'the request must be an object of fields')
  })

  it('inherited properties are not read', () => {
    const values = Object.create({ amount: '1' })
    values.descriptor = 'x'
    assert.deepEqual(accepted({ values }), { descriptor: 'x' })
  })
})
