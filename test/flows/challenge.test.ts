/** Shoppers are authenticated by the simulated issuer, on its page, over HTTP. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Hosted, startHost } from '../host/http/hosted.ts'
import { browser } from '../rig/authenticator.ts'
import { flat, until } from '../rig/gateway.ts'

type Answer = {
  readonly id: string
  readonly result: { readonly code: string }
  readonly threeDSecure?: Readonly<Record<string, string>>
  readonly redirect?: {
    readonly url: string
    readonly preconditions?: readonly { readonly url: string; readonly method: string }[]
  }
}

const publicUrl = 'https://pay.example'
const shop = 'https://shop.example/thanks'

describe('3-D Secure by the simulated issuer', () => {
  let host: Hosted
  before(async () => {
    host = await startHost({}, { publicUrl, role: 'all' })
    await host.gateway.entities.configure(host.channel, { threeDSecure: 'on' })
  })
  after(() => host.close())

  const pay = async (number: string, more: Record<string, string> = {}) => {
    const response = await fetch(`${host.url}/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${host.token}` },
      body: new URLSearchParams({
        amount: '92.00',
        currency: 'EUR',
        paymentType: 'DB',
        paymentBrand: number.startsWith('5') ? 'MASTER' : 'VISA',
        'card.number': number,
        'card.holder': 'Jane Jones',
        'card.expiryMonth': '05',
        'card.expiryYear': '2034',
        shopperResultUrl: shop,
        ...flat(browser),
        ...more,
      }),
    })
    return (await response.json()) as Answer
  }
  const read = async (id: string) => {
    const headers = { authorization: `Bearer ${host.token}` }
    const response = await fetch(`${host.url}/v1/payments/${id}`, { headers })
    return (await response.json()) as Answer
  }
  const here = (address: string) => address.replace(publicUrl, host.url)
  const submit = (page: string, form: Record<string, string>) =>
    fetch(page, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })
  /** Types the code on the issuer's page, comes back, and reads the payment. */
  const challenged = async (number: string, form: Record<string, string>) => {
    const { id, redirect, result } = await pay(number)
    assert.equal(result.code, '000.200.000', number)
    const sent = await submit(here(redirect!.url), form)
    assert.equal(sent.status, 303)
    const back = await fetch(here(sent.headers.get('location')!), { redirect: 'manual' })
    assert.equal(back.status, 303)
    assert.ok(back.headers.get('location')?.startsWith(`${shop}?id=${id}`))
    return read(id)
  }

  for (const [number, code, status, eci] of [
    ['4200000000000091', '000.100.110', 'Y', '05'],
    ['5200000000000007', '000.100.110', 'Y', '02'],
    ['4200000000000109', '000.100.110', 'A', '06'],
    ['5200000000000106', '000.100.110', 'A', '01'],
    ['4012001037461114', '100.390.112', 'U', undefined],
    ['4012001037141112', '100.380.401', 'N', undefined],
    ['4532497088771651', '000.100.110', 'U', undefined],
    ['4200000000000000', '000.100.110', 'U', undefined],
  ] as const) {
    test(`${number} ends with ${code} at once, with status ${status}`, async () => {
      const { result, threeDSecure } = await pay(number)
      assert.equal(result.code, code)
      assert.equal(threeDSecure?.authenticationStatus, status)
      assert.equal(threeDSecure?.eci, eci)
      assert.equal(threeDSecure?.version, '2.2.0')
    })
  }

  test('a card that takes no part says so beside its status', async () => {
    const { threeDSecure } = await pay('4532497088771651')
    assert.equal(threeDSecure?.transactionStatusReason, '13')
  })

  for (const [code, expected, status] of [
    ['1234', '000.100.110', 'Y'],
    ['2222', '000.100.110', 'A'],
    ['3333', '100.380.401', 'N'],
    ['4444', '100.380.401', 'R'],
    ['5555', '100.390.112', 'U'],
  ] as const) {
    test(`the code ${code} on the issuer's page ends with ${expected}`, async () => {
      const { result, threeDSecure } = await challenged('4200000000000018', { do: 'confirm', code })
      assert.equal(result.code, expected)
      assert.equal(threeDSecure?.authenticationStatus, status)
    })
  }

  test('a cancelled challenge ends with 100.396.101', async () => {
    const { result } = await challenged('4200000000000018', { do: 'cancel' })
    assert.equal(result.code, '100.396.101')
  })

  test('an issuer may decline after a challenge', async () => {
    const confirm = { do: 'confirm', code: '1234' }
    assert.equal((await challenged('4000008400001629', confirm)).result.code, '800.100.152')
    assert.equal((await challenged('4000008260003178', confirm)).result.code, '800.100.155')
    assert.equal((await challenged('4000002500003155', confirm)).result.code, '000.100.110')
  })

  test('a card with a device step has a precondition, and works with and without it', async () => {
    for (const visits of [true, false]) {
      const { id, redirect } = await pay('4200000000000042')
      const [step] = redirect?.preconditions ?? []
      assert.equal(step?.method, 'POST')
      if (visits) {
        assert.equal((await submit(here(step!.url), { threeDSMethodData: 'e30' })).status, 200)
      }
      const sent = await submit(here(redirect!.url), { do: 'confirm', code: '1234' })
      await fetch(here(sent.headers.get('location')!), { redirect: 'manual' })
      assert.equal((await read(id)).result.code, '000.100.110')
    }
    assert.equal((await pay('4200000000000018')).redirect?.preconditions, undefined)
  })

  test('three wrong codes refuse the shopper', async () => {
    const { id, redirect } = await pay('4200000000000018')
    const page = here(redirect!.url)
    for (const left of ['2', '1']) {
      const again = await submit(page, { do: 'confirm', code: '0000' })
      assert.equal(again.headers.get('location'), `./${page.slice(page.lastIndexOf('/') + 1)}`)
      const text = await (await fetch(page)).text()
      assert.match(text, new RegExp(`Attempts left: ${left}`))
      assert.match(text, /aria-invalid="true" aria-describedby="note hint"/)
    }
    const sent = await submit(page, { do: 'confirm', code: '0000' })
    await fetch(here(sent.headers.get('location')!), { redirect: 'manual' })
    const { result, threeDSecure } = await read(id)
    assert.equal(result.code, '100.380.401')
    assert.equal(threeDSecure?.authenticationStatus, 'N')
  })

  test('parameters enrol any card and choose its way', async () => {
    const enrolled = 'customParameters[3DS2_enrolled]'
    const flow = 'customParameters[3DS2_flow]'
    const card = '4711100000000000'
    const codeOf = async (more: Record<string, string>) => (await pay(card, more)).result.code
    assert.equal((await pay(card, { [enrolled]: 'true' })).threeDSecure?.authenticationStatus, 'Y')
    assert.equal(await codeOf({ [flow]: 'frictionless' }), '000.100.110')
    assert.equal(await codeOf({ [flow]: 'challenge' }), '000.200.000')
    assert.equal(
      (await pay('4200000000000091', { 'threeDSecure.challengeIndicator': '04' })).result.code,
      '000.200.000',
    )
  })

  test('a challenge without an answer ends after SIM_TIMEOUT seconds with 100.380.501', async () => {
    const { id, redirect } = await pay('4200000000000018', {
      'customParameters[SIM_TIMEOUT]': '1',
    })
    assert.equal((await read(id)).result.code, '000.200.000')
    const ended = async () => ((await read(id)).result.code === '000.200.000' ? undefined : true)
    await until(ended)
    assert.equal((await read(id)).result.code, '100.380.501')
    const page = here(redirect!.url)
    assert.equal((await submit(page, { do: 'confirm', code: '1234' })).status, 303)
    assert.match(await (await fetch(page)).text(), /The time to confirm is over/)
    assert.equal((await read(id)).result.code, '100.380.501')
  })
})
