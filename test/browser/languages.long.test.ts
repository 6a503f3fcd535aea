/** Every language fits: nothing runs out of its form on the smallest screen, in any state. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { languageCodes, tagOf } from '../../plugins/widget/texts/languages.ts'
import { newContext } from './support/browser.ts'
import { type ScriptedGateway, scriptedGateway, scriptOf } from './support/scripted-gateway.ts'
import { openShop, type Shop } from './support/shop.ts'
import { numberField, pay } from './support/shopper.ts'

describe('every language', () => {
  let gateway: ScriptedGateway
  let shop: Shop
  before(async () => {
    const registrations = [
      {
        id: 'a'.repeat(32),
        brand: 'VISA',
        last4: '4242',
        expiryMonth: '08',
        expiryYear: '2030',
        cvv: 'asked',
      },
    ]
    gateway = await scriptedGateway({ checkout: { registrations } })
    shop = await openShop(() => scriptOf(gateway))
  })
  after(async () => {
    await Promise.all([shop?.close(), gateway?.close()])
  })

  test('fits a screen of 320 pixels, with all its messages', async () => {
    const context = await newContext({ viewport: { width: 320, height: 700 } })
    const page = await context.newPage()
    for (const code of languageCodes) {
      shop.show({
        options: JSON.stringify({
          locale: code,
          showCVVHint: true,
          mandatoryBillingFields: { city: true, country: true },
        }),
        brands: 'VISA MASTER DIRECTDEBIT_SEPA PAYPAL',
        inForm: '<input type="checkbox" name="createRegistration">',
      })
      await page.goto(shop.address)
      await numberField(page).waitFor()
      await pay(page)
      await page.locator('.wpwl-hint-cardNumberError').waitFor()
      await pay(page, 'directDebit')
      await page.locator('.wpwl-hint-accountIbanError').waitFor()
      const wide = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('.wpwl-container *')]
          .filter((one) => one.offsetParent !== null && getComputedStyle(one).clipPath === 'none')
          .filter(
            (one) =>
              one.getBoundingClientRect().right > 320 ||
              one.getBoundingClientRect().left < 0 ||
              (one.scrollWidth > one.clientWidth + 1 &&
                one.matches('.wpwl-label, .wpwl-hint, .wpwl-button, .wpwl-mandate')),
          )
          .map((one) => one.className),
      )
      assert.deepEqual(wide, [], code)
      assert.equal(await page.locator('.wpwl-container-card').getAttribute('lang'), tagOf(code))
    }
    await context.close()
  })
})
