import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { until } from '../../rig/gateway.ts'
import {
  answersIn,
  ask,
  debit,
  exchange,
  type Hosted,
  paymentText,
  startHost,
  underWay,
} from './hosted.ts'

describe('connections', () => {
  let host: Hosted

  before(async () => {
    const limits = { headersTimeoutMs: 300, requestTimeoutMs: 600 }
    host = await startHost({ limits })
  })
  after(() => host.close())

  /** Every malformed connection gets one answer in the usual shape and is closed. */
  const refusedOnce = (description: RegExp, ...parts: string[]): Promise<void> =>
    refusedWith(400, description, ...parts)

  async function refusedWith(
    status: number,
    description: RegExp,
    ...parts: string[]
  ): Promise<void> {
    const text = await exchange(host.url, ...parts)
    const answers = answersIn(text)
    assert.equal(answers.length, 1, text)
    assert.equal(answers[0]?.status, status)
    assert.equal(answers[0]?.body.result.code, '200.100.103')
    assert.match(answers[0]?.body.result.description ?? '', description)
    assert.match(answers[0]?.body.ndc ?? '', /^[0-9a-f]{32}$/)
    assert.doesNotMatch(text, /\bat .*\.ts|HPE_|node:/)
  }

  test('bytes that are not HTTP are refused', async () => {
    await refusedOnce(/no HTTP request/, 'garbage\r\n\r\n')
    await refusedOnce(/no HTTP request/, '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\r\n')
    await refusedOnce(/no HTTP request/, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    await refusedOnce(/no HTTP request/, 'BREW /v1/payments HTTP/1.1\r\nHost: x\r\n\r\n')
    await refusedOnce(/no HTTP request/, 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')
  })

  test('headers above 16 KiB are refused, also when far more is sent', async () => {
    const head = 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: '
    await refusedOnce(/larger than 16384/, `${head}${'a'.repeat(17_000)}\r\n\r\n`)
    await refusedOnce(/larger than 16384/, `${head}${'a'.repeat(500_000)}\r\n\r\n`)
  })

  test('a request without a Host header, or with two, is refused', async () => {
    await refusedOnce(/Host header is missing/, 'GET /healthz HTTP/1.1\r\n\r\n')
    await refusedOnce(/more than one Host/, 'GET /healthz HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n')
    await refusedOnce(/more than one Host/, 'GET /healthz HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n')
  })

  test('a request with two lengths, or with a length and chunks, is refused', async () => {
    const { token } = host
    await refusedOnce(/no HTTP request/, paymentText(token, debit, 'Content-Length: 5'))
    await refusedOnce(/no HTTP request/, paymentText(token, debit, 'Transfer-Encoding: chunked'))
    const counted = await host.sql('select from tollgate.payment')
    assert.equal(counted.length, 0)
  })

  test('a chunk without a length is refused', async () => {
    const head = `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${host.token}\r\nTransfer-Encoding: chunked\r\n\r\n`
    await refusedOnce(/no HTTP request/, `${head}zz\r\n`)
  })

  test('headers and bodies that never end are given up', async () => {
    await refusedWith(408, /in time/, 'GET /healthz HTTP/1.1\r\nHost: x\r\n')
    const whole = paymentText(host.token, debit)
    await refusedWith(408, /in time/, whole.slice(0, -10))
    await refusedWith(408, /in time/, paymentText('unknown-token', debit).slice(0, -10))
  })

  test('a connection on which nothing was ever sent ends without an answer', async () => {
    assert.equal(await exchange(host.url), '')
    const answered = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
    const text = await exchange(host.url, `${answered}GET /healthz HTTP/1.1\r\nHost: x\r\n`)
    assert.deepEqual(
      answersIn(text).map(({ status }) => status),
      [200, 408],
      'part of a later request is one that is too slow',
    )
  })

  test('a payment keeps its answer when malformed bytes follow on the same connection', async () => {
    const slow = { ...debit, 'customParameters[SIM_DELAY_MS]': '200' }
    const text = await exchange(host.url, `${paymentText(host.token, slow)}rubbish rubbish\r\n\r\n`)
    const answers = answersIn(text)
    assert.equal(answers.length, 1, text)
    assert.equal(answers[0]?.status, 200)
    assert.equal(answers[0]?.body.result.code, '000.100.110')
  })

  test('a client that leaves does not stop its payment', async () => {
    const { hostname, port } = new URL(host.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const form = {
      ...debit,
      merchantTransactionId: 'left-early',
      'customParameters[SIM_DELAY_MS]': '300',
    }
    socket.write(paymentText(host.token, form))
    const id = await underWay(host, 'left-early')
    socket.destroy()
    await host.event(id, 'payment.approved')
    const read = await ask(host.url, `/v1/payments/${id}`, { token: host.token })
    assert.equal(read.body.result.code, '000.100.110')
  })

  test('a request cut off by its client has no effect', async () => {
    const { hostname, port } = new URL(host.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const form = { ...debit, merchantTransactionId: 'only-half' }
    const from = host.lines.length
    socket.write(paymentText(host.token, form).slice(0, -10))
    socket.resume().end()
    await once(socket, 'close')
    // A later request is answered only after the earlier one was handled.
    await ask(host.url, '/v1/payments', { token: host.token, form: debit })
    const rows = await host.sql(
      "select from tollgate.payment where merchant_transaction_id = 'only-half'",
    )
    assert.equal(rows.length, 0)
    assert.equal(host.lines.slice(from).filter(({ status }) => status === 200).length, 1)
  })

  test('an unknown expectation is ignored', async () => {
    const text = paymentText(host.token, debit, 'Expect: miracles', 'Connection: close')
    const [answer] = answersIn(await exchange(host.url, text))
    assert.equal(answer?.status, 200)
  })

  const question = 'GET /v1/resultcodes HTTP/1.1\r\nHost: x\r\n'

  test('thirty-two requests at once on one connection are answered in their order', async () => {
    const last = `${question}Connection: close\r\n\r\n`
    const text = await exchange(host.url, `${question}\r\n`.repeat(31) + last)
    const answers = answersIn(text)
    assert.equal(answers.length, 32)
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  })

  test('a connection with more requests ends, and those whose bodies were read are still carried out', async () => {
    const form = { ...debit, 'customParameters[SIM_DELAY_MS]': '200' }
    const payments = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) =>
        paymentText(host.token, { ...form, merchantTransactionId: `${name}-${index}` }),
      ).join('')
    const begun = (name: string) =>
      host.sql<{ id: string }>(
        'select id from tollgate.payment where merchant_transaction_id like $1',
        [`${name}-%`],
      )
    assert.equal(await exchange(host.url, payments('at-once', 40)), '')
    // A later honest request is answered only after those before it were handled.
    await ask(host.url, '/v1/payments', { token: host.token, form })
    assert.ok((await begun('at-once')).length <= 32)
    let ids: { id: string }[] = []
    const more = async () => {
      ids = await until(async () => {
        const found = await begun('overrun')
        return found.length === 32 ? found : undefined
      })
      return payments('over', 40)
    }
    await exchange(host.url, payments('overrun', 32), more)
    for (const { id } of ids) await host.event(id, 'payment.approved')
    assert.equal(ids.length, 32)
  })

  test('clients that send much and read nothing cannot keep others out', async () => {
    const small = await startHost({ limits: { connections: 2, silenceMs: 500 } })
    try {
      await answeredAfterSilence(small)
    } finally {
      await small.close()
    }
  })

  async function answeredAfterSilence(small: Hosted): Promise<void> {
    const { hostname, port } = new URL(small.url)
    const deaf = await Promise.all(
      [0, 1].map(async () => {
        const socket = connect(Number(port), hostname)
        // More than the buffers of both sides hold.
        socket.write('GET /reference HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(32))
        await once(socket, 'data')
        return socket.pause()
      }),
    )
    const health = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    assert.equal(await exchange(small.url, health), '', 'both connections are in use')
    const [answer] = await until(async () => {
      const answers = answersIn(await exchange(small.url, health))
      return answers.length > 0 ? answers : undefined
    })
    assert.equal(answer?.status, 200)
    for (const socket of deaf) socket.destroy()
  }
})

describe('places of connections', () => {
  /** Idle connections from one address, and how many of them are still open. */
  async function idle(url: string, localAddress: string, count: number) {
    const port = Number(new URL(url).port)
    const open = new Set<Socket>()
    for (let no = 0; no < count; no += 1) {
      const socket = connect({ port, host: '127.0.0.1', localAddress })
      socket.on('error', () => {})
      socket.once('close', () => open.delete(socket))
      await once(socket, 'connect')
      open.add(socket)
    }
    return open
  }
  const served = async (url: string) => (await ask(url, '/healthz', {})).status

  test('one address holds its share, and the one that waits longest gives its place up', async () => {
    const host = await startHost({ limits: { connections: 100, connectionsPerAddress: 5 } })
    try {
      const open = await idle(host.url, '127.0.0.2', 12)
      await until(async () => open.size === 5 || undefined)
      const working = exchange(host.url, paymentText(host.token, debit, 'Connection: close'))
      assert.equal(await served(host.url), 200)
      assert.match(await working, /200 OK/)
      for (const socket of open) socket.destroy()
    } finally {
      await host.close()
    }
  })

  test('a connection for which there is no place is closed, and raises an alarm', async () => {
    const host = await startHost({ limits: { connections: 100, connectionsPerAddress: 1 } })
    try {
      const alarms = () => host.logs.filter(({ fields }) => fields.alarm === 'connections')
      const whole = paymentText(host.token, debit, 'Expect: 100-continue')
      const [busy] = await idle(host.url, '127.0.0.2', 1)
      busy!.write(whole.slice(0, -10))
      await once(busy!, 'data')
      const more = await idle(host.url, '127.0.0.2', 1)
      await until(async () => more.size === 0 || undefined)
      const { subject, limit, most } = alarms()[0]!.fields
      assert.deepEqual([subject, limit, most], ['127.0.0.2', 'connectionsPerAddress', 1])
      busy!.destroy()
    } finally {
      await host.close()
    }
  })

  test('of a full server, the address with the most connections gives one up', async () => {
    const host = await startHost({ limits: { connections: 10, connectionsPerAddress: 100 } })
    try {
      const many = await idle(host.url, '127.0.0.2', 8)
      const few = await idle(host.url, '127.0.0.3', 2)
      assert.equal(await served(host.url), 200)
      await until(async () => many.size === 7 || undefined)
      assert.equal(few.size, 2)
      for (const socket of [...many, ...few]) socket.destroy()
    } finally {
      await host.close()
    }
  })

  test('requests that never come whole do not hold all places of a server', async () => {
    const host = await startHost({ limits: { connections: 8, connectionsPerAddress: 2 } })
    try {
      const held: Set<Socket>[] = []
      for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']) {
        held.push(await idle(host.url, address, 2))
      }
      for (const socket of held.flatMap((sockets) => [...sockets])) {
        socket.write('POST /v1/payments HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n')
        socket.write('Content-Length: 9\r\n\r\n')
        await once(socket, 'data')
      }
      assert.equal(await served(host.url), 200)
      for (const socket of held.flatMap((sockets) => [...sockets])) socket.destroy()
    } finally {
      await host.close()
    }
  })

  test('answers that are never read do not hold all places of a server, and a slow answer keeps its place', async () => {
    const host = await startHost({ limits: { connections: 9, connectionsPerAddress: 3 } })
    try {
      const slow = { ...debit, 'customParameters[SIM_DELAY_MS]': '6000' }
      let isPaid = false
      const paying = exchange(host.url, paymentText(host.token, slow, 'Connection: close'))
      void paying.finally(() => {
        isPaid = true
      })
      const held: Socket[] = []
      for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']) {
        for (const socket of await idle(host.url, address, 2)) {
          // More than the buffers of both sides hold.
          socket.write('GET /reference HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(32))
          await once(socket, 'data')
          held.push(socket.pause())
        }
      }
      await until(async () => (await served(host.url).catch(() => undefined)) === 200 || undefined)
      assert.equal(isPaid, false, 'the place was that of an answer that nobody reads')
      assert.match(await paying, /200 OK/)
      for (const socket of held) socket.destroy()
    } finally {
      await host.close()
    }
  })

  test('the connections of a declared proxy are those of many clients', async () => {
    const host = await startHost({
      trustedProxy: ['loopback'],
      limits: { connections: 100, connectionsPerAddress: 5 },
    })
    try {
      const open = await idle(host.url, '127.0.0.2', 12)
      assert.equal(await served(host.url), 200)
      assert.equal(open.size, 12)
      for (const socket of open) socket.destroy()
    } finally {
      await host.close()
    }
  })
})
