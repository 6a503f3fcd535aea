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
function under(url: string, host: string, path: string, method = 'GET') {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const asked = request(url + path, { method, headers: { Host: host } }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asked.on('error', reject)
    asked.end()
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
      ] as const) {
        assert.equal((await under(url, name, path)).status, status, `${name} ${path}`)
      }
      const bob = await enrol(host.gateway, 'bob', 'viewer')
      // Behind a proxy that ends TLS, the cookie is one for browsers over HTTPS.
      const headers = { Origin: 'https://office.example.com' }
      const login = await office(url, '/operator/v1/login', {
        values: { name: bob.name, password, recoveryCode: bob.recoveryCodes[0] },
        headers,
      })
      assert.equal(login.status, 200, login.text)
      assert.match(
        login.headers.get('set-cookie') ?? '',
        /^__Host-tollgate-operator=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
      )
      // A cookie without the prefix, which a neighbouring host could have set, is ignored.
      const planted = login.cookie.replace('__Host-', '')
      assert.equal((await office(url, '/operator/v1/session', { cookie: planted })).status, 401)
      const kept = await office(url, '/operator/v1/session', { cookie: login.cookie })
      assert.equal(kept.status, 200)
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
