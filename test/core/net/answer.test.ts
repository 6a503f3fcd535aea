import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { bodyOf, failure, httpServer, outgoingFor, rawServer } from './servers.ts'

const tooLarge = { code: 'too-large', wroteBytes: true }

test('every status is an answer', async (t) => {
  for (const status of [200, 201, 204, 304, 400, 401, 404, 429, 500, 503]) {
    const { url } = await httpServer(t, (_request, answer) => answer.writeHead(status).end())
    const { call } = outgoingFor(t)
    assert.equal((await call.http.post(url, {}, { moves: true })).status, status)
  }
})

test('interim answers are skipped, in however many pieces they arrive', async (t) => {
  const before =
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100\r\n\r\n'
  const answered = 'HTTP/1.1 201 Created\r\ncontent-length: 4\r\nx-a: b\r\n\r\ndone'
  for (const pieces of [
    [before + answered],
    [before, answered],
    [...before].concat(answered),
    [before.slice(0, 30), before.slice(30) + answered.slice(0, 5), answered.slice(5)],
  ]) {
    let connections = 0
    const { url } = await rawServer(t, (socket) => {
      connections += 1
      socket.setNoDelay(true)
      socket.on('data', async () => {
        for (const piece of pieces) {
          socket.write(piece)
          await setImmediate()
        }
      })
    })
    const { call } = outgoingFor(t)
    for (let round = 0; round < 3; round += 1) {
      const answer = await call.http.post(url, {}, { moves: true })
      assert.deepEqual([answer.status, answer.text(), answer.headers['x-a']], [201, 'done', 'b'])
      assert.equal(answer.headers.link, undefined)
    }
    assert.equal(connections, 1)
  }
})

test('a protocol switch, or endless interim answers, is no answer', async (t) => {
  const switched = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'
  const endless = `HTTP/1.1 100 Continue\r\n${'a: b\r\n'.repeat(10_000)}`
  for (const [answer, code] of [
    [switched, 'reset'],
    [endless, 'too-large'],
  ] as const) {
    const { url } = await rawServer(t, (socket) => {
      socket.once('data', () => socket.write(answer))
    })
    const failed = await failure(outgoingFor(t).call.http.post(url, {}, { moves: true }))
    assert.equal(failed.wroteBytes, true)
    assert.equal(failed.code, code)
  }
})

test('methods, queries, headers and the three body forms arrive as given', async (t) => {
  const { url } = await httpServer(t, async (request, answer) => {
    const { method, url, headers } = request
    const got = {
      method,
      url,
      type: headers['content-type'],
      length: headers['content-length'],
      key: headers['x-key'],
    }
    answer.end(JSON.stringify({ ...got, body: await bodyOf(request) }))
  })
  const { http } = outgoingFor(t).call
  assert.deepEqual((await http.get(`${url}/a?b=1`, { 'c d': 'é&' })).json(), {
    method: 'GET',
    url: '/a?b=1&c+d=%C3%A9%26',
    body: '',
  })
  assert.deepEqual(
    (await http.post(`${url}/`, { a: [1, 'é'] }, { headers: { 'X-Key': 'k' } })).json(),
    {
      method: 'POST',
      url: '/',
      type: 'application/json',
      length: '14',
      key: 'k',
      body: '{"a":[1,"é"]}',
    },
  )
  const form = { a: 'x y', b: [1, true], c: undefined }
  assert.deepEqual((await http.request('PUT', `${url}/`, { form })).json(), {
    method: 'PUT',
    url: '/',
    type: 'application/x-www-form-urlencoded',
    length: '16',
    body: 'a=x+y&b=1&b=true',
  })
  const headers = { 'content-type': 'text/xml' }
  assert.deepEqual((await http.request('PATCH', `${url}/`, { body: '<a/>', headers })).json(), {
    method: 'PATCH',
    url: '/',
    type: 'text/xml',
    length: '4',
    body: '<a/>',
  })
  assert.deepEqual((await http.request('DELETE', `${url}/`)).json(), {
    method: 'DELETE',
    url: '/',
    body: '',
  })
})

test('answer headers have lower-case names, repeated ones are joined', async (t) => {
  const { url } = await httpServer(t, (_request, answer) => {
    answer.setHeader('X-One', 'a').setHeader('Set-Cookie', ['a=1', 'b=2']).end()
  })
  const { headers } = await outgoingFor(t).call.http.get(url)
  assert.deepEqual([headers['x-one'], headers['set-cookie']], ['a', 'a=1, b=2'])
})

