import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import test from 'node:test'
import { digest, Sensitive } from '@tollgate/plugin-kit'
import type { HttpMessage } from '../../../core/net/http.ts'
import { bodyOf, failure, httpServer, outgoingFor, rawServer, stillClock } from './servers.ts'

const number = '4111111111111111'
const echo = async (t: Parameters<typeof httpServer>[0]) =>
  httpServer(t, async (request, answer) => {
    answer.setHeader('content-type', request.headers['content-type'] ?? 'text/plain')
    answer.end(await bodyOf(request))
  })

test('a transcript entry describes its exchange', async (t) => {
  const clock = stillClock()
  const { url } = await httpServer(t, (_request, answer) => {
    clock.elapsed += 25
    answer
      .writeHead(402, { 'content-type': 'application/json', 'x-internal': 'dropped' })
      .end('{"code":"05"}')
  })
  const { call } = outgoingFor(t, { clock })
  clock.elapsed += 10
  await call.http.post(
    `${url}/pay?mode=x`,
    { a: 1 },
    { moves: true, headers: { 'Idempotency-Key': 'k1', authorization: 'Bearer abcdef' } },
  )
  const [entry, ...rest] = call.transcript()
  assert.deepEqual(rest, [])
  const { date, ...answerHeaders } = entry!.answer!.headers
  assert.ok(date)
  assert.deepEqual(
    { ...entry, answer: { ...entry!.answer, headers: answerHeaders } },
    {
      method: 'POST',
      url: `${url}/pay?mode=x`,
      moves: true,
      wroteBytes: true,
      startedMs: 10,
      durationMs: 25,
      status: 402,
      request: {
        headers: { 'content-type': 'application/json', 'idempotency-key': 'k1' },
        bytes: 7,
        body: '{"a":1}',
      },
      answer: { headers: { 'content-type': 'application/json' }, bytes: 13, body: '{"code":"05"}' },
    },
  )
})

test('a failed request has its entry, with the code and the bytes received so far', async (t) => {
  const { url } = await rawServer(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'))
  })
  const { call } = outgoingFor(t)
  await failure(call.http.get(url))
  const [entry] = call.transcript()
  assert.deepEqual([entry!.error, entry!.status, entry!.wroteBytes], ['reset', 200, true])
})

test('sensitive values reach the acquirer from every place of a request, and no log', async (t) => {
  const received: string[] = []
  const { url } = await httpServer(t, async (request, answer) => {
    const body = await bodyOf(request)
    received.push(`${request.url} ${request.headers.authorization} ${body}`)
    answer.end(`echo ${request.url} ${request.headers.authorization} ${body}`)
  })
  const { call } = outgoingFor(t)
  const secret = (name: string) => new Sensitive(`s&cret "${name}" é`) as unknown as string
  await call.http.post(url, { deep: [{ a: secret('json') }], number: new Sensitive(987654321) })
  await call.http.request('POST', url, { form: { a: secret('form'), b: [secret('list')] } })
  await call.http.get(url, { a: secret('query') })
  await call.http.get(
    url,
    {},
    { headers: { authorization: new Sensitive('Bearer canary1') as unknown as string } },
  )
  assert.match(received[0]!, /s&cret \\"json\\" é.*987654321/)
  assert.match(received[1]!, /a=s%26cret\+%22form%22\+%C3%A9&b=s%26cret\+%22list%22/)
  assert.match(received[2]!, /\?a=s%26cret\+%22query%22/)
  assert.match(received[3]!, /Bearer canary1/)
  const kept = JSON.stringify(call.transcript())
  assert.doesNotMatch(kept, /s&cret|s%26cret|canary|987654321/)
  assert.match(kept, /\[sensitive\]/)
})

test('secrets known to the engine are scrubbed although the connector sent them unmarked', async (t) => {
  const { url } = await echo(t)
  const { call } = outgoingFor(t, {
    call: { secrets: () => ['847', { iban: 'DE02120300000000202051' }] },
  })
  const headers = { 'content-type': 'text/plain' }
  await call.http.request('POST', url, {
    body: 'B84700X 847 9784799 DE02120300000000202051 ok',
    headers,
  })
  const [entry] = call.transcript()
  // A short secret hides the digits and letters around it too, because they would reveal it.
  const scrubbed = '[sensitive] [sensitive] [sensitive] [sensitive] ok'
  assert.deepEqual([entry!.request.body, entry!.answer!.body], [scrubbed, scrubbed])
})

