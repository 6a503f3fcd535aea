/**
 * Clients of this API family are deployed in many languages and rely on its habits. Each story is
 * one habit: the request on the wire, and the client's reading of the answer.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Answer, ask, debit, type Hosted, startHost } from '../host/http/hosted.ts'
import { closeChecked } from '../rig/books.ts'

type Form = Readonly<Record<string, string>>

/** The ways in which clients read a payment's state from an answer. */
const approvedBy: readonly ((answer: Answer) => boolean)[] = [
  ({ body }) => /^(000\.000\.|000\.100\.1|000\.[36])/.test(body.result.code),
  ({ body }) => /^(000.000.|000.100.1|000.[36]|000.400.1[12]0)/.test(body.result.code),
  ({ body }) =>
    /^(000\.000\.|000\.100\.1|000\.[36]|000\.400\.[1][12]0|000\.400\.0[^3]|000\.400\.100)/.test(
      body.result.code,
    ),
  ({ status, body }) => {
    const [first, second = ''] = body.result.code.split('.')
    return status < 400 && first === '000' && second < '200' && body.redirect === undefined
  },
  ({ status, body }) => status === 200 && body.result.code === '000.100.110',
  ({ body }) => body.result.description.includes('Request successfully processed'),
]
const pendingBy: readonly ((answer: Answer) => boolean)[] = [
  ({ body }) => /^(000\.200)/.test(body.result.code),
  ({ status, body }) => status < 400 && body.result.code.slice(0, 7) === '000.200',
]

type Verdict = 'approved' | 'pending' | 'refused'

/** The state of a payment as every client reads it. They must agree. */
function verdictOf(answer: Answer): Verdict {
  const opinions = (rules: typeof approvedBy) => [...new Set(rules.map((rule) => rule(answer)))]
  const [approved, pending] = [opinions(approvedBy), opinions(pendingBy)]
  const told = `${answer.status} ${JSON.stringify(answer.body.result)}`
  assert.equal(approved.length, 1, `clients disagree whether this is approved: ${told}`)
  assert.equal(pending.length, 1, `clients disagree whether this is pending: ${told}`)
  assert.ok(!(approved[0] && pending[0]), `approved and pending at once: ${told}`)
  if (approved[0]) return 'approved'
  return pending[0] ? 'pending' : 'refused'
}

/** The texts that a client with declared types expects in every answer: a missing one breaks it. */
function assertWhole({ body }: Answer): void {
  for (const name of ['id', 'ndc', 'buildNumber', 'timestamp']) {
    assert.equal(typeof body[name], 'string', `${name} is missing`)
  }
  assert.match(body.result.code, /^[0-9]{3}\.[0-9]{3}\.[0-9]{3}$/)
  assert.equal(typeof body.result.description, 'string')
  for (const error of body.result.parameterErrors ?? []) {
    assert.deepEqual([typeof error.name, typeof error.message], ['string', 'string'])
    if ('value' in error) assert.equal(typeof error.value, 'string')
  }
}

/** As most form encoders write it. */
const encoded = (fields: Form) => new URLSearchParams(fields).toString()
/** As clients that concatenate strings write it: nothing is escaped. */
const joined = (fields: Form) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
/** As clients that escape only values write it: brackets in names stay. */
const halfEscaped = (fields: Form) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%20', '+')}`)
    .join('&')

const formType = { 'Content-Type': 'application/x-www-form-urlencoded' }
const eur = (amount: string) => ({ amount, currency: 'EUR' })
const textOf = (part: unknown, name: string) => (part as Record<string, unknown>)[name]

