import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import plugin from '@tollgate/connector-simulator/http'
import type { Http, Operation } from '@tollgate/plugin-kit'
import {
  answerAuthentication,
  answerAuthenticationEnquiry,
} from '../../../connectors/simulator/authentication/operations.ts'
import { openBooks } from '../../../connectors/simulator/books.ts'
import { createPlan, type Fault } from '../../../connectors/simulator/faults.ts'
import { openMessenger } from '../../../connectors/simulator/messenger.ts'
import {
  answerEnquiry,
  answerOperation,
  answerReversal,
} from '../../../connectors/simulator/operations.ts'
import { startSimulator } from '../../../connectors/simulator/server.ts'
import {
  account,
  acquirerTime,
  card,
  euros,
  eventReceiver,
  followUp,
  type Merchant,
  merchantAt,
  newKey,
  overHttp,
  payment,
  plainCard,
} from './support.ts'

const enquire = (merchant: Merchant, operation: Operation) =>
  merchant.connector.resolve.enquire!(operation, merchant.context())

/** The outcome of an operation; for a broken connection, whether bytes were written. */
async function ended(merchant: Merchant, operation: Operation) {
  try {
    return (await merchant.run(operation)).is
  } catch (error) {
    const { code, wroteBytes } = error as { code?: string; wroteBytes?: boolean }
    return `${code}, ${wroteBytes ? 'bytes written' : 'no byte written'}`
  }
}

