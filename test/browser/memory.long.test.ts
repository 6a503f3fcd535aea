/** The heap of a process after a checkout: neither its card number nor its security code. */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import simulator from '../../connectors/simulator/index.ts'
import { createGateway, localKeys } from '../../core/index.ts'
import { type Ground, layGround, own } from '../attacks/ground.ts'
import type { Host } from '../attacks/host.ts'
import { cardNumber } from '../attacks/payments.ts'
import { freePort } from '../rig/free-port.ts'
import { testKey } from '../rig/gateway.ts'
import { newContext } from './support/browser.ts'
import { html, type Served, serve } from './support/servers.ts'

const digits = (count: number) =>
  Array.from({ length: count }, () => String(randomInt(10))).join('')

describe('the memory of a host', () => {
  let ground: Ground
  let host: Host
  let shop: Served
  before(async () => {
    ground = await layGround()
    const gateway = await createGateway({
      database: { url: ground.databaseUrl },
      plugins: [simulator],
      environment: 'test',
      keys: localKeys(testKey),
      role: 'api',
      migrate: false,
    })
    await gateway.entities.configure(own.channel, { threeDSecure: 'on' })
    await gateway.close()
    shop = await serve('localhost', () =>
      html('<!doctype html><title>Shop</title>Back in the shop'),
    )
    const port = await freePort()
    host = await ground.another({
      PORT: String(port),
      TOLLGATE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    })
  })
  after(async () => {
    await host?.close()
    await shop?.close()
    await ground?.close()
  })

  const heap = async (): Promise<string> => {
    const path = join(ground.folder, 'checkout.heapsnapshot')
    await host.snapshot(path)
    const text = readFileSync(path, 'latin1')
    rmSync(path)
    return text
  }
  const holdsNumber = (text: string, number: string) =>
    text.replaceAll(/(?<=[0-9])[ -](?=[0-9])/g, '').includes(number)
  /** As a whole text, or behind its name in a form or in JSON. */
  const holdsCode = (text: string, code: string) =>
    text.includes(`"${code}"`) || new RegExp(`cvv[^a-z0-9]{1,9}${code}(?![0-9])`, 'i').test(text)
  const isApproved = async (id: string) => {
    const state = await (await fetch(`${host.url}/v1/checkouts/${id}/state`)).json()
    return (state as { state: string }).state === 'paid'
  }

  test('a challenge holds the code, and the end of the checkout leaves neither code nor number', async () => {
    const number = cardNumber(`37${digits(12)}`)
    const before = await heap()
    // Four digits that are no text of their own before.
    const known = new Set([...before.matchAll(/"([0-9]{4})"/g)].map(([, text]) => text))
    const codes = Array.from({ length: 10_000 }, (_, at) => String(at).padStart(4, '0'))
    const rare = codes.filter((text) => !known.has(text))
    const code = rare[randomInt(rare.length)]!
    assert.equal(holdsCode(before, code), false)
    // The simulator holds this number as a text of its rules.
    assert.ok(holdsNumber(before, '4200000000000018'), 'the search finds numbers')
    assert.equal(holdsNumber(before, number), false)
    const made = await fetch(`${host.url}/v1/checkouts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ground.tokens[0]}` },
      body: new URLSearchParams({
        ...{ entityId: own.channel, amount: '92.00', currency: 'EUR', paymentType: 'DB' },
        shopperResultUrl: `${shop.origin}/thanks`,
        ...{ 'billing.street1': 'Main Street 1', 'billing.city': 'London' },
        ...{ 'billing.postcode': 'SW1A 1AA', 'billing.country': 'GB' },
        ...{
          'customParameters[3DS2_enrolled]': 'true',
          'customParameters[3DS2_flow]': 'challenge',
        },
      }),
    })
    const { id } = (await made.json()) as { id: string }
    const context = await newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${host.url}/v1/checkouts/${id}/page?brands=AMEX`)
    await page.getByLabel('Card number').fill(number)
    await page.getByLabel('Expiry date').fill('05/34')
    await page.getByLabel('Security code').fill(code)
    await page.getByLabel('Name on card').fill('Jane Jones')
    await page.getByRole('button', { name: 'Pay' }).click()
    const field = page.locator('input[autocomplete=one-time-code]')
    await field.waitFor()
    const held = await heap()
    assert.ok(holdsCode(held, code), 'the code is held for the payment after the challenge')
    await field.fill('1234')
    await page.locator('form:has(input[autocomplete=one-time-code]) button').first().click()
    await page.getByText('Back in the shop').waitFor()
    assert.equal(await isApproved(id), true)
    await context.close()
    const left = await heap()
    assert.equal(holdsNumber(left, number), false, 'the number is gone')
    assert.equal(holdsCode(left, code), false, 'the code is gone')
  })
})
