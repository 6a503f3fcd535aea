/** The check of whole requests: which errors they get, and how these name and repeat the fields. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseRequest } from '../../../core/request/parse.ts'
import type { Nested } from '../../../core/request/request.ts'
import { fieldClasses, operations } from '../../../schemas/index.ts'
import { N } from '../../../schemas/table.ts'
import { checking, form, names, only, refusal, valid, wrong } from './refusals.ts'

/** The minimal request of an embedder. */
const pick = ({ amount, currency, paymentType }: typeof valid) => ({
  amount,
  currency,
  paymentType,
})

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
  it('a card number with blanks or hyphens is told so in words, before the pattern', () => {
    for (const number of ['4200 0000 0000 0000', '4200-0000-0000-0000']) {
      assert.equal(
        only(wrong({ 'card.number': number })).message,
        'must have digits only, without blanks and hyphens: must match ^[0-9]{8,32}$ (8 to 32 digits)',
      )
    }
    assert.match(only(wrong({ 'card.number': '4200' })).message, /^must match/)
  })

  it('the last of its kind is FINAL in capital letters, and nothing that looks like it', () => {
    for (const sequence of ['final', 'Final']) {
      const { name, value, message } = only(wrong({ sequence }))
      assert.deepEqual([name, value], ['sequence', undefined])
      assert.match(message, /must be FINAL, in capital letters/)
    }
    for (const sequence of ['FINAL', 'FIRST']) {
      parseRequest('payments.create', form({ ...valid, sequence }))
    }
  })

  it('an amount of a foreign currency needs its currency', () => {
    assert.deepEqual(names(wrong({ 'forex.amount': '10.50' })), ['forex.currency'])
    parseRequest(
      'payments.create',
      form({ ...valid, 'forex.amount': '10.50', 'forex.currency': 'USD' }),
    )
  })

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
        const expected =
          /^is not (?:an allowed parameter|taken here; it belongs to (?:the path of )?(?:GET|POST|DELETE) \/[a-z])/
        assert.match(found?.message ?? '', expected, sent)
      }
    })
  }
})

it('a loosely typed request is accepted by the types', () => {
  const { request } = parseRequest('payments.create' as string, form(valid))
  const loose: Nested = request
  assert.equal(loose.amount, '92.00')
})