test('an answer above the limit is not read to its end, with or without its length announced', async (t) => {
  const announced = await httpServer(t, (_request, answer) => answer.end(Buffer.alloc(1001)))
  const chunked = await httpServer(t, (_request, answer) => {
    // The body never ends, so only the limit stops the reading.
    const more = () => void answer.write(Buffer.alloc(400), (error) => error ?? more())
    more()
  })
  const { call } = outgoingFor(t)
  for (const { url } of [announced, chunked]) {
    assert.deepEqual(await failure(call.http.get(url, {}, { maxBytes: 1000 })), tooLarge)
  }
  assert.equal((await call.http.get(announced.url, {}, { maxBytes: 1001 })).body.length, 1001)
})

test('an announced length above the limit is refused before the body arrives', async (t) => {
  const { url } = await rawServer(t, (socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1048577\r\n\r\n'))
  })
  assert.deepEqual(await failure(outgoingFor(t).call.http.get(url)), tooLarge)
})

test('endless headers are refused', async (t) => {
  const { url } = await rawServer(t, (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const more = () =>
        void socket.write(`x-more: ${'y'.repeat(1000)}\r\n`, (error) => error ?? more())
      more()
    })
  })
  assert.deepEqual(await failure(outgoingFor(t).call.http.get(url)), tooLarge)
})

test('a compressed answer is read, and the limit holds for its decompressed size', async (t) => {
  const compress = {
    gzip: gzipSync,
    'x-gzip': gzipSync,
    deflate: deflateSync,
    br: brotliCompressSync,
  }
  for (const [encoding, pack] of Object.entries(compress)) {
    const small = pack(Buffer.from('{"ok":true}'))
    const bomb = pack(Buffer.alloc(8 * 1024 * 1024))
    assert.ok(bomb.length < 20_000)
    const { url } = await httpServer(t, (request, answer) => {
      answer.setHeader('content-encoding', encoding).end(request.url === '/bomb' ? bomb : small)
    })
    const { call } = outgoingFor(t)
    assert.deepEqual((await call.http.get(`${url}/small`)).json(), { ok: true }, encoding)
    assert.deepEqual(await failure(call.http.get(`${url}/bomb`)), tooLarge, encoding)
  }
})

test('an answer with broken compression is lost, not guessed', async (t) => {
  const packed = gzipSync('{"ok":true}')
  const cases: readonly [string, Buffer][] = [
    ['gzip', packed.subarray(0, packed.length - 6)],
    ['gzip', Buffer.from('{"ok":true}')],
    ['gzip, gzip', gzipSync(packed)],
    ['constructor', Buffer.from('{}')],
  ]
  for (const [encoding, body] of cases) {
    const { url } = await httpServer(t, (_request, answer) =>
      answer.setHeader('content-encoding', encoding).end(body),
    )
    assert.deepEqual(
      await failure(outgoingFor(t).call.http.get(url)),
      { code: 'reset', wroteBytes: true },
      encoding,
    )
  }
})

test('a body that is not JSON fails without being quoted', async (t) => {
  const { url } = await httpServer(t, (_request, answer) =>
    answer.writeHead(502).end('<html>secret</html>'),
  )
  const answer = await outgoingFor(t).call.http.get(url)
  assert.throws(
    () => answer.json(),
    (error: Error) => {
      assert.equal(error.message, 'The answer is not JSON (status 502, 19 bytes).')
      assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /html|secret/)
      return true
    },
  )
})

test('an error quotes nothing of the request or the answer', async (t) => {
  const { url } = await rawServer(t, (socket) => {
    socket.once('data', () =>
      socket.end('HTTP/1.1 200 OK\r\nx-canary: canary\r\ncontent-length: 99\r\n\r\ncanary'),
    )
  })
  const { call } = outgoingFor(t)
  const headers = { authorization: 'canary' }
  const work = call.http.post(`${url}/?a=canary`, { a: 'canary' }, { headers, moves: true })
  await assert.rejects(work, (error: Error) => {
    assert.equal(error.name, 'HttpError')
    assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /canary/)
    return true
  })
})
