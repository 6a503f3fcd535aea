import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GatewayError, type ParameterError } from '../../../core/errors.ts'
import { bodyInput, decode, type RequestInput } from '../../../core/request/decode.ts'
import { ParameterErrors } from '../../../core/request/parameter-errors.ts'
import { planOf } from '../../../core/request/plan.ts'
import { type Field, operationOf } from '../../../schemas/index.ts'
import {
  AN,
  C,
  echoed,
  group,
  match,
  N,
  none,
  O,
  pan,
  R,
  request,
  secret,
} from '../../../schemas/table.ts'

const key = { pattern: '[a-zA-Z0-9._]{3,64}', max: 64 }
const tables = [
  group('', 'Basic', [
    ['amount', match('[0-9]{1,10}(\\.[0-9]{2})?', '92.00', 1, 13), R, echoed, none, 'Amount.'],
    ['descriptor', AN(127), O, echoed, none, 'Statement text.'],
    [
      'note',
      { kind: 'text', min: 1, max: 200, multiline: true },
      O,
      echoed,
      none,
      'Lines of text.',
    ],
    ['entityId', AN(32), C, request, none, 'Channel.', { aliases: ['authentication.entityId'] }],
    ['authentication.password', AN(255), O, request, secret, 'Old login.', { tolerated: true }],
    ['registrations[n].id', AN(32), O, request, none, 'Stored ones.', { tolerated: true }],
    ['customParameters[name]', AN(2048), C, echoed, none, 'Free.', { key }],
    ['threeDSecure.schemeData[CB-USECASE]', N(2), C, request, none, 'Use case.'],
  ]),
  group('card', 'Card', [
    ['number', N(8, 32), R, request, pan, 'Number.'],
    ['holder', AN(3, 128), O, echoed, none, 'Holder.'],
  ]),
  group('cart.items[n]', 'Items', [
    ['name', AN(255), C, echoed, none, 'Name.', { maxIndex: 1000 }],
    ['recipient.city', AN(80), O, echoed, none, 'City.', { maxIndex: 1000 }],
  ]),
  group('airline.passengers[n]', 'Passengers', [
    ['name', AN(255), C, echoed, none, 'Name.'],
    ['legs[n].airport', AN(255), C, echoed, none, 'Airport.'],
  ]),
]

const plan = planOf(
  operationOf(
    {
      operation: 'test',
      method: 'POST',
      path: '/test',
      title: 'Test',
      accepts: tables.map(({ name }) => name),
      answers: [],
      login: 'token',
      right: 'read',
      throttle: 'write',
    },
    tables,
  ),
)

function read(input: RequestInput | string) {
  const errors = new ParameterErrors()
  const given = typeof input === 'string' ? { form: Buffer.from(input) } : input
  const { request, names } = decode(plan, given, errors)
  return { request, names, errors: errors.refusal().parameterErrors }
}

/** The request as ordinary objects, checked to be free of errors. */
function accepted(input: RequestInput | string): unknown {
  const { request, errors } = read(input)
  assert.deepEqual(errors, [])
  return JSON.parse(JSON.stringify(request))
}

function only(errors: readonly ParameterError[]): ParameterError {
  assert.equal(errors.length, 1, JSON.stringify(errors))
  return errors[0] as ParameterError
}

const refused = (input: RequestInput | string) => only(read(input).errors)
const json = (value: unknown) => ({
  json: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
})

