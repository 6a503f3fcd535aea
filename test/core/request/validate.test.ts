import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GatewayError, type ParameterError } from '../../../core/errors.ts'
import { conditionCheck, parseRequest, RequestParser } from '../../../core/request/parse.ts'
import type { Nested } from '../../../core/request/request.ts'
import { fieldClasses, operationOf, operations } from '../../../schemas/index.ts'
import {
  amount,
  C,
  type Condition,
  date,
  dateTime,
  echoed,
  type Format,
  flag,
  group,
  integer,
  match,
  N,
  none,
  O,
  oneOf,
  R,
  url,
} from '../../../schemas/table.ts'
import { searchMandatory, threeDSecureMandatory } from '../../../schemas/tables/index.ts'

const valid = {
  entityId: '8ac7a4c9671f0e2b01672a5d8e3f0b1c',
  amount: '92.00',
  currency: 'EUR',
  paymentBrand: 'VISA',
  paymentType: 'DB',
  'card.number': '4200000000000000',
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
}

const form = (fields: Record<string, string>) => ({
  form: Buffer.from(new URLSearchParams(fields).toString()),
})

/** The minimal request of an embedder. */
const pick = ({ amount, currency, paymentType }: typeof valid) => ({
  amount,
  currency,
  paymentType,
})

function refusal(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error))
    assert.equal(error.status, 400)
    return error
  }
  throw new assert.AssertionError({ message: 'nothing was refused' })
}

/** The errors of a payment that differs from a valid one in these fields. */
const wrong = (fields: Record<string, string>) =>
  refusal(() => parseRequest('payments.create', form({ ...valid, ...fields })))

function only(error: GatewayError): ParameterError {
  assert.equal(error.parameterErrors.length, 1, JSON.stringify(error.parameterErrors))
  return error.parameterErrors[0] as ParameterError
}

const names = (error: GatewayError) => error.parameterErrors.map(({ name }) => name).sort()

describe('a payment', () => {
  it('a valid payment is returned nested and typed', () => {
    const { request } = parseRequest('payments.create', form(valid))
    const number: string | undefined = request.card?.number
    assert.equal(number, '4200000000000000')
    assert.equal(request.amount, '92.00')
  })

  it('all missing and wrong fields are named at once', () => {
    const error = refusal(() =>
      parseRequest('payments.create', form({ currency: 'euro', 'card.cvv': '12', colour: 'red' })),
    )
    assert.equal(error.code, '200.300.404')
    assert.deepEqual(names(error), [
      'amount',
      'card.cvv',
      'card.expiryMonth',
      'card.expiryYear',
      'card.number',
      'colour',
      'currency',
      'paymentType',
    ])
  })

  it('an unreadable field is not reported as missing', () => {
    const error = refusal(() =>
      parseRequest('payments.create', {
        form: Buffer.from('amount=%zz&currency=EUR&paymentType=DB'),
      }),
    )
    assert.match(only(error).message, /percent-encoding/)
  })
})

describe('a refused value', () => {
  it('a refused value of a public field is repeated', () => {
    assert.equal(only(wrong({ amount: '1e3' })).value, '1e3')
  })

  it('a refused value of a personal or account field is never repeated', () => {
    for (const [name, value] of [
      ['card.number', '4200-0000-0000-0000'],
      ['card.cvv', '1a3'],
      ['card.holder', 'Ω'],
      ['customer.email', 'Ωa@b'],
      ['bankAccount.iban', 'DE999'],
    ] as const) {
      const found = wrong({ [name]: value }).parameterErrors.find((one) => one.name === name)
      assert.ok(found, name)
      assert.notEqual(fieldClasses[name], 'none')
      assert.deepEqual(Object.keys(found), ['name', 'message'])
      assert.ok(!JSON.stringify(found).includes(value))
    }
  })

  it('a card number in a harmless field is masked in the refusal', () => {
    const { value } = only(wrong({ amount: '4200 0000 0000 0000' }))
    assert.equal(value, '***')
  })

  it('a long refused value is cut', () => {
    assert.equal(only(wrong({ sequence: 'x'.repeat(300) })).value?.length, 128)
  })

  it('an overlong value is refused before any pattern reads it', () => {
    assert.match(
      only(wrong({ descriptor: 'x'.repeat(1_000_000) })).message,
      /up to 127 characters$/,
    )
  })
})

