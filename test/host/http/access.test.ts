/** Access to a host: addresses, proxies, and the end of tokens. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type ConnectionOptions, connect } from 'node:tls'
import { limits } from '../../../schemas/index.ts'
import { selfSigned } from '../../core/net/certificate.ts'
import { scratchFolder } from '../../rig/cluster.ts'
import { inScope } from '../../rig/scope.ts'
import { type Body, debit, type Hosted, startHost } from './hosted.ts'

/** What a busy machine adds. */
const toleratedMs = inScope(15_000, 2_000)

describe('tokens that end while their reader waits', () => {
  let host: Hosted
  before(async () => {
    host = await startHost()
  })
  after(() => host.close())

  test('a wait ends within seconds of its token and shows no later event', async () => {
    const { id, token } = await host.gateway.entities.createToken(host.channel, 'to be revoked')
    const get = async (path: string) => {
      const headers = { authorization: `Bearer ${token}` }
      const answer = await fetch(host.url + path, { headers })
      return { status: answer.status, body: (await answer.json()) as Body }
    }
    const { body: start } = await get('/v1/events?since=NOW')
    const startedMs = performance.now()
    const waiting = get(`/v1/events?cursor=${String(start.nextCursor)}&wait=30`)
    await host.gateway.entities.revokeToken(id)
    const { status, body } = await waiting
    assert.equal(status, 403)
    assert.equal(body.result.code, '800.900.300')
    const tookMs = performance.now() - startedMs
    assert.ok(
      tookMs < limits.tokenCacheMs + 2 * limits.waitingTokenMs + toleratedMs,
      `${tookMs} ms`,
    )
  })

  test('a wait ends with its token also when an event happens at that moment', async () => {
    const { id, token } = await host.gateway.entities.createToken(host.channel, 'to be revoked')
    const headers = { authorization: `Bearer ${token}` }
    const start = (await (
      await fetch(`${host.url}/v1/events?since=NOW`, { headers })
    ).json()) as Body
    const waiting = fetch(`${host.url}/v1/events?cursor=${String(start.nextCursor)}&wait=30`, {
      headers,
    })
    await host.gateway.entities.revokeToken(id)
    // A second reader shows how long a token is trusted; then an event happens.
    const probe = fetch(`${host.url}/v1/events?cursor=${String(start.nextCursor)}&wait=30`, {
      headers,
    })
    assert.equal((await probe).status, 403)
    await fetch(`${host.url}/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${host.token}` },
      body: new URLSearchParams(debit),
    })
    const answer = await waiting
    assert.equal(answer.status, 403)
    assert.doesNotMatch(await answer.text(), /"events"/)
  })
})

describe('a host behind a proxy', () => {
  let host: Hosted
  before(async () => {
    host = await startHost({ proxyOnly: true, trustedProxy: ['127.0.0.2'] })
  })
  after(() => host.close())

  /** Sends a request from an address of this machine. */
  async function from(localAddress: string, path: string, method = 'GET') {
    const asked = request(host.url + path, {
      method,
      localAddress,
      headers: { authorization: `Bearer ${host.token}`, 'x-forwarded-for': '127.0.0.2' },
    }).end(method === 'POST' ? new URLSearchParams(debit).toString() : undefined)
    const [answer] = await once(asked, 'response')
    let text = ''
    for await (const chunk of answer) text += chunk
    return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(text) as Body }
  }

  test('a host behind a proxy takes requests of the proxy', async () => {
    assert.equal((await from('127.0.0.2', '/v1/payments', 'POST')).status, 200)
  })

  test('a host behind a proxy refuses all other requests in a sentence, whatever their headers say', async () => {
    const paths = [
      '/v1/events',
      '/openapi.json',
      '/connectors/simulator/internal/events',
      '/nothing',
    ]
    for (const path of [...paths, '//healthz/', '/healthz/x']) {
      for (const method of ['GET', 'POST']) {
        const { status, body, headers } = await from('127.0.0.1', path, method)
        assert.equal(status, 403, `${method} ${path}`)
        assert.equal(body.result.code, '600.300.200')
        assert.match(body.result.description, /declared proxies.*TOLLGATE_TRUSTED_PROXY/)
        assert.equal(headers.connection, 'close')
      }
    }
    assert.equal((await from('127.0.0.1', '/healthz', 'POST')).status, 403)
  })

  test('a host behind a proxy answers health checks to anybody', async () => {
    for (const path of ['/healthz', '/readyz'])
      assert.equal((await from('127.0.0.1', path)).status, 200)
  })
})

describe('a host with a certificate', () => {
  let host: Hosted
  let folder: string
  let ca: string
  before(async () => {
    folder = await mkdtemp(join(scratchFolder(), 'tollgate-tls-'))
    const { key, cert } = selfSigned('localhost')
    ca = cert
    const tls = { certificateFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') }
    await writeFile(tls.certificateFile, cert)
    await writeFile(tls.keyFile, key)
    host = await startHost({ tls })
  })
  after(async () => {
    await host.close()
    await rm(folder, { recursive: true })
  })

  /** The agreed cipher suite, or the error. */
  async function agreed(options: ConnectionOptions): Promise<string> {
    const port = Number(new URL(host.url).port)
    const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca, ...options })
    try {
      await once(socket, 'secureConnect')
      return `${socket.getProtocol()} ${socket.getCipher().name}`
    } catch (error) {
      return String((error as { code?: string }).code)
    } finally {
      socket.destroy()
    }
  }

  test('a host with a certificate agrees on keys for one connection only', async () => {
    assert.match(await agreed({}), /^TLSv1\.3 TLS_/)
    const old = { maxVersion: 'TLSv1.2' } as const
    assert.match(await agreed(old), /^TLSv1\.2 ECDHE-.*(?:GCM|POLY1305)/)
    const weak = 'DEFAULT@SECLEVEL=0'
    for (const ciphers of [
      'AES128-GCM-SHA256',
      'AES256-GCM-SHA384',
      'AES256-SHA',
      'ECDHE-ECDSA-AES128-SHA',
      'ECDHE-ECDSA-AES256-SHA384',
    ]) {
      assert.match(await agreed({ ...old, ciphers: `${ciphers}:@SECLEVEL=0` }), /^E/, ciphers)
    }
    for (const maxVersion of ['TLSv1.1', 'TLSv1'] as const) {
      assert.match(
        await agreed({ minVersion: 'TLSv1', maxVersion, ciphers: weak }),
        /^E/,
        maxVersion,
      )
    }
  })
})