describe('a form', () => {
  it('a form becomes nested objects and lists of texts', () => {
    const body =
      'amount=92.00&card.number=4200000000000000&cart.items[0].name=Book&cart.items[1].name=Pen' +
      '&cart.items[1].recipient.city=Ulm&customParameters[SHOPPER_a.b]=1' +
      '&threeDSecure.schemeData[CB-USECASE]=01&airline.passengers[0].legs[1].airport=CGN' +
      '&airline.passengers[0].legs[0].airport=FRA'
    assert.deepEqual(accepted(body), {
      amount: '92.00',
      card: { number: '4200000000000000' },
      cart: { items: [{ name: 'Book' }, { name: 'Pen', recipient: { city: 'Ulm' } }] },
      customParameters: { 'SHOPPER_a.b': '1' },
      threeDSecure: { schemeData: { 'CB-USECASE': '01' } },
      airline: { passengers: [{ legs: [{ airport: 'FRA' }, { airport: 'CGN' }] }] },
    })
  })

  it('a form keeps the flat names in the order sent', () => {
    const { names } = read('card.holder=Jane&amount=1&customParameters[abc]=x')
    assert.deepEqual(names, [
      ['card.holder', 'Jane'],
      ['amount', '1'],
      ['customParameters[abc]', 'x'],
    ])
  })

  it('a form can have percent-encoded names, and a plus sign is a blank', () => {
    assert.deepEqual(
      accepted('card%2Enumber=42000000&cart.items%5B0%5D.name=A+B%2BC&descriptor=%C3%A9'),
      {
        card: { number: '42000000' },
        cart: { items: [{ name: 'A B+C' }] },
        descriptor: 'é',
      },
    )
  })

  it('a form can hold UTF-8 without percent-encoding', () => {
    assert.deepEqual(accepted('descriptor=Zürich 🏔'), { descriptor: 'Zürich 🏔' })
  })

  it('values of a form are not trimmed', () => {
    assert.deepEqual(accepted('descriptor=+a+'), { descriptor: ' a ' })
  })

  it('an empty value counts as not sent, even beside the same name', () => {
    assert.deepEqual(accepted('descriptor=&amount=&&card.holder&amount=1&cart.items[4].name='), {
      amount: '1',
    })
  })

  it('a value can contain an equals sign', () => {
    assert.deepEqual(accepted('descriptor=a=b=='), { descriptor: 'a=b==' })
  })

  it('the objects of a form have no prototype at any level', () => {
    const { request } = read('card.holder=Jane&cart.items[0].recipient.city=Ulm')
    const item = (request.cart as { items: object[] }).items[0] as { recipient: object }
    for (const one of [request, request.card, request.cart, item, item.recipient]) {
      assert.equal(Object.getPrototypeOf(one), null)
    }
  })
})

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

describe('malformed text', () => {
  for (const value of ['%', '%4', '%zz', '%C3', '%C3%28', '%ED%A0%80', '%C0%80', '%F5%80%80%80']) {
    it(`malformed text is refused with the name of its field: ${value}`, () => {
      const error = refused(`amount=1&descriptor=${value}`)
      assert.equal(error.name, 'descriptor')
      assert.match(error.message, /broken percent-encoding/)
    })
  }

  it('malformed text in a name is refused', () => {
    assert.match(refused('descri%zzptor=1').message, /broken percent-encoding/)
  })

  it('malformed raw bytes are named, and the rest is read', () => {
    const body = Buffer.concat([Buffer.from('card.holder=Zoë&descriptor='), Buffer.from([0xe9])])
    const { errors, request } = read({ form: body })
    assert.deepEqual(only(errors), { name: 'descriptor', message: 'is not UTF-8' })
    assert.equal((request.card as { holder: string }).holder, 'Zoë')
  })

  for (const [what, value] of [
    ['NUL', '%00'],
    ['line feed', '%0A'],
    ['escape', '%1B'],
    ['delete', '%7F'],
    ['C1 control', '%C2%85'],
  ]) {
    it(`control characters are refused: ${what}`, () => {
      assert.equal(refused(`descriptor=a${value}b`).message, 'must not hold control characters')
    })
  }

  it('line ends are taken in a field of several lines', () => {
    assert.deepEqual(accepted('note=a%0D%0Ab%09c'), { note: 'a\r\nb\tc' })
    assert.equal(refused('note=a%00b').message, 'must not hold control characters')
  })

  it('control characters in free keys are refused', () => {
    assert.match(refused('customParameters[ab%00cd]=1').message, /key must match/)
  })
})