describe('amounts', () => {
  for (const value of [
    '1e3',
    '-1',
    '0.001',
    '123456789012',
    '1,00',
    ' 1',
    '1.',
    '.5',
    '1.5',
    '0x10',
    'NaN',
    '١',
    '+1',
    '1.00\u200b',
  ]) {
    it(`an amount written ${JSON.stringify(value)} is refused`, () => {
      const { name, message } = only(wrong({ amount: value }))
      assert.equal(name, 'amount')
      assert.match(message, /^must match \^\[0-9\]\{1,10\}\(\?:\\\.\[0-9\]\{2\}\)\?\$ \(/)
    })
  }
  for (const value of ['92', '92.00', '0.01', '9999999999.99', '007']) {
    it(`an amount written ${value} is taken`, () => {
      parseRequest('payments.create', form({ ...valid, amount: value }))
    })
  }
})

describe('codes', () => {
  for (const [name, value, code] of [
    ['currency', 'XXZ', '100.550.401'],
    ['paymentBrand', 'VISSA', '100.100.501'],
    ['paymentType', 'ZZ', '100.500.201'],
    ['billing.country', 'ZZ', '100.800.501'],
    ['merchant.countryCode', '999', '100.800.501'],
    ['threeDSecure.merchant.country', 'ZZZ', '100.800.501'],
    ['overridden', '', ''],
  ].slice(0, -1) as [string, string, string][]) {
    it(`an unknown code is refused with its field's own result code: ${name}`, () => {
      const error = wrong({ [name]: value })
      assert.equal(error.code, code)
      assert.equal(only(error).name, name)
      assert.equal(only(error).value, value)
    })
  }

  it('a wrong code in an account gets the result code of accounts', () => {
    const error = wrong({
      'bankAccount.holder': 'Jane Jones',
      'bankAccount.iban': 'DE23100000001234567890',
      'bankAccount.bic': 'MARKDEF1100',
      'bankAccount.country': 'ZZ',
    })
    assert.equal(error.code, '100.200.100')
  })

  it('a malformed code is a format error', () => {
    for (const name of ['currency', 'paymentBrand', 'paymentType']) {
      assert.equal(wrong({ [name]: '?' }).code, '200.300.404')
    }
  })

  it('an unknown code beside another error is refused with 200.300.404', () => {
    const error = wrong({ currency: 'XXZ', amount: 'x' })
    assert.equal(error.code, '200.300.404')
    assert.deepEqual(names(error), ['amount', 'currency'])
  })

  it('two unknown codes with different result codes are refused with 200.300.404', () => {
    const error = wrong({ currency: 'XXZ', paymentBrand: 'VISSA' })
    assert.equal(error.code, '200.300.404')
    assert.deepEqual(names(error), ['currency', 'paymentBrand'])
  })

  it('a code is not looked up in a field that also takes other text', () => {
    checking({ kind: 'either', of: [{ kind: 'country' }, N(2)] })('ZZ')
  })

  it('codes in lists are looked up', () => {
    const error = wrong({ 'cart.items[0].currency': 'EUR', 'cart.items[1].currency': 'XXZ' })
    assert.equal(only(error).name, 'cart.items[1].currency')
  })

  it('a field of two kinds of codes takes members of either table', () => {
    const pay = (country: string) =>
      parseRequest(
        'payments.create',
        form({ ...valid, 'cart.items[0].recipient.country': country }),
      )
    pay('DE')
    pay('276')
    assert.equal(refusal(() => pay('ZZ')).code, '100.800.501')
    assert.equal(refusal(() => pay('Germany')).code, '200.300.404')
  })
})

describe('elements of lists', () => {
  it('an element is named with its index', () => {
    assert.equal(
      only(wrong({ 'cart.items[0].name': 'a', 'cart.items[1].price': '1' })).name,
      'cart.items[1].price',
    )
  })

  it('an element of a nested list is named with both indexes', () => {
    const error = wrong({
      'airline.passengers[0].legs[0].taxAmount': '1',
      'airline.passengers[0].legs[1].taxAmount': 'x',
    })
    assert.equal(only(error).name, 'airline.passengers[0].legs[1].taxAmount')
  })
})

describe('names in brackets', () => {
  it('names in brackets contain no control characters, whatever the table allows', () => {
    parseRequest('payments.create', form({ ...valid, 'risk.parameters[a/b c]': 'x' }))
    for (const key of ['a\u0000b', 'a\nb', 'a\u0085b']) {
      const { message } = only(wrong({ [`risk.parameters[${key}]`]: 'x' }))
      assert.equal(message, 'must not hold control characters')
    }
    const values = { ...pick(valid), risk: { parameters: { '\ud800': 'x' } } }
    assert.equal(
      refusal(() => parseRequest('payments.create', { values })).parameterErrors.length,
      1,
    )
  })

  it('names in brackets are returned in brackets', () => {
    assert.equal(
      only(wrong({ 'customParameters[abc]': 'x'.repeat(2049) })).name,
      'customParameters[abc]',
    )
    const scheme = wrong({
      'threeDSecure.schemeData[CB-USECASE]': 'x1',
    })
    assert.equal(only(scheme).name, 'threeDSecure.schemeData[CB-USECASE]')
  })
})

/** A parser for one operation that takes a single field of this format. */
function checking(format: Format) {
  const tables = [group('', 'One', [['field', format, O, echoed, none, 'A field.']], [], 'one')]
  const parser = new RequestParser(() =>
    operationOf(
      {
        operation: 'one',
        method: 'POST',
        path: '/one',
        title: 'One',
        accepts: ['one'],
        answers: [],
        login: 'none',
        right: 'none',
        throttle: 'none',
      },
      tables,
    ),
  )
  return (field: string) => parser.parse('one', { values: { field } })
}

describe('formats', () => {
  const cases: readonly [string, Format, readonly string[], readonly string[], RegExp][] = [
    [
      'text counts characters, not bytes or code units',
      { kind: 'text', min: 2, max: 3 },
      ['ab', '🏔🏔🏔', 'éé'],
      ['a', 'abcd', '🏔', '🏔🏔🏔🏔'],
      /^must have 2 to 3 characters/,
    ],
    [
      'text says how long it is',
      { kind: 'text', min: 1, max: 3 },
      ['abc'],
      ['abcd'],
      /up to 3 characters; it has 4$/,
    ],
    [
      'digits',
      N(3, 4),
      ['123', '0000'],
      ['12', '12345', '12a', '１２３'],
      /^must match \^\[0-9\]\{3,4\}\$ \(3 to 4 digits\)$/,
    ],
    ['letters', { kind: 'letters', min: 2, max: 2 }, ['DE', 'de'], ['D', 'DEU', 'Ä1'], /2 letters/],
    [
      'patterns match whole values',
      match('a|b', 'a'),
      ['a', 'b'],
      ['ab', 'xa', 'b\u2028'],
      /^must match \^\(\?:a\|b\)\$/,
    ],
    ['amounts', amount, ['1', '1.00'], ['1.0', '', '12345678901'].filter(Boolean), /92\.00/],
    [
      'amounts of always two decimals',
      { kind: 'amount', integer: 10, fixed: true },
      ['1.00'],
      ['1'],
      /always two decimals/,
    ],
    [
      'decimals',
      { kind: 'decimal', integer: 2, fraction: 3 },
      ['1', '12.345'],
      ['123', '1.2345', '-1', '.5'],
      /up to 2 digits and up to 3 decimals/,
    ],
    [
      'decimals in a range',
      { kind: 'decimal', integer: 3, fraction: 2, min: 0, max: 100 },
      ['0', '99.99', '100', '100.00'],
      ['100.01', '101', '-0'],
      /0 to 100/,
    ],
    [
      'signed decimals',
      { kind: 'decimal', integer: 5, fraction: 0, signed: true },
      ['-99999', '7'],
      ['+7', '100000'],
      /up to 5 digits/,
    ],
    [
      'integers in a range',
      integer(100, 500),
      ['100', '499', '500'],
      ['99', '501', '1000', '-100', '1e2'],
      /^must be a whole number from 100 to 500$/,
    ],
    [
      'choices',
      oneOf('A', 'B.C', 'D|E'),
      ['A', 'B.C', 'D|E'],
      ['a', 'BxC', 'D'],
      /^must be one of A, B\.C, D\|E$/,
    ],
    [
      'flags, also as form encoders of PHP and Python write them',
      flag,
      ['true', 'false', '1', '0', 'True', 'False'],
      ['TRUE', '2', '01', 'yes', 'on'],
      /^must be true or false$/,
    ],
    [
      'days that exist',
      date,
      ['2024-02-29', '2000-02-29', '2023-12-31'],
      [
        '2023-02-29',
        '1900-02-29',
        '2100-02-29',
        '2023-04-31',
        '2023-13-01',
        '2023-00-10',
        '0000-01-01',
        '23-01-01',
        '2023-1-1',
      ],
      /date that exists, yyyy-MM-dd/,
    ],
    [
      'times that exist',
      dateTime,
      ['2024-02-29 23:59:59'],
      ['2023-02-29 00:00:00', '2024-01-01 24:00:00', '2024-01-01T00:00:00', '2024-01-01 00:60:00'],
      /yyyy-MM-dd HH:mm:ss/,
    ],
    [
      'addresses',
      url(60),
      ['https://shop.example/a?b=c#d', 'HTTP://shop.example', 'http://[::1]:8080/'],
      [
        'shop.example',
        'ftp://shop.example',
        'javascript:alert(1)',
        'https://',
        'https://a b',
        'http://[',
        'http://a:99999',
        `https://shop.example/${'x'.repeat(60)}`,
      ],
      /absolute http or https URL/,
    ],
    [
      'either of two',
      { kind: 'either', of: [{ kind: 'letters', min: 2, max: 2 }, N(3, 3)] },
      ['DE', '276'],
      ['D', '27', 'DE276'],
      /2 letters, or 3 digits/,
    ],
    [
      'lists',
      { kind: 'list', of: oneOf('A', 'B'), max: 3 },
      ['A', 'A,B,A'],
      ['A,', ',A', 'A,,B', 'A,C', 'A,B,A,B', 'A, B'],
      /up to 3 values/,
    ],
  ]
  for (const [what, format, right, wrongs, message] of cases) {
    it(`the check of a format: ${what}`, () => {
      const check = checking(format)
      for (const value of right) check(value)
      for (const value of wrongs) {
        const { name, message: said } = only(refusal(() => check(value)))
        assert.equal(name, 'field')
        assert.match(said, message, value)
      }
    })
  }
})

/** The names that the conditions report for a request with these fields. */
function noted(conditions: readonly Condition[], sent: Record<string, string>): string[] {
  const rows = ['a', 'b', 'c', 'd'].flatMap((name) => [name, `list[n].${name}`, `g.${name}`])
  const tables = [
    group(
      '',
      'All',
      rows.map((name) => [name, { kind: 'text', min: 1, max: 99 }, C, echoed, none, 'x']),
      conditions,
      'all',
    ),
  ]
  const parser = new RequestParser(() =>
    operationOf(
      {
        operation: 'all',
        method: 'POST',
        path: '/all',
        title: 'All',
        accepts: ['all'],
        answers: [],
        login: 'none',
        right: 'none',
        throttle: 'none',
      },
      tables,
    ),
  )
  try {
    parser.parse('all', form(sent))
    return []
  } catch (error) {
    assert.ok(error instanceof GatewayError)
    return [`${error.code}`, ...names(error)]
  }
}

describe('conditions', () => {
  const message = 'rule'
  const refusedFor = (...fields: string[]) => ['200.300.404', ...fields]

  it('requires: each of these fields needs all of those', () => {
    const rule: Condition = { rule: 'requires', when: ['a', 'b'], need: ['c', 'd'], message }
    assert.deepEqual(noted([rule], {}), [])
    assert.deepEqual(noted([rule], { b: '1' }), refusedFor('c', 'd'))
    assert.deepEqual(noted([rule], { a: '1', c: '1' }), refusedFor('d'))
    assert.deepEqual(noted([rule], { a: '1', c: '1', d: '1' }), [])
  })

  it('requires: the rule holds only if, or unless, a field has a value', () => {
    const onlyIf: Condition = {
      rule: 'requires',
      when: ['a'],
      need: ['b'],
      onlyIf: { field: 'c', is: ['x'] },
      message,
    }
    assert.deepEqual(noted([onlyIf], { a: '1' }), [])
    assert.deepEqual(noted([onlyIf], { a: '1', c: 'y' }), [])
    assert.deepEqual(noted([onlyIf], { a: '1', c: 'x' }), refusedFor('b'))
    const unless: Condition = {
      rule: 'requires',
      when: ['a'],
      need: ['b'],
      unless: { field: 'c' },
      message,
    }
    assert.deepEqual(noted([unless], { a: '1' }), refusedFor('b'))
    assert.deepEqual(noted([unless], { a: '1', c: 'anything' }), [])
  })

  it('any: one of these fields is enough, and all are named when none is present', () => {
    const rule: Condition = { rule: 'any', when: ['a'], of: ['b', 'c'], message }
    assert.deepEqual(noted([rule], { a: '1' }), refusedFor('b', 'c'))
    assert.deepEqual(noted([rule], { a: '1', c: '1' }), [])
    assert.deepEqual(noted([rule], { d: '1' }), [])
  })

  it('implies: one value needs another field', () => {
    const rule: Condition = {
      rule: 'implies',
      when: { field: 'a', is: ['x', 'y'] },
      need: ['b'],
      message,
    }
    assert.deepEqual(noted([rule], { a: 'y' }), refusedFor('b'))
    assert.deepEqual(noted([rule], { a: 'z' }), [])
    assert.deepEqual(noted([rule], { a: 'x', b: '1' }), [])
  })

  it('not-together: all of these fields at once are refused, some are taken', () => {
    const rule: Condition = { rule: 'not-together', of: ['a', 'b', 'c'], message }
    assert.deepEqual(noted([rule], { a: '1', b: '1' }), [])
    assert.deepEqual(noted([rule], { a: '1', b: '1', c: '1' }), refusedFor('a', 'b', 'c'))
  })

  it('mandatory: the field is needed whatever else is sent', () => {
    const rule: Condition = {
      rule: 'mandatory',
      need: ['a', 'g.a'],
      unless: { field: 'b' },
      message,
    }
    assert.deepEqual(noted([rule], {}), refusedFor('a', 'g.a'))
    assert.deepEqual(noted([rule], { b: '1' }), [])
    assert.deepEqual(noted([rule], { a: '1', 'g.a': '1' }), [])
  })

  it('at-least-one: a group without any of these fields is refused', () => {
    const rule: Condition = { rule: 'at-least-one', of: ['a', 'b'], message }
    assert.deepEqual(noted([rule], { c: '1' }), refusedFor('a', 'b'))
    assert.deepEqual(noted([rule], { b: '1' }), [])
  })

  it('not-digits-only: the values are checked together', () => {
    const rule: Condition = {
      rule: 'not-digits-only',
      of: ['a', 'b'],
      ignoring: { when: 'c', of: ['b'] },
      message,
    }
    assert.deepEqual(noted([rule], { a: '12' }), refusedFor('a'))
    assert.deepEqual(noted([rule], { a: '12', b: '3 4' }), refusedFor('a', 'b'))
    assert.deepEqual(noted([rule], { a: '12', b: 'Main Street' }), [])
    assert.deepEqual(noted([rule], { a: '12', b: 'Main Street', c: '7' }), refusedFor('a'))
    assert.deepEqual(noted([rule], { c: '7' }), [])
  })

  it('a condition inside a list holds for every element by itself', () => {
    const rule: Condition = { rule: 'requires', when: ['list[n].a'], need: ['list[n].b'], message }
    assert.deepEqual(
      noted([rule], { 'list[0].a': '1', 'list[0].b': '1', 'list[1].a': '1', 'list[2].b': '1' }),
      refusedFor('list[1].b'),
    )
  })

  it('a condition has the result code that its table gives', () => {
    const rule: Condition = {
      rule: 'requires',
      when: ['a'],
      need: ['b'],
      message,
      code: '100.250.106',
    }
    assert.deepEqual(noted([rule], { a: '1' }), ['100.250.106', 'b'])
  })

  it('a condition never asks for a field that the operation does not take', () => {
    const rule: Condition = { rule: 'requires', when: ['a'], need: ['elsewhere'], message }
    assert.deepEqual(noted([rule], { a: '1' }), [])
  })

  it('customer data needs a name, technical data does not', () => {
    assert.deepEqual(names(wrong({ 'customer.email': 'jane@shop.example' })), [
      'customer.givenName',
      'customer.surname',
    ])
    parseRequest(
      'payments.create',
      form({ ...valid, 'customer.ip': '192.0.2.1', 'customer.browser.userAgent': 'x' }),
    )
  })

  it('an account needs number or iban, and bankCode or bic', () => {
    assert.deepEqual(names(wrong({ 'bankAccount.holder': 'Jane Jones' })), [
      'bankAccount.bankCode',
      'bankAccount.bic',
      'bankAccount.iban',
      'bankAccount.number',
    ])
  })

  it('a condition for one situation is checked in that situation', () => {
    const authenticate = conditionCheck('payments.create', threeDSecureMandatory)
    const { request } = parseRequest('payments.create' as string, form(valid))
    assert.deepEqual(names(refusal(() => authenticate(request))).slice(0, 4), [
      'billing.city',
      'billing.country',
      'billing.postcode',
      'billing.street1',
    ])
    assert.ok(searchMandatory.length > 0)
  })
})

describe('required fields of a group', () => {
  const tables = [
    group('', 'Top', [['top', amount, R, echoed, none, 'x']], [], 'top'),
    group('g', 'Group', [
      ['r', amount, R, echoed, none, 'x'],
      ['o', amount, O, echoed, none, 'x'],
      ['inner.r', amount, R, echoed, none, 'x'],
      ['inner.o', amount, O, echoed, none, 'x'],
    ]),
  ]
  const parser = (required: readonly string[]) =>
    new RequestParser(() =>
      operationOf(
        {
          operation: 'o',
          method: 'POST',
          path: '/o',
          title: 'o',
          accepts: ['top', 'g'],
          required,
          answers: [],
          login: 'none',
          right: 'none',
          throttle: 'none',
        },
        tables,
      ),
    )
  const missing = (required: readonly string[], sent: Record<string, string>) =>
    names(refusal(() => parser(required).parse('o', form(sent))))

  it('a required field is required once its group is present, at the top only by the endpoint', () => {
    assert.deepEqual(parser([]).parse('o', form({})).names, [])
    assert.deepEqual(missing([], { 'g.o': '1' }), ['g.r'])
    assert.deepEqual(missing([], { 'g.r': '1', 'g.inner.o': '1' }), ['g.inner.r'])
    assert.deepEqual(missing(['top'], {}), ['top'])
  })

  it('a field required by the endpoint brings its group with it', () => {
    assert.deepEqual(missing(['g.inner.r'], {}), ['g.inner.r'])
    assert.deepEqual(missing(['g.inner.r'], { 'g.r': '1' }), ['g.inner.r'])
  })
})

describe('every operation', () => {
  for (const [name, operation] of operations()) {
    it(`${name} refuses the fields of other operations`, () => {
      const error = refusal(() => parseRequest(name as string, { query: 'no.such.field=1' }))
      assert.ok(error.parameterErrors.some((one) => one.name === 'no.such.field'))
      for (const refused of operation.endpoint.refused ?? []) {
        const sent = refused.replace('[name]', '[VISA]')
        const { parameterErrors } = refusal(() =>
          parseRequest(name as string, { query: `${sent}=x` }),
        )
        const found = parameterErrors.find((one) => one.name === sent)
        assert.match(found?.message ?? '', /^is not an allowed parameter/, sent)
      }
    })
  }
})

it('a loosely typed request is accepted by the types', () => {
  const { request } = parseRequest('payments.create' as string, form(valid))
  const loose: Nested = request
  assert.equal(loose.amount, '92.00')
})
