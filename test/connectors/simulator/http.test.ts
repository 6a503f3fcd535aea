/** The acquirer behind HTTP: its requests and answers, the access to it, and its ledger. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import plugin from '@tollgate/connector-simulator/http'
import type { Http } from '@tollgate/plugin-kit'
import {
  answerAuthentication,
  answerAuthenticationEnquiry,
} from '../../../connectors/simulator/authentication/operations.ts'
import { openBooks } from '../../../connectors/simulator/books.ts'
import { createPlan } from '../../../connectors/simulator/faults.ts'
import { openMessenger } from '../../../connectors/simulator/messenger.ts'
import {
  answerEnquiry,
  answerOperation,
  answerReversal,
} from '../../../connectors/simulator/operations.ts'
import { startSimulator } from '../../../connectors/simulator/server.ts'
import { ended, enquire } from './http-calls.ts'
import {
  account,
  acquirerTime,
  followUp,
  merchantAt,
  overHttp,
  payment,
  plainCard,
} from './support.ts'

it('the HTTP simulator is a plugin of its own, so that no gateway reaches it by accident', () => {
  assert.deepEqual(
    plugin.connectors?.map(({ name }) => name),
    ['simulator-http'],
  )
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

it('an endpoint that does not accept connections proves that no byte was written', async (test) => {
  const { server } = await overHttp(test)
  await server.close()
  const merchant = merchantAt(test, server.url)
  assert.equal(await ended(merchant, payment('debit')), 'not-sent, no byte written')
})