describe('deployed clients with another base URL', () => {
  let run: Hosted
  before(async () => {
    run = await startHost()
  })
  after(() => closeChecked(run))

  /** Sends a body unchanged and lets every client read the answer. */
  async function send(path: string, body: string, headers: Form = formType): Promise<Answer> {
    const answer = await ask(run.url, path, { token: run.token, body, headers })
    assertWhole(answer)
    return answer
  }
  const read = async (path: string, headers: Form = {}) => {
    const answer = await ask(run.url, path, { token: run.token, headers })
    assertWhole(answer)
    return answer
  }
  const pay = (more: Form = {}) =>
    send('/v1/payments', encoded({ entityId: run.channel, ...debit, ...more }))
  const followUp = ({ body }: Answer, paymentType: string, more: Form = {}) =>
    send(`/v1/payments/${body.id}`, encoded({ entityId: run.channel, paymentType, ...more }))
  const namesOf = ({ body }: Answer) => body.result.parameterErrors?.map(({ name }) => name)

  describe('first payments', () => {
    test('a client sends the older login beside the Bearer header', async () => {
      const login = {
        'authentication.userId': '4f1d0c6b7a2e4d5c9b8a7f6e5d4c3b2a',
        'authentication.password': 'a+b&c=d%',
        'authentication.entityId': run.channel,
      }
      const paid = await send('/v1/payments', encoded({ ...login, ...debit, paymentType: 'PA' }))
      assert.equal(verdictOf(paid), 'approved')
      const again = await read(`/v1/payments/${paid.body.id}?${encoded(login)}`)
      assert.equal(verdictOf(again), 'approved')
      assert.equal(again.body.id, paid.body.id)
      const path = `/v1/payments/${paid.body.id}`
      const captured = await send(path, encoded({ ...login, ...eur('10.00'), paymentType: 'CP' }))
      assert.equal(verdictOf(captured), 'approved')
      const refund = encoded({ ...login, ...eur('10.00'), paymentType: 'RF' })
      const refunded = await send(`/v1/payments/${captured.body.id}`, refund)
      assert.equal(verdictOf(refunded), 'approved')
      const reversed = await send(path, encoded({ ...login, paymentType: 'RV' }))
      assert.equal(verdictOf(reversed), 'approved')
    })

    test('a client builds its body by joining texts, with blanks in it', async () => {
      const fields = { entityId: run.channel, ...debit, 'billing.city': 'Bad Tölz #1' }
      const paid = await send('/v1/payments', joined(fields))
      assert.equal(verdictOf(paid), 'approved')
      assert.equal(textOf(paid.body.card, 'holder'), 'Jane Jones')
      assert.equal(textOf(paid.body.billing, 'city'), 'Bad Tölz #1')
    })

    test('a client with the older login alone is told which header is missing', async () => {
      const body = joined({ 'authentication.userId': 'user', 'authentication.password': 'secret' })
      const answer = await ask(run.url, '/v1/payments', { body, headers: formType })
      assertWhole(answer)
      assert.equal(answer.status, 401)
      assert.equal(verdictOf(answer), 'refused')
      assert.match(answer.body.result.description, /Authorization: Bearer/)
    })

    test('a client sends names without values for everything its shop left open', async () => {
      const open = {
        merchantTransactionId: '',
        merchantInvoiceId: '',
        descriptor: '',
        shopperResultUrl: '',
        notificationUrl: '',
        'customer.email': '',
        'customer.birthDate': '',
        'billing.street2': '',
        'billing.state': '',
        'card.cvv': '',
      }
      const paid = await pay(open)
      assert.equal(verdictOf(paid), 'approved')
      assert.equal(paid.body.merchantTransactionId, undefined)
      assert.equal(paid.body.descriptor, paid.body.shortId)
    })

    test('a client sends everything a shop knows, with brackets and old names', async () => {
      const fields = {
        'authentication.entityId': run.channel,
        ...debit,
        descriptor: 'Two books & a pen',
        merchantInvoiceId: 'Order 2041/7',
        merchantTransactionId: 'shop 7, order 2041',
        testMode: 'INTERNAL',
        recurringType: 'INITIAL',
        'billing.street1': '7 High Street',
        'billing.city': 'Leeds',
        'billing.state': 'WYK',
        'billing.postcode': 'LS1 4AP',
        'billing.country': 'GB',
        'shipping.street1': 'Hauptstraße 3.1/2, Hof',
        'shipping.city': 'Bad Tölz',
        'shipping.postcode': '81675',
        'shipping.country': 'DE',
        'shipping.givenName': 'Jakob',
        'shipping.surname': 'von Berg',
        'customer.merchantCustomerId': 'customer 7',
        'customer.givenName': 'Jane',
        'customer.surname': 'Jones',
        'customer.birthDate': '1980-02-29',
        'customer.phone': '(0?) 555/2368-1!',
        'customer.mobile': '+966 50 555 0100',
        'customer.email': 'jane@example.com',
        'customer.identificationDocType': 'PASSPORT',
        'customer.identificationDocId': 'C01X00T47',
        'customer.ip': '192.0.2.17',
        'threeDSecure.eci': '05',
        'threeDSecure.verificationId': 'AAABBWcSNIdjeUZThmNHAAAAAAA=',
        'threeDSecure.xid': 'MDAwMDAwMDAwMDAwMDAwMDAwMDA=',
        'risk.parameters[USER_DATA2]': 'Demo shop',
        'cart.items[0].name': 'Book',
        'cart.items[0].price': '92.00',
        'cart.items[0].quantity': '1',
        'customParameters[SHOPPER_pluginId]': 'shop & plugin',
        'customParameters[1000000001_PD100002]': '00810030070100000000001',
      }
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded;charset=UTF-8' }
      const paid = await send('/v1/payments', halfEscaped(fields), headers)
      assert.equal(verdictOf(paid), 'approved')
      const { body } = paid
      assert.equal(body.merchantTransactionId, fields.merchantTransactionId)
      assert.equal(body.descriptor, fields.descriptor)
      assert.equal(textOf(body.customParameters, 'SHOPPER_pluginId'), 'shop & plugin')
      assert.equal(textOf(body.customer, 'email'), 'jane@example.com')
      assert.equal(textOf(body.threeDSecure, 'eci'), '05')
    })

    test('a client shows the card of the answer and stores brand and amount', async () => {
      const { body } = await pay()
      assert.match(body.id, /^[a-zA-Z0-9]{32}$/)
      assert.deepEqual(body.card, {
        bin: '420000',
        last4Digits: '0000',
        holder: 'Jane Jones',
        expiryMonth: '05',
        expiryYear: '2034',
      })
      assert.equal(body.paymentBrand, 'VISA')
      assert.equal(body.paymentType, 'DB')
      assert.deepEqual([body.amount, body.currency], ['92.00', 'EUR'])
      assert.match(body.timestamp, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+0000$/)
    })

    const brands = [
      { sent: 'AMERICAN_EXPRESS', number: '378282246310005', cvv: '1234', stored: 'AMEX' },
      { sent: 'DINERS_CLUB', number: '36227206271667', cvv: '123', stored: 'DINERS' },
      { sent: 'MASTER', number: '5454545454545454', cvv: '123', stored: 'MASTER' },
      { sent: 'MADA', number: '4200000000000000', cvv: '123', stored: 'MADA' },
      { sent: 'VISAELECTRON', number: '4917300800000000', cvv: '123', stored: 'VISAELECTRON' },
      { sent: 'MAESTRO', number: '6799851000000032', cvv: '123', stored: 'MAESTRO' },
      { sent: '', number: '6011111111111117', cvv: '123', stored: 'DISCOVER' },
    ]
    for (const { sent, number, cvv, stored } of brands) {
      test(`a client names the brand ${sent || 'not at all'}`, async () => {
        const paid = await pay({ paymentBrand: sent, 'card.number': number, 'card.cvv': cvv })
        assert.equal(verdictOf(paid), 'approved')
        assert.equal(paid.body.paymentBrand, stored)
      })
    }

    test('a client sends whole amounts, also of a currency without decimals', async () => {
      const euro = await pay({ amount: '92' })
      assert.equal(verdictOf(euro), 'approved')
      assert.equal(euro.body.amount, '92.00')
      assert.equal(verdictOf(await pay({ amount: '500', currency: 'JPY' })), 'approved')
    })

    test('a client debits a bank account by IBAN and BIC', async () => {
      const paid = await send(
        '/v1/payments',
        encoded({
          'authentication.entityId': run.channel,
          ...eur('50.00'),
          paymentBrand: 'DIRECTDEBIT_SEPA',
          paymentType: 'DB',
          'bankAccount.bic': 'COBADEFFXXX',
          'bankAccount.iban': 'DE89370400440532013000',
          'bankAccount.country': 'DE',
          'bankAccount.holder': 'Jane Jones',
          shopperResultUrl: 'https://shop.example/result',
        }),
      )
      assert.equal(verdictOf(paid), 'approved')
      assert.doesNotMatch(JSON.stringify(paid.body), /DE89370400440532013000/)
    })
  })

  describe('follow-ups', () => {
    test('a client captures in parts, refunds a capture and releases the rest', async () => {
      const authorised = await pay({ paymentType: 'PA' })
      const captured = await followUp(authorised, 'CP', eur('30.00'))
      const refunded = await followUp(captured, 'RF', eur('12.50'))
      const released = await followUp(authorised, 'RV')
      const answers = { CP: captured, RF: refunded, RV: released }
      for (const [type, answer] of Object.entries(answers)) {
        assert.equal(verdictOf(answer), 'approved', type)
        const { body } = answer
        assert.equal(body.paymentType, type)
        assert.equal(body.referencedId, type === 'RF' ? captured.body.id : authorised.body.id)
        assert.notEqual(body.id, body.referencedId)
        assert.equal(body.currency, 'EUR')
      }
      const amounts = Object.values(answers).map(({ body }) => body.amount)
      assert.deepEqual(amounts, ['30.00', '12.50', '62.00'])
    })

    test('a client sends an amount without value and a new reference with a reversal', async () => {
      const references = {
        merchantInvoiceId: 'Order 2041/7',
        merchantTransactionId: 'c0ffee'.repeat(5),
      }
      const paid = await pay(references)
      const voided = await followUp(paid, 'RV', { amount: '', descriptor: '', ...references })
      assert.equal(verdictOf(voided), 'approved')
      assert.equal(voided.body.amount, '92.00')
    })

    test('a client sends the referenced id as its own reference, and a whole amount', async () => {
      const authorised = await pay({ paymentType: 'PA', currency: 'SAR' })
      const merchantTransactionId = authorised.body.id
      const more = { amount: '12', currency: 'SAR', merchantTransactionId }
      const captured = await followUp(authorised, 'CP', more)
      assert.equal(verdictOf(captured), 'approved')
      assert.equal(captured.body.amount, '12.00')
    })

    test('a client repeats the test mode and its addresses', async () => {
      const paid = await pay({ testMode: 'INTERNAL' })
      const addresses = {
        shopperResultUrl: 'https://shop.example/result',
        notificationUrl: 'https://shop.example/notify',
      }
      const refunded = await followUp(paid, 'RF', {
        ...eur('1'),
        testMode: 'INTERNAL',
        ...addresses,
      })
      assert.equal(verdictOf(refunded), 'approved')
    })

    test('a client authorises and captures in one request, and refunds the result', async () => {
      const paid = await pay({ paymentType: 'PA.CP' })
      assert.equal(verdictOf(paid), 'approved')
      assert.equal(verdictOf(await followUp(paid, 'RF', eur('92.00'))), 'approved')
    })

    test('a client verifies a card by an authorisation of 1.00 and its reversal', async () => {
      const authorised = await pay({ paymentType: 'PA', amount: '1.00' })
      assert.equal(verdictOf(await followUp(authorised, 'RV', { amount: '' })), 'approved')
    })

    const tooMuch = [
      { first: 'PA', type: 'CP', code: '700.400.100' },
      { first: 'DB', type: 'RF', code: '700.400.200' },
      { first: 'PA', type: 'RV', code: '700.400.300' },
    ]
    for (const { first, type, code } of tooMuch) {
      test(`a client whose ${type} exceeds the sums reads a refusal, not a success`, async () => {
        const refused = await followUp(await pay({ paymentType: first }), type, eur('92.01'))
        assert.equal(refused.status, 400)
        assert.equal(verdictOf(refused), 'refused')
        assert.equal(refused.body.result.code, code)
      })
    }

    for (const [type, text, code] of [
      ['CP', 'capture needs at least one successful transaction', '700.400.510'],
      ['RF', '', '700.400.520'],
      ['RV', 'reversal needs at least one successful transaction', '700.400.530'],
    ] as const) {
      test(`a client whose ${type} refers to an unknown id reads a refusal`, async () => {
        const body = encoded({ entityId: run.channel, paymentType: type, ...eur('1.00') })
        const refused = await send(`/v1/payments/${'8a'.repeat(16)}`, body)
        assert.equal(refused.status, 404)
        assert.equal(refused.body.result.code, code)
        assert.ok(refused.body.result.description.includes(text))
      })
    }

    test('a client with declared types reads a capture, a refund and a reversal', async () => {
      const authorised = await pay({ paymentType: 'PA' })
      const captured = await followUp(authorised, 'CP', eur('30.00'))
      for (const { body } of [
        captured,
        await followUp(captured, 'RF', eur('1.00')),
        await followUp(authorised, 'RV'),
      ]) {
        assert.equal(typeof body.descriptor, 'string')
        const details = body.resultDetails
        if (details !== undefined)
          assert.equal(typeof textOf(details, 'ExtendedDescription'), 'string')
      }
    })

    test('a client repeats the brand with a capture', async () => {
      const authorised = await pay({ paymentType: 'PA' })
      const captured = await followUp(authorised, 'CP', { ...eur('10.00'), paymentBrand: 'VISA' })
      assert.equal(verdictOf(captured), 'approved')
    })

    test('a client repeats shopper and address with a refund', async () => {
      const more = {
        'customer.givenName': 'Jane',
        'customer.surname': 'Jones',
        'customer.email': 'jane@example.com',
        'billing.street1': 'Weg 1',
        'billing.city': 'Berlin',
        'billing.postcode': '10115',
        'billing.country': 'DE',
      }
      assert.equal(
        verdictOf(await followUp(await pay(), 'RF', { ...eur('10.00'), ...more })),
        'approved',
      )
    })

    test('a client that reports an unenrolled card pays without authentication', async () => {
      assert.equal(verdictOf(await pay({ 'customParameters[3DS2_enrolled]': 'false' })), 'approved')
    })

    test("a client sends a state of two words in the shopper's address", async () => {
      assert.equal(verdictOf(await pay({ 'billing.state': 'New York' })), 'approved')
    })
  })

  describe('reads', () => {
    let paid: Answer
    before(async () => {
      paid = await pay({ paymentType: 'PA', merchantTransactionId: 'order-2041-7' })
    })

    const both = () => `?entityId=${run.channel}&authentication.entityId=${run.channel}`
    const queries = [
      { habit: 'sends its entity', query: () => `?entityId=${run.channel}` },
      { habit: 'sends nothing', query: () => '' },
      { habit: 'ends the query with an ampersand', query: () => `?entityId=${run.channel}&` },
      { habit: 'asks twice alike in both spellings', query: both },
    ]
    for (const { habit, query } of queries) {
      test(`a client that ${habit} with a read is served`, async () => {
        const again = await read(`/v1/payments/${paid.body.id}${query()}`)
        assert.equal(verdictOf(again), 'approved')
        const { ndc: _1, ...written } = paid.body
        const { ndc: _2, ...found } = again.body
        assert.deepEqual(found, written)
      })
    }

    for (const type of ['application/x-www-form-urlencoded', 'application/json']) {
      test(`a client sends the media type ${type} with a read, without a body`, async () => {
        const path = `/v1/payments/${paid.body.id}?entityId=${run.channel}`
        const again = await read(path, { 'Content-Type': type, Accept: 'application/json' })
        assert.equal(verdictOf(again), 'approved')
      })
    }

    test("a client's base URL ends with a slash", async () => {
      const body = encoded({ entityId: run.channel, ...debit })
      const debited = await send('//v1/payments', body)
      assert.equal(verdictOf(debited), 'approved')
      const again = await read(`/v1//payments/${debited.body.id}?entityId=${run.channel}`)
      assert.equal(again.body.id, debited.body.id)
    })

    test('a client takes the first chunk of an answer for the whole', async () => {
      const path = `/v1/payments/${paid.body.id}`
      const { headers, body } = await read(path)
      assert.equal(headers.get('content-length'), String(Buffer.byteLength(JSON.stringify(body))))
      assert.match(headers.get('content-type') ?? '', /^application\/json/)
    })

    test('a client keeps a pending payment open by polling', async () => {
      const pending = await pay({ 'card.number': '4000000000000077' })
      assert.equal(verdictOf(pending), 'pending')
      assert.equal(verdictOf(await read(`/v1/payments/${pending.body.id}`)), 'pending')
    })

    test('a client that asks for an unknown id reads 404', async () => {
      const missing = await read(`/v1/payments/${'8a'.repeat(16)}?entityId=${run.channel}`)
      assert.equal(missing.status, 404)
      assert.equal(verdictOf(missing), 'refused')
      assert.equal(missing.body.result.code, '700.400.580')
    })
  })

  describe('refusals', () => {
    test('a client shows a decline and reads it again', async () => {
      const declined = await pay({ paymentType: 'PA', 'card.number': '4000000000000002' })
      assert.equal(declined.status, 400)
      assert.equal(verdictOf(declined), 'refused')
      const again = await read(`/v1/payments/${declined.body.id}`)
      assert.equal(again.status, 200)
      assert.equal(verdictOf(again), 'refused')
      const captured = await followUp(declined, 'CP', eur('1.00'))
      assert.match(
        captured.body.result.description,
        /capture needs at least one successful transaction/,
      )
      const reversed = await followUp(declined, 'RV')
      assert.match(
        reversed.body.result.description,
        /reversal needs at least one successful transaction/,
      )
    })

    test('a client recognises a mistyped card number by its text', async () => {
      const refused = await pay({ 'card.number': '4200000000000001' })
      assert.equal(refused.status, 400)
      assert.match(refused.body.result.description, /invalid creditcard/)
      assert.equal(refused.body.result.code, '100.100.101')
    })

    test('a client reads the names of wrong fields', async () => {
      const refused = await pay({ amount: '92.5', 'card.expiryMonth': '5', entityID: run.channel })
      assert.equal(refused.body.result.code, '200.300.404')
      assert.match(refused.body.result.description, /invalid or missing parameter/)
      assert.deepEqual(namesOf(refused)?.sort(), ['amount', 'card.expiryMonth', 'entityID'])
    })

    test('a client has a revoked token, or one of another merchant', async () => {
      const body = encoded({ ...debit, entityId: run.channel })
      const gone = await ask(run.url, '/v1/payments', { token: 'gone', body, headers: formType })
      const other = await pay({ entityId: 'f'.repeat(32) })
      for (const answer of [gone, other]) {
        assert.equal(answer.status, 403)
        assert.equal(answer.body.result.code, '800.900.300')
        assert.equal(verdictOf(answer), 'refused')
      }
    })

    test('a client sends JSON: texts are taken, numbers are refused by name', async () => {
      const card = { number: '4200000000000000', expiryMonth: '05', expiryYear: '2034', cvv: '123' }
      const fields = { ...eur('92.00'), paymentType: 'DB', paymentBrand: 'VISA', card }
      const headers = { 'Content-Type': 'application/json; charset=utf-8' }
      const asJson = (value: object) => send('/v1/payments', JSON.stringify(value), headers)
      assert.equal(verdictOf(await asJson(fields)), 'approved')
      const refused = await asJson({ ...fields, amount: 92 })
      assert.deepEqual(namesOf(refused), ['amount'])
    })

    test('a client finds every answered code in the result codes it loads', async () => {
      const answer = await ask(run.url, '/v1/resultcodes')
      const listed = answer.body.resultCodes as { code: string }[]
      const known = new Set(listed.map(({ code }) => code))
      const answers = [await pay(), await pay({ amount: 'x' }), await read('/v1/payments/none')]
      for (const { body } of answers) {
        assert.ok(known.has(body.result.code), `${body.result.code} is not in the list`)
      }
    })
  })
})
