/** A shopper is authenticated by the simulated issuer in a process of its own, in mode EXTERNAL. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import simulatorHttp from '../../connectors/simulator/http-connector.ts'
import { type RunningSimulator, startSimulator } from '../../connectors/simulator/server.ts'
import { browser } from '../rig/authenticator.ts'
import { closeChecked } from '../rig/books.ts'
import { startGateway, type TestGateway } from '../rig/gateway.ts'

const publicUrl = 'https://pay.example'

describe('3-D Secure over HTTP', () => {
  let run: TestGateway
  let server: RunningSimulator
  before(async () => {
    server = await startSimulator()
    const config = { url: server.url }
    run = await startGateway({
      publicUrl,
      plugins: [simulatorHttp],
      connectors: { 'simulator-http': config, 'simulator-http-3ds': config },
    })
    const { entities } = run.gateway
    await entities.configure(run.channel, { threeDSecure: 'on' })
    const settings = { merchantId: 'shop', secret: server.secret }
    for (const connector of ['simulator-http', 'simulator-http-3ds']) {
      await entities.createAccount({
        channelId: run.channel,
        connector,
        mode: 'EXTERNAL',
        settings,
      })
    }
  })
  after(async () => {
    await closeChecked(run)
    await server.close()
  })

  const pay = (number: string) =>
    run.pay({
      paymentType: 'DB',
      paymentBrand: 'VISA',
      card: { number, holder: 'Jane Jones', expiryMonth: '05', expiryYear: '2034', cvv: '735' },
      testMode: 'EXTERNAL',
      shopperResultUrl: 'https://shop.example/thanks',
      ...browser,
    })
  const redirectOf = (view: object) => (view as { redirect: { url: string } }).redirect

  test('a shopper confirms on the page of the server, and pays', async () => {
    const view = await pay('4200000000000042')
    assert.equal(view.result.code, '000.200.000')
    const { url } = redirectOf(view)
    assert.ok(url.startsWith(`${server.url}/challenge/`))
    const body = new URLSearchParams({ do: 'confirm', code: '1234' })
    const sent = await fetch(url, { method: 'POST', body, redirect: 'manual' })
    const [id = '', token = ''] = (sent.headers.get('location') ?? '').split('/').slice(-2)
    assert.equal(id, view.id)
    await run.gateway.shoppers.cameBack(id, token, { method: 'GET', query: {}, form: {} })
    const paid = await run.gateway.payments.get(id)
    assert.equal(paid.result.code, '000.100.112')
    const [entry, ...others] = server.ledger().entries
    assert.equal(entry?.paymentId, id)
    assert.equal(others.length, 0)
  })

  test('an authentication without a challenge pays at once, and its proof is kept nowhere', async () => {
    const view = await pay('4200000000000091')
    assert.equal(view.result.code, '000.100.112')
    const [found] = server
      .authentications()
      .filter(({ status }) => status === 'Y')
      .slice(-1)
    const headers = { authorization: `Bearer ${server.secret}`, 'x-merchant-id': 'shop' }
    const answer = await fetch(`${server.url}/authentications?key=${found!.key}`, { headers })
    const { verificationId } = (await answer.json()) as { verificationId: string }
    assert.equal(verificationId.length, 28)
    const steps = JSON.stringify(await run.gateway.payments.steps(view.id))
    assert.match(steps, /authenticate/)
    assert.ok(!steps.includes(verificationId))
    assert.ok(!JSON.stringify(view).includes(verificationId))
  })
})