describe('a query', () => {
  it('a query follows the rules of a form', () => {
    assert.deepEqual(accepted({ query: 'entityId=a1&descriptor=a+b%26c' }), {
      entityId: 'a1',
      descriptor: 'a b&c',
    })
    assert.equal(refused({ query: 'amount=1&amount=2' }).message, 'is sent twice')
  })

  it('a query can be text, or raw UTF-8 as the server delivers it', () => {
    const asReceived = Buffer.from('descriptor=Zoë').toString('latin1')
    assert.deepEqual(accepted({ query: asReceived }), { descriptor: 'Zoë' })
    assert.deepEqual(accepted({ query: 'descriptor=東' }), { descriptor: '東' })
    assert.equal(refused({ query: 'descriptor=\u00e9' }).message, 'is not UTF-8')
  })
})

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

describe('limits', () => {
  const throwsWith = (text: RegExp, input: RequestInput) =>
    assert.throws(
      () => read(input),
      (error) =>
        error instanceof GatewayError &&
        error.status === 400 &&
        error.code === '200.300.404' &&
        text.test(error.message),
    )

  it('a body above 8 MiB of either kind is refused', () => {
    throwsWith(/8388608 bytes/, { form: Buffer.alloc(8 * 1024 * 1024 + 1, 'a') })
    throwsWith(/8388608 bytes/, { json: Buffer.alloc(8 * 1024 * 1024 + 1, ' ') })
  })

  it('more than 65,536 parameters are refused', () => {
    const parameters = (count: number) => ({ form: Buffer.from('descriptor=&'.repeat(count)) })
    assert.deepEqual(accepted(parameters(65_536)), {})
    throwsWith(/65536 parameters/, parameters(65_537))
    throwsWith(/65536 parameters/, json(`[${'"",'.repeat(65_537)}""]`))
  })

  it('the list of errors is bounded, and so is the work for it', () => {
    const body = Array.from({ length: 60_000 }, (_, index) => `unknown${index}=1`).join('&')
    assert.throws(
      () => read(body),
      (error) => error instanceof GatewayError && error.parameterErrors.length === 100,
    )
  })
})

describe('the media type', () => {
  const body = Buffer.from('a=1')
  for (const type of [
    'application/x-www-form-urlencoded',
    'application/x-www-form-urlencoded;charset=UTF-8',
    'application/x-www-form-urlencoded; charset=utf-8',
    'Application/X-WWW-Form-Urlencoded ;x=y',
    undefined,
  ]) {
    it(`${type} is a form`, () => assert.deepEqual(bodyInput(type, body), { form: body }))
  }
  for (const type of ['application/json', 'application/json;charset=UTF-8', 'APPLICATION/JSON']) {
    it(`${type} is JSON`, () => assert.deepEqual(bodyInput(type, body), { json: body }))
  }
  for (const type of [
    'multipart/form-data; boundary=x',
    'text/plain',
    'application/xml',
    'application/jsonp',
    '',
  ]) {
    it(`${type || 'an empty type'} is refused with a body`, () => {
      assert.throws(
        () => bodyInput(type, body),
        (error) =>
          error instanceof GatewayError && error.code === '200.100.103' && error.status === 400,
      )
    })
  }
  it('any media type is taken without a body', () => {
    assert.deepEqual(accepted(bodyInput('text/plain', Buffer.alloc(0))), {})
  })
})

describe('the tables', () => {
  it('one name for a value and a group in the tables is refused', () => {
    const field = (name: string): Field => ({ ...(tables[0]?.fields[0] as Field), name })
    const clash = {
      name: 'clash',
      title: 'Clash',
      fields: [field('a'), field('a.b')],
      conditions: [],
    }
    const endpoint = {
      operation: 'x',
      method: 'POST',
      path: '/x',
      title: 'x',
      accepts: ['clash'],
      answers: [],
      login: 'none',
      right: 'none',
      throttle: 'none',
    } as const
    assert.doesNotThrow(() => operationOf(endpoint, [clash]))
    assert.throws(
      () => operationOf({ ...endpoint, accepts: ['missing'] }, [clash]),
      /unknown table "missing"/,
    )
    assert.throws(() => operationOf({ ...endpoint, required: ['c'] }, [clash]), /requires c/)
  })
})