async function control(url: string, body: object, headers: Record<string, string> = {}) {
  const answer = await fetch(`${url}/control`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.secret}`, ...headers },
    body: JSON.stringify(body),
  })
  const json = (await answer.json()) as Record<string, unknown>
  return { status: answer.status, json }
}

it('the HTTP simulator is a plugin of its own, so that no gateway reaches it by accident', () => {
  assert.deepEqual(
    plugin.connectors?.map(({ name }) => name),
    ['simulator-http'],
  )
})

describe('an answer that goes wrong after the money moved', () => {
  const faults: [Fault, string][] = [
    [{ do: 'drop' }, 'reset, bytes written'],
    [{ do: 'reset' }, 'reset, bytes written'],
    [{ do: 'truncate' }, 'reset, bytes written'],
    [{ do: '500' }, 'unknown'],
    [{ do: 'html' }, 'unknown'],
  ]
  for (const [fault, expected] of faults) {
    it(`${fault.do} leaves the outcome unknown, and the enquiry finds the payment`, async (test) => {
      const merchant = await overHttp(test, { faults: [fault] })
      const operation = payment('debit')
      assert.equal(await ended(merchant, operation), expected)
      assert.equal((await enquire(merchant, operation)).is, 'approved')
      assert.equal(merchant.totals().charged, 9200n)
    })

    it(`${fault.do} before the money moved leaves the outcome unknown, and the enquiry finds nothing`, async (test) => {
      const merchant = await overHttp(test, { faults: [{ ...fault, apply: 'never' }] })
      const operation = payment('debit')
      assert.equal(await ended(merchant, operation), expected)
      assert.equal((await enquire(merchant, operation)).is, 'notFound')
      assert.equal(merchant.totals().charged, 0n)
    })
  }

  it('an answer that arrives byte by byte is read', async (test) => {
    const merchant = await overHttp(test, { faults: [{ do: 'drip', ms: 1 }] })
    assert.equal(await ended(merchant, payment('debit')), 'approved')
  })

  it('an answer with another amount is reported with that amount', async (test) => {
    const amount = { minor: '9100', currency: 'EUR' }
    const merchant = await overHttp(test, { faults: [{ do: 'alterAmount', amount }] })
    const outcome = await merchant.run(payment('debit'))
    assert.deepEqual(outcome.is === 'approved' && outcome.amount, euros(9100))
    const honest = await merchant.run(payment('debit'))
    assert.ok(honest.is === 'approved' && honest.amount === undefined)
  })

  it('an unknown code is a decline with the general reason', async (test) => {
    const merchant = await overHttp(test, { faults: [{ do: 'unknownCode' }] })
    const outcome = await merchant.run(payment('debit'))
    assert.deepEqual(outcome.is === 'declined' && [outcome.reason, outcome.code], [
      '800.100.100',
      'Q7',
    ])
  })

  it('a second copy of an answer is never read as the next answer', async (test) => {
    const merchant = await overHttp(test, { faults: [{ do: 'twice' }] })
    const { http } = merchant.context()
    const outcomes: string[] = []
    for (const number of [plainCard, '4000000000000002', '4000000000000002']) {
      const operation = payment('debit', { instrument: card(number) })
      const outcome = await merchant.run(operation, { http }).catch(() => undefined)
      outcomes.push(outcome?.is ?? 'broken')
    }
    assert.equal(outcomes[0], 'approved')
    assert.ok(!outcomes.slice(1).includes('approved'), outcomes.join())
  })
})

describe('an answer about another key', () => {
  /** A connection that answers every request with the same JSON. */
  function stale(json: object, status = 200): Http {
    const text = JSON.stringify(json)
    const answer = {
      status,
      headers: {},
      body: Buffer.from(text),
      text: () => text,
      json: () => JSON.parse(text) as unknown,
    }
    return { request: async () => answer, get: async () => answer, post: async () => answer }
  }
  const amount = { minor: '9200', currency: 'EUR' }
  const approval = { status: 'approved', code: '00', amount }

  it('an answer about another key does not answer an operation or an enquiry', async (test) => {
    const merchant = await overHttp(test)
    const http = stale({ ...approval, key: 'another' })
    const why = 'the answer is about another key'
    const operation = payment('debit')
    assert.deepEqual(await merchant.run(operation, { http }), { is: 'unknown', why })
    const context = merchant.context({ http })
    const found = await merchant.connector.resolve.enquire!(operation, context)
    assert.deepEqual(found, { is: 'unknown', why })
  })

  it('an answer about another key does not answer a reversal by key', async (test) => {
    const merchant = await overHttp(test)
    const context = merchant.context({
      http: stale({ status: 'reversed', code: 'key-reversed', key: 'x' }),
    })
    const reversed = await merchant.connector.resolve.reverseByKey!(payment('debit'), context)
    assert.equal(reversed.is, 'unknown')
  })

  it('an answer with a status other than 200 answers nothing, whatever its body says', async (test) => {
    const merchant = await overHttp(test)
    const operation = payment('debit')
    const http = stale({ ...approval, key: operation.key }, 503)
    assert.equal((await merchant.run(operation, { http })).is, 'unknown')
  })
})

it('operations that can move money are marked as such, enquiries are not', async (test) => {
  const merchant = await overHttp(test)
  const { http } = merchant.context()
  const moving: [string, boolean][] = []
  const spied: Http = {
    ...http,
    request: (method, url, options) => {
      moving.push([`${method} ${new URL(url).pathname}`, options?.moves === true])
      return http.request(method, url, options)
    },
    get: (url, query, options) => {
      moving.push([`GET ${new URL(url).pathname}`, options?.moves === true])
      return http.get(url, query, options)
    },
  }
  const operation = payment('debit')
  const context = merchant.context({ http: spied })
  await merchant.connector.debit!(operation, context)
  await merchant.connector.resolve.enquire!(operation, context)
  await merchant.connector.resolve.reverseByKey!(operation, context)
  await merchant.connector.check!(context)
  assert.deepEqual(moving, [
    ['POST /operations', true],
    ['GET /operations', false],
    ['POST /reversals', true],
    ['GET /account', false],
  ])
})

it('the acquirer answers only after the ledger is on the disk', async (test) => {
  const books = openBooks()
  let onDisk = () => {}
  const safe = () => new Promise<void>((done) => (onDisk = done))
  const signal = new AbortController().signal
  const acquirer = {
    ...{ name: '', url: '', secret: account.secret, signal, hidden: new Map() },
    books: { ...books, safe },
    plan: createPlan(),
    messenger: openMessenger(account.secret, undefined, signal),
    time: acquirerTime(),
  }
  const headers = { 'idempotency-key': 'k' }
  const body = { kind: 'debit', paymentId: 'p', amount: { minor: '1', currency: 'EUR' } }
  const authentication = {
    ...{ amount: body.amount, brand: 'VISA', isPayment: true, parameters: [] },
    ...{ timeoutMs: 1000, at: 0 },
  }
  const questions: ((response: ServerResponse) => Promise<void>)[] = [
    (response) => answerOperation(acquirer, 'shop', headers, body, response),
    (response) => answerEnquiry(acquirer, 'shop', new URLSearchParams({ key: 'k' }), response),
    (response) => answerReversal(acquirer, 'shop', headers, {}, response),
    (response) => answerAuthentication(acquirer, 'shop', headers, authentication, response),
    (response) =>
      answerAuthenticationEnquiry(acquirer, 'shop', new URLSearchParams({ key: 'k' }), response),
  ]
  for (const question of questions) {
    const server = createServer((_request, response) => void question(response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    let answered = false
    onDisk = () => {}
    const before = onDisk
    const answer = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).then(
      (it) => {
        answered = true
        return it.json()
      },
    )
    while (onDisk === before) await new Promise(setImmediate)
    // A whole exchange on another connection, so that a premature answer would have arrived.
    await fetch((await overHttp(test)).server.url).then((it) => it.text())
    assert.equal(answered, false)
    onDisk()
    assert.equal(((await answer) as { key: string }).key, 'k')
    server.closeAllConnections()
    server.close()
  }
})

describe('delays of the acquirer', () => {
  const late: Fault = { do: 'delay', ms: 60_000, apply: 'late' }

  it('an operation can be carried out long after its client gave up', async (test) => {
    const time = acquirerTime()
    const merchant = await overHttp(test, { time, faults: [late] })
    const operation = payment('debit')
    const impatient = new AbortController()
    const lost = merchant.run(operation, { signal: impatient.signal }).catch(() => 'gave up')
    while (merchant.server.plan.left > 0) await new Promise(setImmediate)
    impatient.abort()
    assert.equal(await lost, 'gave up')
    time.advance(59_999)
    assert.equal((await enquire(merchant, operation)).is, 'notFound')
    time.advance(1)
    assert.equal((await enquire(merchant, operation)).is, 'approved')
    assert.equal(merchant.totals().charged, 9200n)
  })

  it('a reversal by key stops an operation that arrives later', async (test) => {
    const time = acquirerTime()
    const merchant = await overHttp(test, { time, faults: [late] })
    const operation = payment('debit')
    const answer = merchant.run(operation)
    while (merchant.server.plan.left > 0) await new Promise(setImmediate)
    const context = merchant.context()
    const reversed = await merchant.connector.resolve.reverseByKey!(operation, context)
    assert.equal(reversed.is, 'nothing')
    time.advance(60_000)
    assert.equal((await answer).is, 'declined')
    assert.equal(merchant.totals().charged, 0n)
  })

  it('an enquiry can find nothing at first', async (test) => {
    const merchant = await overHttp(test, { faults: [{ do: 'notFound', times: 2 }] })
    const operation = payment('debit')
    await merchant.run(operation)
    const found = []
    for (let time = 0; time < 3; time += 1) found.push((await enquire(merchant, operation)).is)
    assert.deepEqual(found, ['notFound', 'notFound', 'approved'])
  })

  it('an operation can stay invisible for a while', async (test) => {
    const time = acquirerTime()
    const merchant = await overHttp(test, { time, faults: [{ do: 'hide', ms: 500 }] })
    const operation = payment('debit')
    assert.equal((await merchant.run(operation)).is, 'approved')
    time.advance(499)
    assert.equal((await enquire(merchant, operation)).is, 'notFound')
    time.advance(1)
    assert.equal((await enquire(merchant, operation)).is, 'approved')
  })

  it('an answer can arrive late, after the money moved', async (test) => {
    const time = acquirerTime()
    const merchant = await overHttp(test, { time, faults: [{ do: 'delay', ms: 500 }] })
    const operation = payment('debit')
    const answer = merchant.run(operation)
    while (merchant.totals().charged === 0n) await new Promise(setImmediate)
    assert.equal((await enquire(merchant, operation)).is, 'approved')
    const first = await Promise.race([answer, new Promise((go) => setImmediate(go, 'not yet'))])
    assert.equal(first, 'not yet')
    time.advance(500)
    assert.equal((await answer).is, 'approved')
  })
})

describe('a plan of faults', () => {
  it('a fault plan hits the requests it names, by card, key, kind or position', async (test) => {
    const merchant = await overHttp(test)
    const hit = payment('debit')
    await control(merchant.server.url, {
      plan: [
        { do: '500', when: { number: '4111111111111111' } },
        { do: '500', when: { key: hit.key } },
        { do: '500', when: { kind: 'capture' } },
      ],
    })
    const authorisation = payment('authorize')
    assert.equal(await ended(merchant, authorisation), 'approved')
    assert.equal(await ended(merchant, followUp('capture', authorisation, 1)), 'unknown')
    assert.equal(await ended(merchant, hit), 'unknown')
    assert.equal(
      await ended(merchant, payment('debit', { instrument: card('4111111111111111') })),
      'unknown',
    )
    assert.equal(merchant.server.plan.left, 0)
  })

  it('a wrong fault plan is refused, with the name of the wrong field', async (test) => {
    const { server } = await overHttp(test)
    const wrong: [object, RegExp][] = [
      [{ plan: [{ do: 'explode' }] }, /plan\[0\]\.do must be one of/],
      [{ plan: [{ do: 'drop' }, { do: 'delay', ms: -1 }] }, /plan\[1\]\.ms/],
      [{ plan: [{ do: 'drop', times: 0 }] }, /times must be 1 or more/],
      [{ plan: {} }, /plan must be a list/],
      [{ plann: [] }, /no control named plann/],
      [
        { chargeback: { merchantId: 'm', key: 'k', original: 'o', reason: '800.100.152' } },
        /chargeback code/,
      ],
    ]
    for (const [body, message] of wrong) {
      const { status, json } = await control(server.url, body)
      assert.equal(status, 400)
      assert.match(String(json.refused), message)
    }
    assert.equal(server.plan.left, 0)
  })
})

describe('access to the HTTP acquirer', () => {
  it('only clients with the secret are served', async (test) => {
    const { server, ...merchant } = await overHttp(test, { secret: 'another-secret' })
    const outcome = await merchant.run(payment('debit'))
    assert.equal(outcome.is === 'declined' && outcome.reason, '900.100.200')
    const reversed = await merchant.connector.resolve.reverseByKey!(
      payment('debit'),
      merchant.context(),
    )
    assert.equal(reversed.is, 'refused')
    assert.equal((await enquire(merchant, payment('debit'))).is, 'unknown')
    const check = await merchant.connector.check!(merchant.context())
    assert.deepEqual(check, {
      ok: false,
      why: 'the acquirer answered 401 to merchantId and secret',
    })
    for (const path of ['/ledger', '/control', '/account']) {
      assert.equal((await fetch(server.url + path)).status, 401)
    }
    assert.equal(server.ledger().count, 0)
  })

  it('an account proves its secret without moving money', async (test) => {
    const merchant = await overHttp(test)
    assert.deepEqual(await merchant.connector.check!(merchant.context()), { ok: true })
  })

  it('a merchant sees only its own keys', async (test) => {
    const merchant = await overHttp(test)
    const operation = payment('debit')
    await merchant.run(operation)
    const other = merchant.context({ account: { ...account, merchantId: 'other' } })
    assert.equal((await merchant.connector.resolve.enquire!(operation, other)).is, 'notFound')
  })

  it('the acquirer listens on a loopback host only', async () => {
    await assert.rejects(startSimulator({ host: '0.0.0.0' }), /host must be one of 127\.0\.0\.1/)
  })
})

it('an unreadable request is refused by the name of its field, and moves nothing', async (test) => {
  const { server } = await overHttp(test)
  const amount = { minor: '1', currency: 'EUR' }
  const good = { kind: 'debit', paymentId: 'p', amount }
  const wrong: [object | string, RegExp][] = [
    ['{', /body must be JSON/],
    ['[]', /body must be a JSON object/],
    [{ ...good, kind: 'steal' }, /kind must be one of/],
    [{ ...good, amount: { minor: 1, currency: 'EUR' } }, /amount\.minor must be a string/],
    [{ ...good, amount: { minor: '1', currency: 'eur' } }, /amount\.currency/],
    [{ ...good, signs: { number: 4200000000000000 } }, /signs\.number must be a string/],
    [{ ...good, at: 'now' }, /at must be a whole number/],
    [{ ...good, instrument: 'x'.repeat(70_000) }, /must not exceed 65536 bytes/],
  ]
  const headers = {
    authorization: `Bearer ${account.secret}`,
    'x-merchant-id': 'shop',
    'idempotency-key': 'k',
  }
  for (const [body, message] of wrong) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await fetch(`${server.url}/operations`, { method: 'POST', headers, body: text })
    assert.equal(answer.status, 400)
    const { refused } = (await answer.json()) as { refused: string }
    assert.match(refused, message)
    assert.ok(!refused.includes('4200'))
  }
  assert.equal(server.ledger().count, 0)
})

it('GET /ledger shows every entry once, page by page, and no card number', async (test) => {
  const merchant = await overHttp(test)
  const keys: string[] = []
  for (let index = 0; index < 25; index += 1) {
    const operation = payment('debit')
    const refund = followUp('refund', operation, 1)
    keys.push(operation.key, refund.key)
    await merchant.run(operation)
    await merchant.run(refund)
  }
  const seen: string[] = []
  let after: number | null = 0
  while (after !== null) {
    const answer: Response = await fetch(`${merchant.server.url}/ledger?after=${after}&limit=10`, {
      headers: { authorization: `Bearer ${account.secret}` },
    })
    const text = await answer.text()
    assert.ok(!text.includes(plainCard))
    const page = JSON.parse(text) as { entries: { key: string }[]; next: number | null }
    seen.push(...page.entries.map(({ key }) => key))
    after = page.next
  }
  assert.deepEqual(seen, keys)
})

describe('the redirect page of the acquirer', () => {
  const operation = () =>
    payment('debit', {
      brand: 'IDEAL',
      instrument: { kind: 'virtualAccount', brand: 'IDEAL', accountId: 'jane' },
    })
  const returnUrl = 'https://shop.example/back?order=1'

  async function bankUrl(merchant: Merchant, redirected: Operation): Promise<string> {
    const outcome = await merchant.run({ ...redirected, returnUrl })
    assert.ok(outcome.is === 'pending' && typeof outcome.next === 'object')
    assert.ok('redirect' in outcome.next)
    return outcome.next.redirect.url
  }
  const time = acquirerTime()

  for (const [button, expected] of [
    ['approve', 'approved'],
    ['cancel', '100.396.101'],
  ] as const) {
    it(`${button} on the page decides the payment and sends the shopper back`, async (test) => {
      const merchant = await overHttp(test, { time })
      const redirected = operation()
      const url = await bankUrl(merchant, redirected)
      assert.match(await (await fetch(url)).text(), new RegExp(`formaction="[^"]*/${button}"`))
      const back = { method: 'GET', query: { status: 'approved' }, form: {}, refs: {} } as const
      const early = await merchant.connector.complete!(redirected, back, merchant.context())
      assert.equal(early.is, 'pending', 'coming back alone proves nothing')
      const sent = await fetch(`${url}/${button}`, { method: 'POST', redirect: 'manual' })
      assert.equal(sent.status, 303)
      assert.equal(sent.headers.get('location'), returnUrl)
      const outcome = await merchant.connector.complete!(redirected, back, merchant.context())
      assert.equal(outcome.is === 'declined' ? outcome.reason : outcome.is, expected)
    })
  }

  it('the page opens only under its own address', async (test) => {
    const merchant = await overHttp(test, { time })
    const url = await bankUrl(merchant, operation())
    for (const wrong of [`${url}x`, url.replace('/bank/', '/bank/A')]) {
      assert.equal((await fetch(`${wrong}/approve`, { method: 'POST' })).status, 404)
    }
    assert.equal(
      (await fetch(`${url}/approve`)).status,
      404,
      'a link that is followed pays nothing',
    )
    assert.equal(merchant.totals().charged, 0n)
  })
})

