/** The widget in the demo shop in every language: no barrier, no word of English. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { release } from '@tollgate/widget'
import { type DemoShop, openDemoShop } from '../../host/serve/demo-shop/demo-shop.ts'
import { languageCodes, tagOf } from '../../plugins/widget/texts/languages.ts'
import { type Hosted, startHost } from '../host/http/hosted.ts'
import { barriersOf, leftInEnglish, textsOf } from './support/barriers.ts'
import { newContext } from './support/browser.ts'
import { challengeFrame, fillCard, numberField, pay } from './support/shopper.ts'

/** Brands and words that languages share. */
const names = new Set(['Mastercard', 'PayPal', 'IBAN', 'MM / YY', 'EUR', 'TEST'])
const same: Readonly<Record<string, readonly string[]>> = { nl: ['Postcode'], ro: ['Card'] }

describe('the widget in every language', () => {
  let host: Hosted
  let shop: DemoShop
  before(async () => {
    let origin: string | undefined
    host = await startHost({}, { widget: release(), publicUrl: () => origin, role: 'all' })
    origin = host.url
    await host.gateway.entities.configure(host.channel, { threeDSecure: 'on' })
    const credentials = { baseUrl: host.url, entityId: host.channel, accessToken: host.token }
    shop = await openDemoShop(credentials, { host: '127.0.0.1', port: 0 })
  })
  after(async () => {
    await shop?.close()
    await host?.close()
  })

  test('has no barrier while the fields are wrong, after a decline, and while the bank asks', async () => {
    const english = new Map<string, readonly string[]>()
    for (const code of languageCodes) {
      const context = await newContext({ locale: tagOf(code) })
      const page = await context.newPage()
      const judge = async (state: string) => {
        const at = `${state} ${code}`
        // The page of the bank is no part of the shop, and has a test of its own.
        const look = { without: ['.wpwl-target', '.bank'], areColoursKnown: code !== 'en' }
        assert.deepEqual(await barriersOf(page, look), [], at)
        const texts = await textsOf(page, '.wpwl-widget')
        if (code === 'en') english.set(state, texts)
        const known = code === 'en' ? [] : english.get(state)!
        const left = leftInEnglish(texts, known, new Set([...names, ...(same[code] ?? [])]))
        assert.deepEqual(left, [], at)
      }
      await page.goto(`${shop.url}?locale=${code}`)
      await numberField(page).waitFor()
      await pay(page)
      await page.locator('.wpwl-hint-cardNumberError').waitFor()
      await judge('wrong')
      await fillCard(page, { number: '4000000000000002' })
      await pay(page)
      await page.locator('.wpwl-message-error').waitFor()
      await judge('declined')
      await page.reload()
      await fillCard(page, { number: '4200000000000018' })
      await pay(page)
      const bank = challengeFrame(page).frameLocator('.bank')
      await bank.locator('input[autocomplete=one-time-code]').waitFor()
      await judge('challenge')
      await context.close()
    }
    for (const [state, texts] of english) assert.ok(texts.length > 4, `${state}: ${texts}`)
  })
})