test('a token that was used is scrubbed from the answer that brought it', async (t) => {
  const { url } = await httpServer(t, (_request, answer) => answer.end('{"value":"tok-123456"}'))
  const { call } = outgoingFor(t)
  const { value } = (await call.http.post(`${url}/token`, {})).json() as { value: string }
  await call.http.get(url, {}, { headers: { Authorization: `Bearer ${value}` } })
  assert.doesNotMatch(JSON.stringify(call.transcript()), /tok-123456/)
})

test('card numbers and values with telling names are scrubbed in JSON, forms, XML and URLs', async (t) => {
  const { url } = await echo(t)
  const { call } = outgoingFor(t)
  const send = async (type: string, body: string, path = '/') => {
    await call.http.request('POST', url + path, { body, headers: { 'content-type': type } })
    const entry = call.transcript().at(-1)!
    assert.equal(entry.request.body, entry.answer?.body)
    return path === '/' ? entry.request.body : entry.url.slice(url.length)
  }
  assert.equal(
    await send(
      'application/json',
      `{"access_token": "a\\"b", "cvv":123, "tokens":{"a":1}, "text":"${number}", "key":"k"}`,
    ),
    '{"access_token": "[sensitive]", "cvv":"[sensitive]", "tokens":{"a":1}, "text":"************1111", "key":"k"}',
  )
  assert.equal(
    await send(
      'application/x-www-form-urlencoded',
      'password=x%26y&note=4111+1111+1111+1111&shipping=1',
    ),
    'password=[sensitive]&note=**** **** **** 1111&shipping=1',
  )
  assert.equal(
    await send('text/xml', `<c:CVV2 a="1">123</c:CVV2><pan>${number}</pan><Opinion>pin</Opinion>`),
    '<c:CVV2 a="1">[sensitive]</c:CVV2><pan>[sensitive]</pan><Opinion>pin</Opinion>',
  )
  assert.equal(
    await send('text/plain', '', `/cards/4111%201111%201111%201111?api_key=xyz&reference=r1`),
    '/cards/**** **** **** 1111?api_key=[sensitive]&reference=r1',
  )
})

test('a long body is cut, and no part of a secret remains at the cut', async (t) => {
  const { url } = await echo(t)
  const headers = { 'content-type': 'text/plain' }
  // Offsets around the shown length, and around the length kept for scrubbing.
  for (const offset of [8165, 8175, 8185, 16_355, 16_365, 16_370, 16_375, 16_380]) {
    const { call } = outgoingFor(t, { call: { secrets: () => ['canary-canary'] } })
    const body = `${'.'.repeat(offset)}canary-canary ${number} ${'.'.repeat(9000)}`
    await call.http.request('POST', url, { body, headers })
    const [entry] = call.transcript()
    assert.ok(entry!.request.body!.length <= 8193)
    assert.equal(entry!.request.bytes, body.length)
    assert.match(entry!.request.body!, /^[^cary4]+…$/)
  }
})

test('no part of a secret remains where long secrets before it moved the cut', async (t) => {
  const { url } = await echo(t)
  const long = 'L'.repeat(7000)
  const { call } = outgoingFor(t, { call: { secrets: () => [long, 'canary-canary'] } })
  const body = `${long},${long},`.padEnd(16_384 - 5, '.') + 'canary-canary'.padEnd(9000, '.')
  await call.http.request('POST', url, { body, headers: { 'content-type': 'text/plain' } })
  assert.doesNotMatch(JSON.stringify(call.transcript()), /can|LL/)
})

test('a cut body that may hold the start of a very long secret is withheld', async (t) => {
  const { url } = await echo(t)
  const token = 'T'.repeat(9000)
  const { call } = outgoingFor(t, { call: { secrets: () => [token] } })
  await call.http.request('POST', url, { body: `${'.'.repeat(8000)}${token}` })
  await call.http.request('POST', url, { body: `short ${token}` })
  const bodies = call.transcript().map(({ request }) => request.body)
  assert.deepEqual(bodies, ['[withheld]', 'short [sensitive]'])
})

test('a secret that contains another one disappears as a whole', async (t) => {
  const { url } = await echo(t)
  const { call } = outgoingFor(t, { call: { secrets: () => ['abcdef', 'abcdefgh'] } })
  await call.http.request('POST', url, { body: 'abcdefgh abcdef' })
  assert.equal(call.transcript()[0]!.request.body, '[sensitive] [sensitive]')
})

