/** Unread answers take bounded memory, and their connections end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createHost, type HostOptions } from '../../../host/index.ts'
import { until } from '../../rig/gateway.ts'
import { answersIn, ask, debit, exchange, type Hosted, startHost } from './hosted.ts'

describe('unread answers', () => {
  let run: Hosted
  before(async () => {
    run = await startHost()
    const large = Object.fromEntries(
      Array.from({ length: 30 }, (_, no) => [`customParameters[par${no}]`, 'x'.repeat(2_000)]),
    )
    for (let no = 0; no < 40; no += 1) {
      const { status } = await ask(run.url, '/v1/payments', {
        token: run.token,
        form: { ...debit, ...large },
      })
      assert.equal(status, 200)
    }
  })
  after(() => run.close())

  const page = '/v1/events?limit=500'

  async function serving(
    options: HostOptions,
    work: (url: string) => Promise<void>,
  ): Promise<void> {
    const { url, close } = await createHost(run.gateway, {
      port: 0,
      shutdownGraceMs: 0,
      ...options,
    }).listen()
    try {
      await work(url)
    } finally {
      await close()
    }
  }

  /** Sends requests and never reads. */
  async function unread(
    url: string,
    path: string,
    times: number,
    from: { readonly localAddress?: string; readonly token?: string } = { token: run.token },
  ): Promise<Socket> {
    const { localAddress, token } = from
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress })
    socket.on('error', () => {})
    socket.pause()
    await once(socket, 'connect')
    const login = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n${login}\r\n`
    socket.write(request.repeat(times))
    return socket
  }

  test('a client that reads no answers is turned away, and others are served', async () => {
    const bytes = 5_000_000
    await serving({ answers: { bytes: 64_000_000, clientBytes: bytes } }, async (url) => {
      const sockets: Socket[] = []
      const refused = await until(async () => {
        sockets.push(await unread(url, page, 32))
        const answer = await ask(url, page, { token: run.token })
        return answer.status === 429 ? answer : undefined
      })
      assert.equal(refused.headers.get('retry-after'), '1')
      assert.match(refused.body.result.description, /read the answers that are on their way to you/)
      const { token } = await run.gateway.entities.createToken(run.division, 'other')
      assert.equal((await ask(url, page, { token })).status, 200)
      const paid = await ask(url, '/v1/payments', { token: run.token, form: debit })
      assert.equal(paid.status, 200)
      for (const socket of sockets) socket.destroy()
      await until(async () =>
        (await ask(url, page, { token: run.token })).status === 200 ? true : undefined,
      )
    })
  })

  test('answers beyond the total memory are 503, documents included', async () => {
    await serving({ answers: { bytes: 20_000 } }, async (url) => {
      for (const path of [page, '/reference', '/openapi.json']) {
        const answer = await ask(url, path, { token: run.token })
        assert.equal(answer.status, 503, path)
        assert.equal(answer.headers.get('retry-after'), '1')
      }
    })
  })

  test('strangers who read nothing leave clients their room, and one address leaves others theirs', async () => {
    await serving({ answers: { bytes: 8_000_000 } }, async (url) => {
      const sockets: Socket[] = []
      const open = async (last: number) => {
        const localAddress = `127.0.0.${last}`
        for (let no = 0; no < 10; no += 1) {
          sockets.push(await unread(url, '/openapi.json', 32, { localAddress }))
        }
      }
      await open(2)
      assert.equal((await ask(url, '/openapi.json', {})).status, 200)
      for (let last = 3; last < 14; last += 1) await open(last)
      await until(async () => (await ask(url, '/openapi.json', {})).status === 503 || undefined)
      assert.equal((await ask(url, page, { token: run.token })).status, 200)
      for (const socket of sockets) socket.destroy()
    })
  })

  test('a connection with a stalled answer is ended', async () => {
    await serving({ answers: { silenceMs: 40 } }, async (url) => {
      const sockets = await Promise.all([unread(url, page, 32), unread(url, '/reference', 32)])
      await Promise.all(
        sockets.map(async (socket) => {
          // A client that does not read notices the end by a failed write.
          await until(async () => {
            if (!socket.destroyed) socket.write('\r\n')
            return socket.destroyed ? true : undefined
          })
        }),
      )
    })
  })

  test('simultaneous pages on one connection follow one after the other, whole', async () => {
    const request = (last: string) =>
      `GET ${page} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${run.token}\r\n${last}\r\n`
    const text = await exchange(run.url, request('').repeat(4) + request('Connection: close\r\n'))
    const answers = answersIn(text)
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    )
  })
})