describe('events of the HTTP acquirer', () => {
  it('a signed event precedes the answer for amounts ending in .89 and follows it for .88', async (test) => {
    const merchant = await overHttp(test)
    const receiver = await eventReceiver(test)
    for (const [minor, before] of [
      [9289, 1],
      [9288, 1],
    ] as const) {
      const operation = payment('debit', { amount: euros(minor) })
      const outcome = await merchant.run(operation, { notifyUrl: receiver.url })
      assert.ok(receiver.messages.length >= before)
      const message = (await receiver.received(minor === 9289 ? 1 : 2)).at(-1)!
      const { verify, parse } = merchant.connector.inbound!
      assert.equal(await verify(message, merchant.context()), true)
      const stranger = merchant.context({ account: { ...account, secret: 'another-secret' } })
      assert.equal(await verify(message, stranger), false)
      assert.deepEqual(
        parse(message).map(({ key, outcome, amount }) => ({ key, outcome, amount })),
        [{ key: operation.key, outcome, amount: euros(minor) }],
      )
    }
  })

  it("a pending payment's end is told by an event, and again with the same id on request", async (test) => {
    const merchant = await overHttp(test, { time: acquirerTime() })
    const receiver = await eventReceiver(test)
    const operation = payment('debit', { instrument: card(plainCard, { holder: '800.400.500' }) })
    assert.equal(await ended(merchant, operation), 'pending')
    const at = { merchantId: account.merchantId, key: operation.key }
    const { url } = merchant.server
    await control(url, { events: receiver.url, finish: { ...at, code: '00' } })
    const again = await control(url, { tell: at })
    assert.equal(again.json.told, true)
    const ids = receiver.messages.map((m) => merchant.connector.inbound!.parse(m)[0]?.eventId)
    assert.equal(ids.length, 2)
    assert.equal(new Set(ids).size, 1)
    assert.equal(merchant.totals().charged, 9200n)
  })

  it('events tell of chargebacks and of their reversals', async (test) => {
    const merchant = await overHttp(test)
    const receiver = await eventReceiver(test)
    const operation = payment('debit')
    await merchant.run(operation)
    const { url } = merchant.server
    const { merchantId } = account
    const amount = { minor: '9200', currency: 'EUR' }
    const dispute = { merchantId, amount, reason: '000.100.221' }
    const [chargeback, reversal] = [newKey(), newKey()]
    await control(url, { events: receiver.url })
    await control(url, { chargeback: { ...dispute, key: chargeback, original: operation.key } })
    assert.equal(merchant.totals().charged, 0n)
    const undone = { ...dispute, key: reversal, original: chargeback }
    await control(url, { chargebackReversal: undone })
    assert.equal(merchant.totals().charged, 9200n)
    const claims = receiver.messages.flatMap((m) => merchant.connector.inbound!.parse(m))
    assert.deepEqual(
      claims.map(({ key, outcome }) => [key, outcome.is]),
      [
        [operation.key, 'chargeback'],
        [operation.key, 'chargebackReversal'],
      ],
    )
  })
})

it('an endpoint that does not accept connections proves that no byte was written', async (test) => {
  const { server } = await overHttp(test)
  await server.close()
  const merchant = merchantAt(test, server.url)
  assert.equal(await ended(merchant, payment('debit')), 'not-sent, no byte written')
})
