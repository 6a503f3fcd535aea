/**
 * Card numbers and authentication data outside their own fields: refused by name, and not repeated.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { GatewayError } from '../../../core/errors.ts'
import { passesLuhn } from '../../../core/redaction/card-number.ts'
import { cardNumbersIn } from '../../../core/redaction/card-numbers.ts'
import { holdsCardNumber } from '../../../core/request/card-data.ts'
import { namesCardData } from '../../../core/request/card-data-names.ts'
import { decode } from '../../../core/request/decode.ts'
import { refuseOwnNumber } from '../../../core/request/own-number.ts'
import { ParameterErrors } from '../../../core/request/parameter-errors.ts'
import { parseRequest } from '../../../core/request/parse.ts'
import { planOf } from '../../../core/request/plan.ts'
import { operationNamed } from '../../../schemas/index.ts'
import { inScope } from '../../rig/scope.ts'

const own = '4200000000000000'
const foreign = '5454545454545454'
const digitsFrom = (zero: number, number = foreign) =>
  [...number].map((digit) => String.fromCodePoint(zero + Number(digit))).join('')
const spaced = (mark: string, every = 4, number = foreign) =>
  number.match(new RegExp(`.{1,${every}}`, 'g'))!.join(mark)

const spellings: Readonly<Record<string, string>> = {
  plain: foreign,
  'in a sentence': `paid with ${foreign}, thanks`,
  'between letters': `x${foreign}y`,
  'with an expiry': `${foreign} 12/28`,
  'as track 2': `${foreign}=28121011000012300000`,
  'as track 1': `%B${foreign}^JONES/JANE^2812101`,
  ...Object.fromEntries(
    [
      ' ',
      '-',
      '_',
      '/',
      '.',
      ',',
      ':',
      '*',
      '|',
      '+',
      ' - ',
      '--',
      '....',
      '\u2010',
      '\u2014',
      '\u2212',
    ].map((mark) => [`with ${JSON.stringify(mark)}`, spaced(mark)]),
  ),
  ...Object.fromEntries(
    ['\u00a0', '\u2003', '\u3000', '\u200b', '\u200d', '\u2060', '\u00ad', '\ufeff'].map((mark) => [
      `with U+${mark.codePointAt(0)!.toString(16)}`,
      spaced(mark),
    ]),
  ),
  'with nine blanks': spaced(' '.repeat(9)),
  'with 32 marks': spaced('.'.repeat(32)),
  'like an IPv6 address': `${spaced(':')}::`,
  'with %20': spaced('%20'),
  'with %2D': spaced('%2D'),
  'with %2520': spaced('%2520'),
  'with &#160;': spaced('&#160;'),
  'with &nbsp;': spaced('&nbsp;'),
  'with the escapes of JSON': `{"n":"${spaced('\\u0020')}"}`,
  'in percent signs': [...foreign].map((digit) => `%3${digit}`).join(''),
  'in percent signs twice': [...foreign].map((digit) => `%253${digit}`).join(''),
  'in entities': [...foreign].map((digit) => `&#x3${digit};`).join(''),
  'full-width, in percent signs': encodeURIComponent(digitsFrom(0xff10)),
  'each digit apart': spaced('_', 1),
  'in pairs': spaced('/', 2),
  'with many marks': '5454_5454/5454.5454',
  'full-width': digitsFrom(0xff10),
  'Arabic-Indic': digitsFrom(0x660),
  Devanagari: digitsFrom(0x966),
  mathematical: digitsFrom(0x1d7ce),
  'mathematical, last stretch': digitsFrom(0x1d7f6),
  'several scripts': `${digitsFrom(0xff10, foreign.slice(0, 8))}${digitsFrom(0x660, foreign.slice(8))}`,
  'in circles': [...foreign]
    .map((digit) => String.fromCodePoint(0x2460 + Number(digit) - 1))
    .join(''),
  raised: [...foreign].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join(''),
  keycaps: [...foreign].map((digit) => `${digit}\ufe0f\u20e3`).join(''),
  'of 13 digits': '4222222222222',
  'of 15 digits': '378282246310005',
  'of 19 digits': '6304000000000000000',
}

const payment = {
  entityId: '8ac7a4c9671f0e2b01672a5d8e3f0b1c',
  amount: '92.00',
  currency: 'EUR',
  paymentBrand: 'VISA',
  paymentType: 'DB',
  'card.number': own,
  'card.holder': 'Jane Jones',
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
}

function refusalOf(fields: Readonly<Record<string, string>>, operation = 'payments.create') {
  try {
    parseRequest(operation, { form: Buffer.from(new URLSearchParams(fields).toString()) })
    return undefined
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error))
    return error
  }
}

describe('a card number outside of its own field', () => {
  for (const [how, text] of Object.entries(spellings)) {
    test(`a card number is refused: ${how}`, () => {
      assert.ok(holdsCardNumber(text), text)
      const refusal = refusalOf({ ...payment, 'customParameters[note]': text })
      assert.equal(refusal?.status, 400)
      assert.equal(refusal.code, '200.300.404')
      assert.deepEqual(refusal.parameterErrors, [
        {
          name: 'customParameters[note]',
          message: 'must not hold a card number: card numbers belong in card.number only',
        },
      ])
    })
  }

  test('a card number is refused in every free field, by its name', () => {
    for (const name of [
      'descriptor',
      'merchantMemo',
      'card.holder',
      'customer.email',
      'billing.street1',
      'shipping.comment',
      'cart.items[0].description',
      'merchant.data[note]',
      'risk.parameters[note]',
      'shopperResultUrl',
    ]) {
      const value = name.endsWith('Url') ? `https://shop.example/?paid=${foreign}` : foreign
      const refusal = refusalOf({ ...payment, [name]: value })
      assert.ok(
        refusal?.parameterErrors.some(
          (error) => error.name === name && /card number/.test(error.message),
        ),
        name,
      )
      assert.ok(!JSON.stringify(refusal).includes(foreign))
    }
  })

  test('a card number is refused in a URL in any spelling, and an IP address in its own field is taken', () => {
    for (const name of ['shopperResultUrl', 'notificationUrl']) {
      for (const paid of [spaced('%20'), spaced('%2D'), spaced('%2520'), spaced('+')]) {
        const refusal = refusalOf({
          ...payment,
          [name]: `https://shop.example/thanks?card=${paid}`,
        })
        assert.deepEqual(
          refusal?.parameterErrors.map((error) => [error.name, /card number/.test(error.message)]),
          [[name, true]],
          paid,
        )
      }
    }
    for (const path of [spaced('%20'), [...foreign].map((digit) => `%3${digit}`).join('')]) {
      const refusal = refusalOf({ url: `https://shop.example/${path}` }, 'webhooks.create')
      assert.deepEqual(
        refusal?.parameterErrors.map((error) => error.name),
        ['url'],
      )
    }
    const address = '4111:1111:1111:1111::'
    assert.equal(refusalOf({ ...payment, 'customer.ip': address }), undefined)
    assert.ok(refusalOf({ ...payment, merchantMemo: address }) !== undefined)
    assert.ok(refusalOf({ ...payment, 'customer.ip': foreign }) !== undefined)
  })

  test('a card number is refused in a name and not repeated', () => {
    for (const key of [foreign, spaced('_'), spaced('.'), `card_${foreign}`]) {
      const refusal = refusalOf({ ...payment, [`customParameters[${key}]`]: 'yes' })
      assert.ok(refusal !== undefined, key)
      const told = JSON.stringify(refusal.parameterErrors).replace(/[^0-9]/g, '')
      assert.ok(!told.includes(foreign.slice(0, 12)), told)
    }
  })

  test('a card number is not repeated from an unknown name or from a value of another kind', () => {
    for (const text of Object.values(spellings)) {
      const digits = (told: unknown) =>
        JSON.stringify(told)
          .normalize('NFKC')
          .replace(/[^0-9]/g, '')
      const unknown = refusalOf({ ...payment, [text.slice(0, 200)]: 'x' })
      assert.ok(!digits(unknown?.parameterErrors).includes(foreign), text)
      const value = refusalOf({ ...payment, currency: text, paymentBrand: text, testMode: text })
      assert.ok(!digits(value?.parameterErrors).includes(foreign), text)
    }
  })

  test('a card number is refused in every operation that stores its request', () => {
    for (const [operation, fields] of Object.entries({
      'payments.followUp': {
        paymentType: 'RF',
        amount: '1.00',
        currency: 'EUR',
        descriptor: foreign,
      },
      'registrations.create': { ...payment, 'customParameters[note]': foreign },
      'registrations.update': { 'customParameters[note]': foreign },
      'registrations.pay': {
        paymentType: 'DB',
        amount: '1.00',
        currency: 'EUR',
        descriptor: foreign,
      },
      'schedules.create': { 'job.name': foreign },
      'schedules.reschedule': { 'job.name': foreign },
      'webhooks.create': { url: `https://shop.example/${foreign}` },
      'webhooks.update': { url: `https://shop.example/${foreign}` },
      'testClocks.create': { name: foreign },
    })) {
      const refusal = refusalOf(fields, operation)
      assert.ok(
        refusal?.parameterErrors.some(({ message }) =>
          message.includes('must not hold a card number'),
        ),
        operation,
      )
    }
  })

  test('a card number is refused in JSON and from an embedder alike', () => {
    const nested = { customParameters: { note: spaced('_') } }
    for (const input of [{ json: Buffer.from(JSON.stringify(nested)) }, { values: nested }]) {
      assert.throws(
        () => parseRequest('payments.create', input),
        (error) =>
          error instanceof GatewayError &&
          error.parameterErrors.some(({ name }) => name === 'customParameters[note]'),
      )
    }
  })

  test('other texts are taken unchanged', () => {
    for (const text of [
      '4111111111111112',
      '0000000000000000',
      '411111111111',
      '41111111111111111111111111',
      'size 36, 38, 40, 42, 44, 46 or 48',
      '2026-11-22 20:34:34.123',
      '2026-11-22T20:34:34.123456Z',
      '1795379674123',
      'Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 Chrome/120.0.6099.210 Mobile Safari/537.36',
      '+49 89 1234567, +49 89 7654321',
      '192.168.100.100',
      '4111:1111:1111:1111::a',
      `${spaced(' '.repeat(33))}`,
      'https://shop.example/caf%C3%A9?back=%2Fcart%2F42%20%26%20more&at=2026-11-22T20%3A34%3A34',
      'Fish & chips, 100 % \\ 4242',
    ]) {
      assert.equal(holdsCardNumber(text), false, text)
    }
  })

  test('ids and digests that resemble a card number by chance are taken', () => {
    let alike = 0
    for (let no = 0; no < inScope(1_500, 20_000); no++) {
      const digest = createHash('sha256').update(String(no)).digest('hex')
      const uuid = digest.replace(
        /^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/,
        (_, ...parts: string[]) => `${parts[0]}-${parts[1]}-4${parts[2]}-a${parts[3]}-${parts[4]}`,
      )
      for (const text of [uuid, digest, digest.slice(0, 32), `sha256:${digest}`]) {
        if (cardNumbersIn(text, 'brand').found.length > 0) alike++
        assert.equal(holdsCardNumber(text), false, text)
      }
    }
    assert.ok(alike > 0, 'some references resemble card numbers')
    const digest = createHash('sha256').update('x').digest('hex')
    assert.ok(holdsCardNumber(`${foreign}:${digest}`), 'other card numbers are left alone')
  })
})

describe('names of authentication data', () => {
  test('a name with a telling segment is refused', () => {
    for (const key of [
      'cvv',
      'CVV2',
      'cvc',
      'cvc2',
      'csc',
      'pin',
      'track',
      'track1',
      'track2',
      'card_cvv',
      'card.cvc',
      'SHOPPER_pin',
      'cardCvv',
      'cvvCode',
      'CVVCode',
      'cardCVV',
      'cardcvv',
      'CARDCVV',
      'mycvc',
      'cvvless',
      'cvv3',
      'cvc3',
      'cvn',
      'cvn2',
      'cvvnumber',
      'securityCode',
      'securitycode',
      'card_security_code',
      'pinblock',
      'PIN-Block',
      'pin1',
      'cardpin',
      'track2data',
      'track1_data',
      'verification_value',
      'c_v_v',
      'C-V-V-2',
    ]) {
      assert.ok(namesCardData(key), key)
      const refusal = refusalOf({ ...payment, [`customParameters[${key}]`]: '123' })
      assert.deepEqual(
        refusal?.parameterErrors.map(({ name, value }) => [name, value]),
        [[`customParameters[${key}]`, undefined]],
      )
    }
    assert.ok(namesCardData('ｃｖｖ'))
    assert.ok(refusalOf({ ...payment, 'risk.parameters[card cvv]': '1' }) !== undefined)
  })

  test('a telling name is refused in the query of a URL and as a key of JSON, also in escapes', () => {
    for (const [name, value] of [
      ['shopperResultUrl', 'https://shop.example/thanks?order=1&cvv=123'],
      ['shopperResultUrl', 'https://shop.example/thanks#card.cvc=123'],
      ['shopperResultUrl', 'https://shop.example/thanks?back=%2Fpaid%3FcardCvv%3D123'],
      ['notificationUrl', 'https://shop.example/told?%63%76%76=123'],
      ['cart.items[0].productUrl', 'https://shop.example/?track2=1'],
      ['customParameters[note]', '{"cvv":"987"}'],
      ['customParameters[note]', ' [{"a":[{"card":{"securityCode":987}}]}]'],
      ['customParameters[note]', '{"\\u0063vv":"987"}'],
      ['customParameters[note]', JSON.stringify({ raw: JSON.stringify({ pin: 1234 }) })],
      ['customParameters[note]', '%7B%22cvv%22%3A%22987%22%7D'],
      ['merchantMemo', '{&quot;cvv&quot;:&quot;987&quot;}'],
    ] as const) {
      const item = name.startsWith('cart') ? { 'cart.items[0].name': 'Tea' } : {}
      const refusal = refusalOf({ ...payment, ...item, [name]: value })
      assert.ok(
        refusal?.parameterErrors.some(
          (error) => error.name === name && /security codes/.test(error.message),
        ),
        value,
      )
      assert.ok(!/987|123/.test(JSON.stringify(refusal?.parameterErrors)))
    }
    for (const value of [
      'https://shop.example/thanks?tracking=1&pincode=560001&cscart_order=4',
      '{"tracking":"cvv","note":["pin"]}',
      '{"cvv"',
      'is it {"cvv"?',
      '['.repeat(2_000),
    ]) {
      assert.equal(refusalOf({ ...payment, 'customParameters[note]': value }), undefined, value)
    }
  })

  test('other names are taken', () => {
    for (const key of [
      'tracking',
      'tracking_number',
      'trackingNumber',
      'pincode',
      'spin',
      'pinned',
      'soundtrack',
      'racetracks',
      'cscart_order',
      'trackback',
      'security',
      'verificationCode',
      'shopping',
      'plancode',
    ]) {
      assert.equal(namesCardData(key), false, key)
      assert.equal(refusalOf({ ...payment, [`customParameters[${key}]`]: '123' }), undefined, key)
    }
  })
})

describe('references', () => {
  const total = inScope(20_000, 1_000_000)
  const plan = planOf(operationNamed('payments.create'))
  let seed = 20_261_122
  /** That many digits, the same in every run. */
  const digits = (count: number) => {
    let text = ''
    while (text.length < count) {
      seed = (seed * 48_271) % 2_147_483_647
      text += seed % 10_000_000
    }
    return text.slice(0, count)
  }
  const ean = () => {
    const first = digits(12)
    let sum = 0
    for (let at = 0; at < 12; at++) sum += Number(first[at]) * (at % 2 === 0 ? 1 : 3)
    return first + ((10 - (sum % 10)) % 10)
  }
  const ticket = () => {
    const first = `0${digits(12)}`
    return first + (Number(first) % 7)
  }
  const kinds: Readonly<Record<string, [field: (no: number) => string, make: () => string]>> = {
    'EAN-13': [(no) => `cart.items[${no}].sku`, ean],
    'airline tickets': [
      (no) => `airline.passengers[${Math.floor(no / 100)}].legs[${no % 100}].ticketNumber`,
      ticket,
    ],
    'ids of 15 digits': [(no) => `cart.items[${no}].merchantItemId`, () => digits(15)],
  }

  for (const [kind, [field, make]] of Object.entries(kinds)) {
    test(`thousands of ${kind} as references are taken`, async () => {
      let alike = 0
      for (let done = 0; done < total; done += 1000) {
        // Lets the reports of other files in this process continue.
        if (done % 50_000 === 0) await setImmediate()
        let form = ''
        for (let no = 0; no < 1000; no++) {
          const value = make()
          if (done < total / 50 && passesLuhn(value)) alike++
          form += `&${field(no)}=${value}`
        }
        const errors = new ParameterErrors()
        const { names } = decode(plan, { form: Buffer.from(form.slice(1)) }, errors)
        assert.ok(errors.isEmpty, JSON.stringify(errors))
        assert.equal(names.length, 1000)
        refuseOwnNumber({ 'card.number': own }, names)
      }
      assert.ok(alike > total / 1000, `${alike} of the first would pass for card numbers`)
    })
  }

  test('the number of the charged account is refused in every reference', () => {
    const numbers = { 'card.number': own, 'bankAccount.iban': 'DE89370400440532013000' }
    for (const value of [
      own,
      `order-${own}-1`,
      spaced('_', 4, own),
      spaced('x', 2, own),
      digitsFrom(0xff10, own),
      `99${own}77`,
      spaced('%20', 4, own),
      [...own].map((digit) => `%3${digit}`).join(''),
      'DE89%203704%200044%200532%200130%2000',
      'DE89 3704 0044 0532 0130 00',
      'de89370400440532013000',
    ]) {
      assert.throws(
        () => refuseOwnNumber(numbers, [['merchantTransactionId', value]]),
        (error) =>
          error instanceof GatewayError &&
          error.parameterErrors[0]?.name === 'merchantTransactionId',
        value,
      )
    }
    assert.throws(() => refuseOwnNumber(numbers, [[`merchant.data[${own}]`, 'x']]))
    refuseOwnNumber(numbers, [
      ['card.number', own],
      ['merchantTransactionId', '4200000000000018'],
    ])
  })
})
