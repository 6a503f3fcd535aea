/** An acquirer that sends the shopper to a page of its own after her issuer has authenticated her. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { contractVersion, definePlugin, pending } from '@tollgate/plugin-kit'
import { createAuthenticator, createSimulator } from '../../connectors/simulator/index.ts'
import { approvedAs } from '../rig/acquirer.ts'
import { newContext } from './support/browser.ts'
import { type RealGateway, realGateway } from './support/real-gateway.ts'
import { html, type Served, serve } from './support/servers.ts'
import { openShop, type Shop } from './support/shop.ts'
import { challengeFrame, fillCard, pay } from './support/shopper.ts'

describe('a page of the acquirer after a challenge', () => {
  let bank: Served
  let gateway: RealGateway
  let shop: Shop
  let checkoutId = ''
  before(async () => {
    bank = await serve('localhost', ({ url = '' }) => {
      const back = new URL(url, bank.origin).searchParams.get('back') ?? ''
      return html(`<!doctype html><title>Bank</title><a href="${back}">Confirm</a>`, {
        'X-Frame-Options': 'DENY',
      })
    })
    const simulator = createSimulator()
    const plugin = definePlugin({
      name: 'simulator',
      contract: contractVersion,
      connectors: [
        {
          ...simulator,
          debit: async ({ returnUrl = '' }, context) => {
            context.sending()
            const parameters = [{ name: 'back', value: returnUrl }]
            const url = `${bank.origin}/confirm`
            return pending(
              { redirect: { url, method: 'GET', parameters } },
              { refs: { bank: 'b' } },
            )
          },
          complete: async (operation) => approvedAs(operation),
        },
      ],
      authenticators: [createAuthenticator()],
      pages: simulator.pages,
    })
    gateway = await realGateway({ simulator: plugin })
    await gateway.host.gateway.entities.configure(gateway.host.channel, { threeDSecure: 'on' })
    shop = await openShop(() => gateway.scriptOf(checkoutId))
  })
  after(async () => {
    await Promise.all([shop?.close(), gateway?.close(), bank?.close()])
  })

  test('takes the whole tab, and leads back to the result page', async () => {
    checkoutId = (await gateway.checkout()).id
    shop.show({})
    const context = await newContext()
    const page = await context.newPage()
    await page.goto(shop.address)
    await fillCard(page, { number: '4200000000000018' })
    await pay(page)
    const issuer = challengeFrame(page).frameLocator('.bank')
    await issuer.getByRole('textbox').fill('1234')
    await issuer.getByRole('button').first().click()
    await page.waitForURL((address) => address.origin === bank.origin)
    assert.equal(page.frames().length, 1)
    await page.getByRole('link', { name: 'Confirm' }).click()
    await page.waitForURL(/\/result/)
    const { result } = await gateway.result(checkoutId)
    assert.match(result.code, /^000\.100\.1/)
    await context.close()
  })
})
