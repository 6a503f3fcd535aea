/** The surfaces of a host and their hostnames. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import {
  createGateway,
  type GatewayOptions,
  localKeys,
  unfitFieldsUrl,
} from '../../../core/index.ts'
import { surfaceContradictions } from '../../../host/config/surface-settings.ts'
import { createHost } from '../../../host/index.ts'
import { endpoints, officeEndpoints } from '../../../schemas/index.ts'
import { testKey } from '../../rig/gateway.ts'
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

/** Refused before the database is asked. */
const gatewayWith = (more: Pick<GatewayOptions, 'environment' | 'fieldsUrl' | 'publicUrl'>) =>
  createGateway({
    database: { url: 'postgres://127.0.0.1:1/none' },
    keys: localKeys(testKey),
    plugins: [],
    ...more,
  })

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

  test('under the name of card fields a path is open for the methods of shoppers alone', async () => {
    const origins = { merchant: 'https://pay.example.com', fields: 'https://fields.example.com' }
    const served = createHost(host.gateway, { port: 0, origins })
    const { url, close } = await served.listen()
    const headers = { Authorization: `Bearer ${host.token}` }
    const status = async (name: string, path: string, body?: string) =>
      (await under(url, name, path, { headers, ...(body === undefined ? {} : { body }) })).status
    try {
      const form = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }
      const { id } = (await ask(url, '/v1/checkouts', { token: host.token, form })).body
      for (const path of [`/v1/checkouts/${id}/payment`, `/checkouts/${id}/payment`]) {
        assert.equal(await status('fields.example.com', path), 404)
        assert.equal(await status('pay.example.com', path), 200)
        assert.equal(await status('fields.example.com', path, 'nonce=x'), 200)
      }
      assert.equal(await status('fields.example.com', `/v1/checkouts/${id}/registration`), 404)
    } finally {
      await close()
    }
  })

  test('card fields have an origin of their own, or none is set', async () => {
    const publicUrl = 'https://pay.example.com'
    for (const fieldsUrl of [
      publicUrl,
      'https://PAY.example.com:443',
      'https://pay.example.com.',
      `${publicUrl}/fields`,
      'ftp://fields.example.com',
    ]) {
      for (const environment of ['test', 'live'] as const) {
        const said = { environment, role: 'api', fourEyes: false, publicUrl, fieldsUrl }
        const [problem = ''] = surfaceContradictions(said)
        assert.match(problem, /^TOLLGATE_FIELDS_URL is/, fieldsUrl)
        await assert.rejects(
          gatewayWith({ environment, publicUrl, fieldsUrl }),
          /fieldsUrl (is|must)/,
        )
      }
      const origins = { merchant: publicUrl, fields: fieldsUrl }
      assert.throws(() => createHost(host.gateway, { origins }), /origins\.fields/)
    }
    const same = unfitFieldsUrl(
      { environment: 'live', fieldsUrl: publicUrl, publicUrl },
      { fieldsUrl: 'one', publicUrl: 'another' },
    )
    assert.match(same ?? '', /^one is .* another/)
    const plain = { environment: 'live', fieldsUrl: 'http://fields.example.com' } as const
    await assert.rejects(gatewayWith(plain), /must begin with https:\/\//)
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
        /origin of the surface office|origins\.office/,
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
