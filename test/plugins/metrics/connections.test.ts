/** Nobody keeps Prometheus away from the metrics, and no web page reads them through a browser. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, test } from 'node:test'
import { serveMetrics } from '../../../plugins/metrics/server.ts'

const most = 64
const page = { type: 'text/plain', text: 'up 1\n' }

describe('connections to the metrics', () => {
  const open = new Set<Socket>()
  let close = async () => {}
  afterEach(async () => {
    for (const socket of open) socket.destroy()
    open.clear()
    await close()
  })

  async function serve(answer: () => Promise<typeof page> = async () => page): Promise<URL> {
    const server = await serveMetrics(
      { host: '127.0.0.1', port: 0 },
      new Map([['/metrics', answer]]),
    )
    close = server.close
    return new URL(server.url)
  }
  async function connected(url: URL): Promise<Socket> {
    const socket = connect(Number(url.port), url.hostname)
    open.add(socket)
    socket.on('error', () => {})
    await once(socket, 'connect')
    return socket
  }
  /** Status of one scrape on a connection of its own; the code of the error when it was closed. */
  const scrape = (url: URL, headers: Readonly<Record<string, string>> = {}) =>
    new Promise<number | string | undefined>((done) => {
      const sent = request(url, { agent: false, headers }, (response) => {
        response.resume().on('end', () => done(response.statusCode))
      })
      sent.on('error', (error: NodeJS.ErrnoException) => done(error.code))
      sent.end()
    })

  test('silent ones make room for a scrape, the oldest first', async () => {
    const url = await serve()
    const silent: Socket[] = []
    for (let count = 0; count < most; count += 1) silent.push(await connected(url))
    const closed = once(silent[0]!.resume(), 'close')
    assert.equal(await scrape(url), 200)
    await closed
    for (let count = 0; count < most; count += 1) await connected(url)
    assert.equal(await scrape(url), 200)
    // The last one in the queue was never the oldest.
    const [last] = [...open].slice(-1)
    last!.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const [answer] = (await once(last!, 'data')) as [Buffer]
    assert.match(answer.toString(), /^HTTP\/1\.1 200 /)
  })

  test('each serves one request', async () => {
    const url = await serve()
    const socket = await connected(url)
    socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(2))
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    await once(socket, 'close')
    assert.equal(text.match(/HTTP\/1\.1 200 /g)?.length, 1)
    assert.match(text, /^Connection: close\r$/m)
  })

  test('one with a request under way stays, and the newest is closed where all have one', async () => {
    const collected = Promise.withResolvers<typeof page>()
    const allAsk = Promise.withResolvers<void>()
    let asked = 0
    const url = await serve(() => {
      asked += 1
      if (asked === most) allAsk.resolve()
      return collected.promise
    })
    const scrapes = Array.from({ length: most }, () => scrape(url))
    await allAsk.promise
    assert.equal(await scrape(url), 'ECONNRESET')
    collected.resolve(page)
    assert.deepEqual(new Set(await Promise.all(scrapes)), new Set([200]))
    assert.equal(await scrape(url), 200)
  })

  test('only a request that names this machine is served on a loopback address', async () => {
    const url = await serve()
    const named = (host: string) => scrape(url, { Host: host })
    for (const host of [url.host, 'localhost', 'LOCALHOST:9464', '[::1]:9464', '127.0.0.1']) {
      assert.equal(await named(host), 200, host)
    }
    for (const host of ['evil.example', 'evil.example:9464', 'localhost.evil.example']) {
      assert.equal(await named(host), 421, host)
    }
  })
})
