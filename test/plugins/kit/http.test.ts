/** The suite's line behaves like the engine's: the same requests end the same way. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { type Http, HttpError, type HttpOptions, hmac, Sensitive } from '@tollgate/plugin-kit'
import { createOutgoing } from '../../../core/net/http.ts'
import { checked } from '../../../core/payment/checked-outcome.ts'
import { lineFaults } from '../../../plugins/kit/testing/cases/line.ts'
import type { Fault } from '../../../plugins/kit/testing/fault.ts'
import { type Front, openFront } from '../../../plugins/kit/testing/fault-proxy.ts'
import { openLine } from '../../../plugins/kit/testing/http.ts'
import { judge } from '../../../plugins/kit/testing/judge.ts'

type Play = (http: Http, front: Front) => Promise<unknown>

/** A server that echoes requests, and a front before it. */
async function frontBeforeMirror(context: TestContext): Promise<Front> {
  const mirror = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method, url, headers } = request
    const seen = { method, url, type: headers['content-type'], key: headers['x-key'] }
    const body = Buffer.concat(chunks).toString()
    response.writeHead(201, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...seen, body, moves: headers['x-contract-moves'] }))
  })
  mirror.listen(0, '127.0.0.1')
  await once(mirror, 'listening')
  const front = await openFront(`http://127.0.0.1:${(mirror.address() as AddressInfo).port}/v3`)
  context.after(async () => {
    await front.close()
    mirror.closeAllConnections()
    mirror.close()
  })
  return front
}

/** Plays the same requests on the suite's line and on the engine's. */
async function playOnBoth(context: TestContext, play: Play, tooLate = false): Promise<unknown[]> {
  const front = await frontBeforeMirror(context)
  const line = openLine({ tooLate })
  const outgoing = createOutgoing({ name: 'test', allowLoopback: true })
  context.after(() => outgoing.close())
  const hour = 3_600_000
  const overMs = tooLate ? -1 : hour
  const call = outgoing.forCall({
    deadlineMs: performance.now() + hour,
    sendBy: { monotonicMs: performance.now() + overMs, wallMs: Date.now() + overMs },
    signal: new AbortController().signal,
  })
  const ours = await resultOf(play(line.http, front))
  line.finish()
  const moving = line.attempts.filter(({ moves }) => moves)
  const sent =
    moving.length === 0 ? 'nothing' : moving.some((a) => a.wroteBytes) ? 'moved' : 'not-moved'
  const theirs = await resultOf(play(call.http, front))
  return [
    { ...ours, sent, later: await laterOf(line.http, front) },
    { ...theirs, sent: call.finish(), later: await laterOf(call.http, front) },
  ]
}

/** The result of a request on an ended call. */
const laterOf = async (http: Http, front: Front) => (await resultOf(http.get(front.url))).code

async function resultOf(play: Promise<unknown>): Promise<{ code?: string }> {
  try {
    return { answer: await play } as object
  } catch (error) {
    if (error instanceof HttpError) return { code: error.code, wrote: error.wroteBytes } as object
    throw error
  }
}

const post = (options: HttpOptions): Play => {
  return async (http, front) => {
    const { status, body } = await http.request('POST', `${front.url}/payments`, options)
    return { status, body: body.toString() }
  }
}

const hidden = new Sensitive('4200000000000000')
const hangs = ({ damage }: Fault) => damage.do === 'silence' || damage.do === 'stall'

const requests: Readonly<Record<string, Play>> = {
  'JSON with hidden values': post({ json: { a: [1, 'x'], number: hidden, none: undefined } }),
  'a form with repeated names': post({ form: { a: ['1', 2], number: hidden, none: undefined } }),
  'a text': post({ body: 'text', headers: { 'content-type': 'text/plain', 'x-key': hidden } }),
  'nothing at all': post({}),
  'a query': async (http, front) => {
    const answer = await http.get(front.url, { number: hidden, b: '1 2' })
    return answer.json()
  },
  'a signed body': post({
    json: { number: hidden },
    moves: true,
    sign: ({ method, target, body }) => ({
      'x-key': hmac([`${method} `, target, '\n', body], 'secret'),
    }),
  }),
  'a signature that cannot be made': post({
    json: {},
    sign: () => ({ host: 'elsewhere.example' }),
  }),
  'an answer with a byte-order mark': async (http, front) => {
    const change = (body: string) => `\ufeff${body}`
    front.meet({ reaches: true, damage: { do: 'change', change } }, 'any')
    const answer = await http.get(front.url)
    return [answer.json(), answer.text()]
  },
  'two bodies': post({ json: {}, body: '' }),
  'a GET with a body': (http, front) => http.request('GET', front.url, { json: {} }),
  'a header that frames the message': post({ headers: { 'Content-Length': '7' } }),
  'a bigint': post({ json: { amount: 1n }, moves: true }),
  'an address without a protocol': (http) => http.get('127.0.0.1/payments'),
  'an address elsewhere': (http) => http.post('http://198.51.100.1/', {}, { moves: true }),
  'a port where nobody listens': async (http, front) =>
    http.post(await front.deafUrl(), {}, { moves: true }),
  'an answer that is too long for its limit': post({ json: {}, maxBytes: 10, moves: true }),
  'a moving request and another one': async (http, front) => {
    await http.post(front.url, {}, { moves: true })
    return (await http.get(front.url)).text()
  },
}

