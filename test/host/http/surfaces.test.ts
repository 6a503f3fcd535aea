/** The surfaces of a host and their hostnames. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { createHost } from '../../../host/index.ts'
import { endpoints, officeEndpoints } from '../../../schemas/index.ts'
import { enrol, logIn, office, password } from '../../rig/operators.ts'
import { ask, type Hosted, startHost } from './hosted.ts'

const zeros = '0'.repeat(32)
const filled = (path: string) => path.replaceAll(/\{[^}]+\}/g, zeros)

/** A request under a chosen Host header, which fetch does not allow. */
function under(
  url: string,
  host: string,
  path: string,
  { headers = {}, body }: { headers?: Readonly<Record<string, string>>; body?: string } = {},
) {
  const sent = { method: body === undefined ? 'GET' : 'POST', headers: { Host: host, ...headers } }
  return new Promise<{ status: number; text: string; cookie: string }>((resolve, reject) => {
    const asked = request(url + path, sent, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => {
        const cookie = response.headers['set-cookie']?.[0] ?? ''
        resolve({ status: response.statusCode ?? 0, text, cookie })
      })
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

describe('surfaces', () => {
  let host: Hosted
  before(async () => {
    host = await startHost({ surfaces: ['merchant'] }, { passwordLogRounds: 8 })
  })
  after(() => host.close())

  test('a merchant host has no path of operators, in any spelling', async () => {
    const nowhere = await ask(host.url, '/nowhere')
    for (const { method, path } of officeEndpoints) {
      for (const spelled of [
        filled(path),
        `/${filled(path)}`,
        filled(path).replace('/v1', '/V1'),
      ]) {
        const answer = await office(host.url, spelled, method === 'POST' ? { values: {} } : {})
        assert.equal(answer.status, 404, spelled)
        assert.equal(answer.body.result.description, nowhere.body.result.description)
      }
    }
  })

  test('an office host has no path of merchants and answers health checks', async () => {
    const served = createHost(host.gateway, { port: 0, surfaces: ['office'] })
    const { url, close } = await served.listen()
    try {
      for (const { method, path, operation } of endpoints) {
        const { status } = await ask(url, filled(path), { method, token: host.token })
        if (operation.startsWith('health.')) assert.equal(status, 200, path)
        else assert.equal(status, 404, path)
      }
      const ann = await enrol(host.gateway, 'ann', 'viewer')
      assert.equal((await logIn(url, ann)).status, 200)
    } finally {
      await close()
    }
  })

  test('the hostname of one surface has no paths of another', async () => {
    const served = createHost(host.gateway, {
      port: 0,
      surfaces: ['merchant', 'fields', 'office'],
      origins: {
        merchant: 'https://pay.example.com',
        fields: 'https://fields.example.com',
        office: 'https://office.example.com',
      },
    })
    const { url, close } = await served.listen()
    try {
      for (const [name, path, status] of [
        ['pay.example.com', '/v1/resultcodes', 200],
        ['pay.example.com', '/operator/v1/session', 404],
        ['office.example.com', '/operator/v1/session', 401],
        ['OFFICE.example.com', '/operator/v1/session', 401],
        ['office.example.com', '/v1/resultcodes', 404],
        ['fields.example.com', '/v1/resultcodes', 404],
        ['fields.example.com', '/operator/v1/session', 404],
        ['fields.example.com', '/healthz', 200],
        ['10.0.0.7:8080', '/v1/resultcodes', 200],
        ['pay.example.com:443', '/operator/v1/session', 404],
        ['pay.example.com:8443', '/operator/v1/session', 404],
        ['pay.example.com.', '/operator/v1/session', 404],
        ['PAY.example.com.:443', '/operator/v1/session', 404],
        ['fields.example.com:443', '/v1/resultcodes', 404],
        ['pay.example.com.:443', '/v1/resultcodes', 200],
        ['office.example.com:443', '/v1/resultcodes', 404],
        ['office.example.com.', '/v1/resultcodes', 404],
        ['office.example.com.:443', '/operator/v1/session', 401],
        ['10.0.0.7:8080', '/operator/v1/session', 404],
        ['whatever.example', '/operator/v1/session', 404],
        ['', '/operator/v1/session', 404],
      ] as const) {
        assert.equal((await under(url, name, path)).status, status, `${name} ${path}`)
      }
      const bob = await enrol(host.gateway, 'bob', 'viewer')
      // Behind a proxy that ends TLS, the cookie is one for browsers over HTTPS.
      const office = 'office.example.com'
      const login = await under(url, office, '/operator/v1/login', {
        headers: { Origin: `https://${office}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ name: bob.name, password, recoveryCode: bob.recoveryCodes[0] }),
      })
      assert.equal(login.status, 200, login.text)
      assert.match(
        login.cookie,
        /^__Host-tollgate-operator=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
      )
      // A cookie without the prefix, which a neighbouring host could have set, is ignored.
      const kept = login.cookie.split(';', 1)[0] ?? ''
      const seen = (cookie: string) =>
        under(url, office, '/operator/v1/session', { headers: { Cookie: cookie } })
      assert.equal((await seen(kept.replace('__Host-', ''))).status, 401)
      assert.equal((await seen(kept)).status, 200)
    } finally {
      await close()
    }
  })

  test('an origin over plain HTTP is refused beyond loopback', () => {
    for (const origin of [
      'http://office.example.com',
      'http://10.0.0.1',
      'https://o.example/path',
      'ftp://x',
    ]) {
      assert.throws(
        () => createHost(host.gateway, { surfaces: ['office'], origins: { office: origin } }),
        /origin of the surface office/,
        origin,
      )
    }
  })

  test('an office reached from other machines over plain HTTP accepts no login', async () => {
    const served = createHost(host.gateway, { port: 0, host: '0.0.0.0', surfaces: ['office'] })
    const { url, close } = await served.listen()
    try {
      const local = url.replace('0.0.0.0', '127.0.0.1')
      const login = await office(local, '/operator/v1/login', { values: { name: 'ann', password } })
      assert.equal(login.status, 403)
      assert.match(login.body.result.description, /TOLLGATE_OFFICE_URL/)
    } finally {
      await close()
    }
  })
})
