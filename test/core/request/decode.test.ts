/** Decoding of forms and queries, the media type of a body, and the limits of all kinds of requests. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GatewayError } from '../../../core/errors.ts'
import { bodyInput, type RequestInput } from '../../../core/request/decode.ts'
import { type Field, operationOf } from '../../../schemas/index.ts'
import { accepted, json, only, read, refused, tables } from './decoding.ts'

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

  it('outer blanks of a value are no part of it, and blanks alone count as not sent', () => {
    const form = 'descriptor=+a+b+&amount=%C2%A01&card.holder=+&customParameters[note]=+a+'
    assert.deepEqual(accepted(form), {
      ...{ descriptor: 'a b', amount: '1' },
      customParameters: { note: ' a ' },
    })
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

  it('a body above 2 MiB of either kind is refused', () => {
    throwsWith(/2097152 bytes/, { form: Buffer.alloc(2 * 1024 * 1024 + 1, 'a') })
    throwsWith(/2097152 bytes/, { json: Buffer.alloc(2 * 1024 * 1024 + 1, ' ') })
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