describe("the suite's line ends a request as the engine does", () => {
  for (const [name, play] of Object.entries(requests)) {
    test(`the suite and the engine send alike: ${name}`, async (context) => {
      const [ours, theirs] = await playOnBoth(context, play)
      assert.deepEqual(ours, theirs)
    })
  }

  for (const [name, fault] of Object.entries(lineFaults)) {
    test(`the suite and the engine end alike: ${name}`, async (context) => {
      const [ours, theirs] = await playOnBoth(context, (http, front) => {
        front.meet(fault, 'any')
        // A hanging request must end by time, on a line without knowledge of the front.
        const timeoutMs = hangs(fault) ? { timeoutMs: 100 } : {}
        return post({ json: {}, moves: true, ...timeoutMs })(http, front)
      })
      assert.deepEqual(ours, theirs)
    })
  }

  test('a moving request ends after the send-by time, and a look-up after its deadline', async (context) => {
    const [ours, theirs] = await playOnBoth(
      context,
      async (http, front) => {
        const { status } = await http.get(front.url)
        assert.equal(status, 201)
        return http.post(front.url, {}, { moves: true })
      },
      true,
    )
    assert.deepEqual(ours, theirs)
  })
})

test('the front passes everything on unchanged, except the tag', async (context) => {
  const front = await frontBeforeMirror(context)
  const { http, finish } = openLine({ tooLate: false })
  const headers = { 'x-key': 'k' }
  const answer = await http.post(`${front.url}/payments?a=1`, { b: 2 }, { moves: true, headers })
  assert.equal(answer.status, 201)
  assert.deepEqual(answer.json(), {
    method: 'POST',
    url: '/v3/payments?a=1',
    type: 'application/json',
    key: 'k',
    body: '{"b":2}',
  })
  finish()
})

test('the suite accepts the same outcomes as the engine', () => {
  const refs = { id: '1' }
  const outcomes: readonly unknown[] = [
    { is: 'approved', refs },
    { is: 'approved' },
    { is: 'approved', refs: { id: 1 } },
    { is: 'accepted', refs, finalBy: 'event' },
    { is: 'accepted', refs, finalBy: { poll: 60_000.5 } },
    { is: 'accepted', refs, finalBy: { poll: Number.NaN } },
    { is: 'accepted', refs, finalBy: 'later' },
    { is: 'accepted', finalBy: 'event' },
    { is: 'approved', refs, amount: { minor: 1n, currency: 'EUR' } },
    { is: 'approved', refs, amount: { minor: 1, currency: 'EUR' } },
    { is: 'approved', refs, amount: { minor: -1n, currency: 'EUR' } },
    { is: 'approved', refs, amount: { minor: 2n ** 63n, currency: 'EUR' } },
    { is: 'approved', refs, amount: { minor: 1n, currency: 'EURO' } },
    { is: 'approved', refs, amount: null },
    { is: 'pending', next: { poll: Number.POSITIVE_INFINITY } },
    { is: 'pending', next: { redirect: { url: 'https://bank.test/' } } },
    { is: 'pending', next: { redirect: { url: 'javascript:alert(1)' } } },
    { is: 'pending', next: { redirect: null } },
    { is: 'declined', reason: '800.100.152' },
    { is: 'declined', reason: 'because' },
    { is: 'declined', reason: '800.100.152', refs: 'id' },
    { is: 'pending', next: 'event' },
    { is: 'pending' },
    { is: 'pending', next: { poll: 0 } },
    { is: 'pending', next: { poll: 10 } },
    { is: 'pending', next: 'later' },
    { is: 'notSent', why: 'no line' },
    { is: 'unknown', why: 'no answer' },
    { is: 'done' },
    null,
    'approved',
  ]
  for (const outcome of outcomes) {
    const theirs = checked(outcome)
    assert.equal(judge(outcome, false, 'debit').is, theirs.is, inspect(outcome))
  }
  assert.equal(judge({ is: 'notSent', why: 'no line' }, true, 'debit').is, 'unknown')
  assert.equal(judge({ is: 'approved', refs: {} }, true, 'debit').is, 'unknown')
  assert.equal(judge({ is: 'approved', refs: {} }, true, 'verify').is, 'approved')
  assert.equal(judge(undefined, false, 'debit').is, 'notSent')
  assert.equal(judge(undefined, true, 'debit').is, 'unknown')
})
