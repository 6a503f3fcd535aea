/** Authentications over HTTP: the answer, the pages between two steps of the issuer, and the proof. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { definePlugin } from '@tollgate/plugin-kit'
import { browser, confirmed, scriptedAuthenticator, secretProof } from '../../rig/authenticator.ts'
import { flat, simulatorWithoutIssuer } from '../../rig/gateway.ts'
import { type Hosted, startHost } from './hosted.ts'

type Answer = {
  readonly id: string
  readonly paymentType: string
  readonly result: { readonly code: string }
  readonly redirect?: { readonly url: string; readonly preconditions?: readonly object[] }
  readonly threeDSecure?: { readonly verificationId?: string }
}

const device = {
  origin: 'https://issuer.example',
  waitUntil: 'iframe#onload',
  method: 'POST' as const,
  url: 'https://issuer.example/device',
  parameters: [{ name: 'threeDSMethodData', value: 'abc' }],
}

describe('authentications over HTTP', () => {
  const scripted = scriptedAuthenticator()
  let host: Hosted
  before(async () => {
    const plugin = definePlugin({
      name: 'three',
      contract: 1,
      authenticators: [scripted.authenticator],
    })
    host = await startHost(
      {},
      { publicUrl: 'https://pay.example', plugins: [plugin], simulator: simulatorWithoutIssuer() },
    )
    await host.gateway.entities.configure(host.channel, { threeDSecure: 'on' })
  })
  after(() => host.close())

  const headers = () => ({ authorization: `Bearer ${host.token}` })
  const authenticate = async (reference: string) => {
    const response = await fetch(`${host.url}/v1/threeDSecure`, {
      method: 'POST',
      headers: headers(),
      body: new URLSearchParams({
        amount: '92.00',
        currency: 'EUR',
        paymentBrand: 'VISA',
        'card.number': '4200000000000000',
        'card.expiryMonth': '05',
        'card.expiryYear': '2034',
        shopperResultUrl: 'https://shop.example/thanks',
        merchantTransactionId: reference,
        ...flat(browser),
      }),
    })
    return { status: response.status, body: (await response.json()) as Answer }
  }
  const read = async (id: string) => {
    const response = await fetch(`${host.url}/v1/threeDSecure/${id}`, { headers: headers() })
    return { status: response.status, body: (await response.json()) as Answer }
  }
  const wayBack = (reference: string) => {
    const call = scripted.calls.find((one) => one.reference === reference)
    return `${host.url}${new URL(call!.request.returnUrl!).pathname}`
  }

  test('an authentication at once is answered with its proof, which reads ask again', async () => {
    const { status, body } = await authenticate('http-at-once')
    assert.equal(status, 200)
    assert.equal(body.paymentType, '3D')
    assert.equal(body.threeDSecure?.verificationId, secretProof)
    const again = await read(body.id)
    assert.equal(again.body.threeDSecure?.verificationId, secretProof)
    assert.equal((await read('0'.repeat(32))).status, 404)
    assert.ok(!JSON.stringify(host.lines).includes(secretProof))
  })

  test('a token without the right to charge gets no proof', async () => {
    const { body } = await authenticate('http-rights')
    const { token } = await host.gateway.entities.createToken(host.channel, 'reader', {
      rights: ['read'],
    } as never)
    const response = await fetch(`${host.url}/v1/threeDSecure/${body.id}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(response.status, 403)
    assert.ok(!(await response.text()).includes(secretProof))
  })

  test('after the device step the browser is sent to the challenge by a form of its own', async () => {
    let step = 0
    const challenge = {
      url: 'https://issuer.example/challenge?a=1&b="2"',
      method: 'POST' as const,
      parameters: [{ name: 'creq', value: '<"creq">' }],
    }
    scripted.tell('http-two-steps', {
      authenticate: () => ({
        is: 'shopper',
        next: { redirect: { url: 'https://issuer.example/start', preconditions: [device] } },
      }),
      complete: () => {
        step += 1
        return step === 1 ? { is: 'shopper', next: { redirect: challenge } } : confirmed()
      },
    })
    const { body } = await authenticate('http-two-steps')
    assert.equal(body.result.code, '000.200.000')
    assert.deepEqual(body.redirect?.preconditions, [device])
    const page = await fetch(wayBack('http-two-steps'), { method: 'POST', redirect: 'manual' })
    assert.equal(page.status, 200)
    const html = await page.text()
    assert.ok(html.includes('value="&#60;&#34;creq&#34;&#62;"'))
    assert.ok(html.includes('action="https://issuer.example/challenge?a=1&#38;b='))
    const policy = page.headers.get('content-security-policy') ?? ''
    assert.match(policy, /form-action https:\/\/issuer\.example;/)
    assert.match(policy, /script-src 'sha256-[A-Za-z0-9+/]{43}='/)
    assert.match(policy, /frame-ancestors 'none'/)
    const end = await fetch(wayBack('http-two-steps'), { redirect: 'manual' })
    assert.equal(end.status, 303)
    assert.match(end.headers.get('location') ?? '', /^https:\/\/shop\.example\/thanks\?id=/)
    assert.equal((await read(body.id)).body.threeDSecure?.verificationId, secretProof)
  })

  test('a challenge by GET is a redirect', async () => {
    let step = 0
    scripted.tell('http-by-get', {
      authenticate: () => ({
        is: 'shopper',
        next: { redirect: { url: 'https://issuer.example/1' } },
      }),
      complete: () => {
        step += 1
        const parameters = [{ name: 'creq', value: 'a b' }]
        return step === 1
          ? {
              is: 'shopper',
              next: { redirect: { url: 'https://issuer.example/2?x=1', parameters } },
            }
          : confirmed()
      },
    })
    await authenticate('http-by-get')
    const page = await fetch(wayBack('http-by-get'), { redirect: 'manual' })
    assert.equal(page.status, 303)
    assert.equal(page.headers.get('location'), 'https://issuer.example/2?x=1&creq=a+b')
  })
})
