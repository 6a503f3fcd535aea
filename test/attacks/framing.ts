import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Attack, AttackRun } from './attack.ts'
import { judgeProcess } from './fuzz.ts'
import { own } from './ground.ts'
import { wrongWith } from './judge.ts'
import { debitFields, pay } from './payments.ts'
import { exchange, formBytes, get, open, post, requestBytes } from './wire.ts'

// Far above any answer time on a busy machine, so that only a hanging connection exceeds it.
const withinMs = 60_000

/** A host with short time-outs for unfinished requests. */
const impatient = async ({ ground }: AttackRun) => {
  const host = await ground.another({
    TOLLGATE_HEADERS_TIMEOUT_MS: '1000',
    TOLLGATE_REQUEST_TIMEOUT_MS: '2000',
  })
  return { ...host, [Symbol.asyncDispose]: () => host.close() }
}

/** A payment hidden in a body or behind the end of a request, which must never be made. */
const hidden = (token: string, reference: string) =>
  post('/v1/payments', token, {
    ...debitFields,
    entityId: own.channel,
    merchantTransactionId: reference,
  }).toString('latin1')

/** Headers whose request ends differently for different readers, or never. */
const ambiguous: readonly (readonly string[])[] = [
  ['Content-Length: 5', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked', 'Content-Length: 5'],
  ['Content-Length: 5', 'Content-Length: 6'],
  ['Content-Length: 5', 'Content-Length: 5'],
  ['Content-Length: 5, 5'],
  ['Content-Length: 5,6'],
  ['Content-Length: +5'],
  ['Content-Length: -5'],
  ['Content-Length: 0x5'],
  ['Content-Length: 5 5'],
  ['Content-Length: 5;'],
  ['Content-Length: 99999999999999999999999'],
  ['Content-Length: \u00a05'],
  ['Content-Length : 5'],
  ['Content-Length\t: 5'],
  [' Content-Length: 5'],
  ['X: y', ' Content-Length: 5', 'Transfer-Encoding: chunked'],
  ['Content-Length:'],
  ['Transfer-Encoding: xchunked'],
  ['Transfer-Encoding: chunked, identity'],
  ['Transfer-Encoding: identity, chunked', 'Content-Length: 5'],
  ['Transfer-Encoding: chunked', 'Transfer-Encoding: x'],
  ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
  ['Transfer-Encoding: gzip, chunked', 'Content-Length: 5'],
  ['Transfer-Encoding : chunked', 'Content-Length: 5'],
  ['Transfer-Encoding:\u000bchunked', 'Content-Length: 5'],
  ['Transfer-Encoding:\n chunked', 'Content-Length: 5'],
  ['X: y\nTransfer-Encoding: chunked', 'Content-Length: 5'],
  ['X: y\rTransfer-Encoding: chunked', 'Content-Length: 5'],
  ['Transfer-Encoding: "chunked"', 'Content-Length: 5'],
  ['transfer-encoding: CHUNKED', 'content-length: 5'],
  ['Transfer\u0000-Encoding: chunked', 'Content-Length: 5'],
]

/** Malformed chunks: sizes, extensions and ends that readers interpret differently. */
const chunks: readonly string[] = [
  '5\r\nhello\r\n0\r\n\r\n',
  '0\r\n\r\n',
  '0x5\r\nhello\r\n0\r\n\r\n',
  '+5\r\nhello\r\n0\r\n\r\n',
  '-1\r\n\r\n',
  '5 \r\nhello\r\n0\r\n\r\n',
  '5;a="\n"\r\nhello\r\n0\r\n\r\n',
  '5\nhello\n0\n\n',
  '5\r\nhelloXX0\r\n\r\n',
  'ffffffffffffffffff\r\nhello\r\n0\r\n\r\n',
  'fffffffffffffff0\r\nhello\r\n0\r\n\r\n',
  '00000000000000000000005\r\nhello\r\n0\r\n\r\n',
  '0\r\nContent-Length: 5\r\n\r\n',
  '0\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n',
  '\r\n5\r\nhello\r\n0\r\n\r\n',
]

export const smuggling: Attack = {
  name: 'smuggling',
  title: 'requests with two ends, and a payment hidden behind one of them',
  async run(run) {
    await using host = await impatient(run)
    const { url } = host
    const token = run.ground.tokens[0]!
    let tried = 0
    let closed = 0
    const references: string[] = []
    const under: Promise<void>[] = []
    const attempt = (...given: Parameters<typeof attemptOne>) =>
      void under.push(attemptOne(...given))
    const attemptOne = async (
      what: string,
      head: readonly string[],
      rest: (hide: string) => string,
    ) => {
      tried += 1
      const reference = `smuggled-${tried}`
      references.push(reference)
      const text = `${head.join('\r\n')}\r\n\r\n${rest(hidden(token, reference))}`
      const { answers, closed: ended } = await exchange(url, Buffer.from(text, 'latin1'), withinMs)
      if (ended) closed += 1
      else run.find(`${what}: the connection hangs`, text)
      for (const answer of answers) {
        const wrong = wrongWith(answer)
        if (wrong !== undefined) run.find(`${what}: ${wrong}`, text)
      }
      if (answers.length === 0) run.find(`${what}: no answer`, text)
      // Either the request is refused and the connection ends, or all following bytes are its body.
      if (answers.length > 1) run.find(`${what}: ${answers.length} answers to one request`, text)
    }
    await seesWhatIsThere(run, url, token)
    const start = ['POST /v1/payments HTTP/1.1', 'Host: x', `Authorization: Bearer ${token}`]
    for (const headers of ambiguous) {
      const isChunked = headers.some((header) => /chunked/i.test(header))
      const what = headers.join(' | ')
      attempt(what, [...start, ...headers], (hide) =>
        isChunked ? `0\r\n\r\n${hide}` : `hello${hide}`,
      )
    }
    for (const chunk of chunks.slice(2)) {
      const head = [...start, 'Transfer-Encoding: chunked', 'Connection: close']
      attempt(`chunk ${JSON.stringify(chunk)}`, head, (hide) => chunk + hide)
    }
    for (const line of [
      'POST  /v1/payments HTTP/1.1',
      'POST /v1/payments  HTTP/1.1',
      'POST /v1/payments HTTP/1.1 ',
      'POST /v1/payments HTTP/9.9',
      'POST /v1/payments',
      'POST\t/v1/payments\tHTTP/1.1',
      'POST /v1/payments\u0000 HTTP/1.1',
      'post /v1/payments HTTP/1.1',
      ' POST /v1/payments HTTP/1.1',
    ]) {
      attempt(
        line,
        [line, ...start.slice(1), 'Content-Length: 0', 'Connection: close'],
        (hide) => hide,
      )
    }
    // A whole request that closes the connection: later bytes belong to no request.
    attempt(
      'behind Connection: close',
      [...start, 'Content-Length: 0', 'Connection: close'],
      (hide) => hide,
    )
    await Promise.all(under)
    const made = await run.ground.sql<{ reference: string }>(
      'select merchant_transaction_id as reference from tollgate.payment where merchant_transaction_id = any($1)',
      [references],
    )
    for (const { reference } of made) run.find('a hidden payment was made', reference)
    return { spellings: tried, closed, 'payments made': made.length }
  },
}

/** Two requests without a trick: both are answered, and the payment is found. */
async function seesWhatIsThere(run: AttackRun, url: string, token: string): Promise<void> {
  const bytes = get('/v1/resultcodes').toString() + hidden(token, 'not-smuggled')
  const { answers } = await exchange(url, bytes, withinMs, 2)
  const rows = await run.ground.sql(
    "select id from tollgate.payment where merchant_transaction_id = 'not-smuggled'",
  )
  if (answers.length !== 2 || rows.length !== 1)
    run.find('the attack cannot detect a payment', bytes)
}

export const oversized: Attack = {
  name: 'oversized',
  title: 'headers, paths, bodies and compressed bodies beyond every limit',
  async run(run) {
    await using host = await impatient(run)
    const token = run.ground.tokens[0]!
    const before = await host.measure()
    const cases: readonly (readonly [what: string, bytes: Buffer])[] = [
      ...headerCases(token),
      ...bodyCases(token),
      ...(await bombs(token)),
    ]
    let refused = 0
    const sent = cases.map(async ([what, bytes]) => {
      const { answers, closed } = await exchange(host.url, bytes, withinMs)
      const shown = `${bytes.length} bytes: ${bytes.toString('latin1', 0, 300)}`
      if (!closed) run.find(`${what}: the connection hangs`, shown)
      const [answer] = answers
      if (answer === undefined) run.find(`${what}: no answer`, shown)
      else if (answer.status === 200) run.find(`${what}: accepted`, shown)
      else {
        const wrong = wrongWith(answer)
        if (wrong === undefined) refused += 1
        else run.find(`${what}: ${wrong}`, shown)
      }
    })
    await Promise.all(sent)
    judgeProcess(run, before, await host.measure())
    const unread = await deaf(run, host.url)
    // Measured while the connections are open, because they must hold little memory.
    const after = await host.measure()
    judgeProcess(run, before, after)
    unread.end()
    await pay(host.url, token, { entityId: own.channel })
    return {
      requests: cases.length,
      refused,
      'asked without reading': unread.asked,
      'longest delay ms': after.longestDelayMs,
      'peak MB': Math.round(after.peakBytes / 1e6),
    }
  },
}

function headerCases(token: string): [string, Buffer][] {
  const long = (size: number) => 'a'.repeat(size)
  const lines = Array.from({ length: 4000 }, (_, index) => `X-${index}: y`)
  const head = `GET /v1/payments HTTP/1.1\r\nHost: x\r\n`
  return [
    ['a header of 17 KB', Buffer.from(`${head}X: ${long(17_000)}\r\n\r\n`)],
    ['a header of 2 MB', Buffer.from(`${head}X: ${long(2_000_000)}\r\n\r\n`)],
    ['4,000 headers', Buffer.from(`${head}${lines.join('\r\n')}\r\n\r\n`)],
    ['2,500 short headers', Buffer.from(`${head}${'a:\r\n'.repeat(2500)}\r\n`)],
    ['a path of 20 KB', get(`/v1/payments/${long(20_000)}`, token)],
    ['a query of 15 KB', get(`/v1/payments/${'0'.repeat(32)}?a=${long(15_000)}`, token)],
    ['a token of 15 KB', get(`/v1/payments/${'0'.repeat(32)}`, long(15_000))],
    ['a method of 1 MB', Buffer.from(`${long(1_000_000)} / HTTP/1.1\r\n\r\n`)],
  ]
}

function bodyCases(token: string): [string, Buffer][] {
  const megabytes = 2 * 1024 * 1024 + 1
  const authorization = [['Authorization', `Bearer ${token}`]] as const
  const announced = (length: string) =>
    Buffer.from(
      `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\na=b`,
    )
  const chunk = `100000\r\n${'a'.repeat(0x100000)}\r\n`
  const chunked = `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nTransfer-Encoding: chunked\r\n\r\n`
  return [
    [
      'a body of 2 MiB and a byte',
      requestBytes('POST', '/v1/payments', authorization, Buffer.alloc(megabytes, 97)),
    ],
    [
      'the same without a token',
      requestBytes('POST', '/v1/payments', [], Buffer.alloc(megabytes, 97)),
    ],
    [
      'the same to a path that is not there',
      requestBytes('POST', '/nothing', [], Buffer.alloc(megabytes, 97)),
    ],
    ['9 PB announced', announced('9007199254740991')],
    ['chunks without end', Buffer.from(chunked + chunk.repeat(12))],
    [
      'a million parameters',
      requestBytes('POST', '/v1/payments', authorization, Buffer.from('a=1&'.repeat(1_000_000))),
    ],
    [
      'a list of a million',
      requestBytes(
        'POST',
        '/v1/payments',
        [...authorization, ['Content-Type', 'application/json']],
        Buffer.from(`{"a":[${'1,'.repeat(1_000_000)}1]}`),
      ),
    ],
    [
      'JSON a million deep',
      requestBytes(
        'POST',
        '/v1/payments',
        [...authorization, ['Content-Type', 'application/json']],
        Buffer.from('['.repeat(1_000_000)),
      ),
    ],
    [
      'an event of 9 MB',
      requestBytes(
        'POST',
        '/connectors/simulator/internal/events',
        [],
        Buffer.alloc(9_000_000, 97),
      ),
    ],
  ]
}

/**
 * 16 MB of blanks compressed to 16 KB, or to a few bytes when compressed twice, under every
 * encoding name.
 */
async function bombs(token: string): Promise<[string, Buffer][]> {
  const blanks = Buffer.alloc(16 * 1024 * 1024, 0x20)
  const packed = {
    gzip: gzipSync(blanks),
    deflate: deflateSync(blanks),
    br: brotliCompressSync(blanks.subarray(0, 1 << 20)),
  }
  const twice = gzipSync(packed.gzip)
  const named: [string, Buffer][] = [
    ['gzip', packed.gzip],
    ['GZIP', packed.gzip],
    ['x-gzip', packed.gzip],
    ['gzip, gzip', twice],
    ['identity, gzip', packed.gzip],
    ['gzip;q=1', packed.gzip],
    ['deflate', packed.deflate],
    ['br', packed.br],
    ['zstd', packed.br],
    ['compress', packed.br],
    ['aes128gcm', formBytes(debitFields)],
  ]
  return named.map(([encoding, bytes]) => [
    `Content-Encoding: ${encoding}`,
    requestBytes(
      'POST',
      '/v1/payments',
      [
        ['Authorization', `Bearer ${token}`],
        ['Content-Type', 'application/x-www-form-urlencoded'],
        ['Content-Encoding', encoding],
      ],
      bytes,
    ),
  ])
}

const deafConnections = 20
const deafRequests = 2_000

/** Requests the largest document repeatedly and reads nothing: answers must not accumulate. */
async function deaf(run: AttackRun, url: string): Promise<{ asked: number; end(): void }> {
  const requests = Buffer.concat(new Array<Buffer>(deafRequests).fill(get('/openapi.json')))
  const sockets = Array.from({ length: deafConnections }, () => {
    const socket = open(url).pause()
    socket.on('error', () => {})
    socket.write(requests)
    return socket
  })
  // Ten honest payments go through meanwhile, so that the server has had time to answer.
  for (let times = 0; times < 10; times += 1) {
    await pay(url, run.ground.tokens[1]!, { entityId: own.channel })
  }
  return {
    asked: deafConnections * deafRequests,
    end() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