test('a body that is not text is not shown', async (t) => {
  const { url } = await echo(t)
  const { call } = outgoingFor(t)
  await call.http.request('POST', url, { body: Buffer.from([0, 1, 2, 3]) })
  await call.http.request('POST', url, { body: Buffer.from('Betrag ungültig', 'latin1') })
  assert.deepEqual(
    call.transcript().map(({ request }) => request.body),
    ['[not text]', 'Betrag ungültig'],
  )
})

test('a call of many requests keeps fifty, all moving ones among them, and a bounded amount of text', async (t) => {
  const { url } = await httpServer(t, (_request, answer) => answer.end('x'.repeat(20_000)))
  const { call } = outgoingFor(t)
  await call.http.post(`${url}/charge`, {}, { moves: true })
  for (let at = 0; at < 60; at++) await call.http.get(`${url}/${at}`)
  const entries = call.transcript()
  assert.equal(entries.length, 50)
  assert.deepEqual([entries[0]!.url, entries[1]!.url], [`${url}/charge`, `${url}/11`])
  assert.ok(JSON.stringify(entries).length < 100_000)
  assert.equal(entries.at(-1)!.answer!.bytes, 20_000)
})

test('the diagnostics channel reports each request, without bodies', async (t) => {
  const { url, port } = await httpServer(t, (_request, answer) =>
    answer.writeHead(500).end('canary'),
  )
  const { call } = outgoingFor(t)
  const told: HttpMessage[] = []
  const listen = (message: unknown) => void told.push(message as HttpMessage)
  subscribe('tollgate:http', listen)
  await call.http.post(`${url}/canary`, { a: 'canary' }, { moves: true })
  unsubscribe('tollgate:http', listen)
  assert.deepEqual(told, [
    {
      engine: 'test',
      method: 'POST',
      host: `127.0.0.1:${port}`,
      moves: true,
      wroteBytes: true,
      durationMs: 0,
      status: 500,
    },
  ])
})

test('a sensitive body arrives whole and is hidden, and so are the sensitive parts of one', async (t) => {
  const { url } = await echo(t)
  const { call } = outgoingFor(t)
  const secret = 'k-7f3a90c4'
  const bodies = [
    new Sensitive(`all of it: ${secret}`),
    new Sensitive(Buffer.from(`bytes: ${secret}`)),
    ['<Card>', new Sensitive('Zm9vYmFyYmF6'), '</Card><Order>A7</Order>'],
  ]
  const arrived: string[] = []
  for (const body of bodies) {
    arrived.push((await call.http.request('POST', url, { body })).text())
  }
  assert.deepEqual(arrived, [
    `all of it: ${secret}`,
    `bytes: ${secret}`,
    '<Card>Zm9vYmFyYmF6</Card><Order>A7</Order>',
  ])
  const kept = call.transcript()
  assert.ok(!JSON.stringify(kept).includes(secret))
  assert.equal(kept[2]!.request.body, '<Card>[sensitive]</Card><Order>A7</Order>')
})

test('a body that is neither text nor bytes is not sent', async (t) => {
  const { url } = await echo(t)
  const { call } = outgoingFor(t)
  for (const body of [new Sensitive({ a: 1 }), ['a', { b: 1 }], 7]) {
    const sent = call.http.request('POST', url, { body: body as never, moves: true })
    assert.deepEqual(await failure(sent), { code: 'not-sent', wroteBytes: false })
  }
})

test('a header made of the final bytes is in no transcript, also where the acquirer repeats it', async (t) => {
  const { url } = await httpServer(t, (request, answer) => {
    answer.setHeader('content-type', 'text/plain').end(`digest ${request.headers['x-digest']}`)
  })
  const { call } = outgoingFor(t)
  const answer = await call.http.post(
    url,
    { number: new Sensitive(number) },
    { sign: ({ body }) => ({ 'x-digest': digest(body) }) },
  )
  const made = digest(`{"number":"${number}"}`)
  assert.equal(answer.text(), `digest ${made}`)
  assert.doesNotMatch(JSON.stringify(call.transcript()), new RegExp(`${made}|${number}`))
})

test('what a signature throws passes through, and nothing is sent', async (t) => {
  const { url } = await httpServer(t, (_request, answer) => answer.end())
  const { call } = outgoingFor(t)
  const sign = () => {
    throw new RangeError('no key')
  }
  await assert.rejects(call.http.post(url, {}, { moves: true, sign }), RangeError)
  assert.equal(call.sent(), 'not-moved')
})
