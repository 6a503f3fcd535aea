/** What goes wrong between a shopper, a page and a bank: nothing is charged twice, and the page says so. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { newContext } from './support/browser.ts'
import {
  checkoutId,
  type ScriptedGateway,
  scriptedGateway,
  scriptOf,
} from './support/scripted-gateway.ts'
import { openShop, type Shop, type ShopPage } from './support/shop.ts'
import { cvvField, fillCard, numberField, pay } from './support/shopper.ts'

describe('trouble with a payment', () => {
  let gateway: ScriptedGateway
  let shop: Shop
  let page: Page
  let said: string[] = []
  before(async () => {
    gateway = await scriptedGateway()
    shop = await openShop(() => scriptOf(gateway))
  })
  beforeEach(() => {
    gateway.submitted.length = 0
    Object.assign(gateway.script, {
      checkout: {},
      replies: undefined,
      states: undefined,
      held: undefined,
    })
  })
  after(async () => {
    await Promise.all([shop?.close(), gateway?.close()])
  })
  /** @param isTimed the test moves the time of the page and its frames @param prepare before the page opens */
  const open = async (
    shown: ShopPage = {},
    options: BrowserContextOptions = {},
    isTimed = false,
    prepare: (page: Page) => Promise<unknown> = async () => {},
  ) => {
    await page?.context().close()
    shop.show(shown)
    page = await (await newContext(options)).newPage()
    if (isTimed) await page.context().clock.install()
    said = []
    page.on('console', (message) => said.push(message.text()))
    page.on('pageerror', (error) => said.push(error.message))
    await prepare(page)
    await page.goto(shop.address)
  }
  /** In steps of half a second, between which replies arrive. */
  const passTime = async (ms: number) => {
    for (let passedMs = 0; passedMs < ms && page.url() === shop.address; passedMs += 500) {
      await page.context().clock.runFor(500)
      await fetch(shop.address)
    }
  }
  const message = (text: RegExp) => page.locator('.wpwl-message', { hasText: text }).waitFor()
  const resultUrl = () => `${shop.origin}/result?id=x`

  test('a double click, Enter and a click send once', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    Object.assign(gateway.script, { replies: [{ state: 'declined' }], held: promise })
    await open()
    await fillCard(page)
    await page.locator('.wpwl-button-pay').dblclick()
    await numberField(page).press('Enter')
    resolve()
    await message(/not accepted/)
    assert.equal(gateway.submitted.length, 1)
    await cvvField(page).pressSequentially('123')
    await pay(page)
    await page.locator('.wpwl-form[aria-busy="true"]').waitFor({ state: 'detached' })
    await message(/not accepted/)
    const [first, second] = gateway.submitted
    assert.notEqual(first!.nonce, second!.nonce, 'every press has a nonce of its own')
  })

  test('a lost connection repeats with the same nonce, until an answer arrives', async () => {
    gateway.script.replies = [{ cut: true }]
    await open()
    await fillCard(page)
    await pay(page)
    await message(/never charged twice/)
    // The browser itself repeats some requests as well.
    assert.ok(gateway.submitted.length >= 3)
    gateway.script.replies = [{ state: 'paid', resultUrl: resultUrl() }]
    await pay(page)
    await page.waitForURL(/\/result/)
    assert.equal(new Set(gateway.submitted.map(({ nonce }) => nonce)).size, 1)
  })

  test('fields that the gateway refuses are shown, the first in focus', async () => {
    gateway.script.replies = [
      {
        state: 'invalid',
        errors: [
          { field: 'card.cvv', reason: 'required' },
          { field: 'card.expiryYear', reason: 'expired' },
        ],
      },
    ]
    await open()
    await fillCard(page)
    await pay(page)
    await page.locator('.wpwl-hint-cvvError').waitFor()
    assert.match(await page.locator('.wpwl-hint-expiryError').innerText(), /expired/)
    const cvv = page.frameLocator('.wpwl-form-card .wpwl-control-cvv')
    await cvv.locator('input:focus').waitFor()
  })

  test('a payment under way elsewhere is awaited, and leads to its result', async () => {
    gateway.script.replies = [{ state: 'busy' }]
    gateway.script.states = [{ state: 'busy' }]
    await open()
    await fillCard(page)
    await pay(page)
    await message(/another window/)
    gateway.script.states = [{ state: 'paid', resultUrl: resultUrl() }]
    await page.waitForURL(/\/result/)
  })

  test('a payment that only the acquirer can finish says so, and goes on to the result page', async () => {
    gateway.script.replies = [{ state: 'waiting' }]
    gateway.script.states = [{ state: 'free' }, { state: 'busy', awaited: true }]
    await open({}, {}, true)
    await fillCard(page)
    await pay(page)
    await page.locator('.wpwl-form[aria-busy="true"]').waitFor()
    const polls = () => gateway.requests.filter((one) => one.endsWith('/state')).length
    const before = polls()
    await passTime(3_500)
    await message(/Your payment is being processed/)
    assert.equal(page.url(), shop.address, 'a few seconds are no reason to leave')
    await passTime(7_000)
    await page.waitForURL(/\/result/)
    const { searchParams } = new URL(page.url())
    assert.deepEqual(Object.fromEntries(searchParams), {
      order: '7',
      id: checkoutId,
      resourcePath: `/v1/checkouts/${checkoutId}/payment`,
    })
    assert.ok(polls() - before <= 8, 'the pauses between questions grow')
  })

  test('a payment that the acquirer still works on is followed from the start, then the form is free', async () => {
    gateway.script.states = [{ state: 'busy', awaited: true }]
    await open({}, {}, true)
    await message(/Your payment is being processed/)
    await fillCard(page)
    await numberField(page).press('Enter')
    await page.locator('.wpwl-form-card[aria-busy="true"]').waitFor()
    gateway.script.states = [{ state: 'free' }]
    await passTime(3_000)
    await message(/not accepted/)
    assert.equal(gateway.submitted.length, 0, 'no press while it was under way')
    gateway.script.replies = [{ state: 'paid', resultUrl: resultUrl() }]
    await cvvField(page).fill('123')
    await pay(page)
    await page.waitForURL(/\/result/)
  })

  test('a payment that the acquirer still works on leads to the result page', async () => {
    gateway.script.states = [{ state: 'busy', awaited: true }]
    await open({}, {}, true)
    await message(/Your payment is being processed/)
    await passTime(10_500)
    await page.waitForURL(/\/result/)
    assert.deepEqual(gateway.submitted, [])
  })

  test('a page that the browser kept for the way back looks again', async () => {
    gateway.script.replies = [{ state: 'waiting', redirect: { url: `${gateway.origin}/away` } }]
    await open()
    await page.route('**/away', (route) => route.fulfill({ status: 204 }))
    await fillCard(page)
    await pay(page)
    await message(/taken to another page/)
    const comeBack = () =>
      page.evaluate(() =>
        window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })),
      )
    await comeBack()
    await page.locator('.wpwl-form-card[aria-busy="false"]').waitFor()
    assert.equal(await page.locator('.wpwl-message').isVisible(), false)
    gateway.script.states = [{ state: 'busy', awaited: true }]
    await comeBack()
    await message(/Your payment is being processed/)
    gateway.script.states = [{ state: 'paid', resultUrl: resultUrl() }]
    await page.waitForURL(/\/result/)
  })

  test("the page that the merchant's server named comes before that of the form", async () => {
    const named = `${shop.origin}/result?named=1`
    gateway.script.replies = [{ state: 'waiting' }]
    gateway.script.states = [{ state: 'free' }, { state: 'busy', awaited: true, resultUrl: named }]
    await open({}, {}, true)
    await fillCard(page)
    await pay(page)
    await page.locator('.wpwl-form[aria-busy="true"]').waitFor()
    await passTime(10_500)
    await page.waitForURL(named)
  })

  test('a payment for which the shopper may still have to act stays, with a text', async () => {
    gateway.script.replies = [{ state: 'waiting' }]
    gateway.script.states = [{ state: 'free' }, { state: 'busy' }]
    await open({}, {}, true)
    await fillCard(page)
    await pay(page)
    await page.locator('.wpwl-form[aria-busy="true"]').waitFor()
    await passTime(20_000)
    await message(/Your payment is being processed/)
    assert.equal(page.url(), shop.address)
    gateway.script.states = [{ state: 'paid', resultUrl: resultUrl() }]
    await passTime(16_000)
    await page.waitForURL(/\/result/)
  })

  test('a closed checkout says so and takes no more', async () => {
    gateway.script.replies = [{ state: 'closed' }]
    await open()
    await fillCard(page)
    await pay(page)
    await message(/no longer/)
    await numberField(page).press('Enter')
    assert.equal(await page.locator('.wpwl-button-pay').isVisible(), false)
    assert.equal(gateway.submitted.length, 1)
  })

  test('an unknown or expired checkout says so, to people and to the page', async () => {
    delete gateway.script.checkout
    await open({ options: '{ onError: (error) => console.log("told", error.name) }' })
    await message(/time for this payment is over/)
    assert.ok(said.includes('told InvalidCheckoutIdError'))
  })

  describe('at the bank', () => {
    const redirect = (more = {}) => ({
      url: `${gateway.origin}/bank`,
      method: 'POST',
      parameters: [{ name: 'creq', value: 'x' }],
      ...more,
    })
    const bank = () => page.frameLocator('.wpwl-target').frameLocator('.bank')
    const asks = (more = {}) => {
      gateway.script.replies = [{ state: 'waiting', redirect: redirect(more), inFrame: true }]
      gateway.script.states = [{ state: 'busy', redirect: redirect(more), inFrame: true }]
    }

    test('the page stands in a frame of ours, and its end leads to the result', async () => {
      asks()
      await open({ options: '{ onLoadThreeDIframe() { console.log("bank", this.className) } }' })
      await fillCard(page)
      await pay(page)
      await bank().getByRole('button').waitFor()
      assert.ok(said.includes('bank wpwl-target'))
      gateway.script.states = [{ state: 'paid', resultUrl: resultUrl() }]
      await bank().getByRole('button').click()
      await page.waitForURL(/\/result/)
    })

    test('the line around its page is as dark as the others of a dark page', async () => {
      asks()
      await open({ head: '<style>:root { color-scheme: dark }</style>' })
      await fillCard(page)
      await pay(page)
      await bank().getByRole('button').waitFor()
      const lineOf = (selector: string) =>
        page.locator(selector).evaluate((one) => getComputedStyle(one).borderTopColor)
      assert.equal(await lineOf('.wpwl-target'), await lineOf('.wpwl-container-card'))
    })

    test('a refused payment returns to the form', async () => {
      asks()
      await open()
      await fillCard(page)
      await pay(page)
      await bank().getByRole('button').waitFor()
      gateway.script.states = [{ state: 'free' }]
      await bank().getByRole('button').click()
      await message(/not accepted/)
      await page.locator('.wpwl-target').waitFor({ state: 'detached' })
    })

    test('a closed page leaves the form, and the next press has a nonce of its own', async () => {
      asks()
      await open()
      await fillCard(page)
      await pay(page)
      await bank().getByRole('button').waitFor()
      await page.locator('.wpwl-button-close').click()
      await message(/have not paid/)
      gateway.script.replies = [{ state: 'paid', resultUrl: resultUrl() }]
      await pay(page)
      await page.waitForURL(/\/result/)
      const [first, second] = gateway.submitted
      assert.notEqual(first!.nonce, second!.nonce)
    })

    test('a redirect of the whole tab takes its steps first', async () => {
      const preconditions = [
        {
          url: `${gateway.origin}/device`,
          method: 'POST',
          parameters: [{ name: 'd', value: '1' }],
        },
      ]
      gateway.script.replies = [{ state: 'waiting', redirect: redirect({ preconditions }) }]
      gateway.script.states = [{ state: 'busy', redirect: redirect({ preconditions }) }]
      await open()
      await fillCard(page)
      await pay(page)
      await page.waitForURL(/\/bank/)
      assert.ok(gateway.requests.includes('POST /device'))
    })

    test('a target of the page opens it there', async () => {
      gateway.script.replies = [{ state: 'waiting', redirect: { url: `${gateway.origin}/bank` } }]
      await open({
        options: '{ paymentTarget: "there" }',
        after: '<iframe name="there" title="there"></iframe>',
      })
      await fillCard(page)
      await pay(page)
      await page.frameLocator('[name=there]').getByRole('button').waitFor()
      assert.equal(gateway.submitted[0]!.challenge, 'tab')
    })

    test('an address that is none of the web goes nowhere', async () => {
      gateway.script.replies = [
        { state: 'waiting', redirect: { url: 'javascript:window.broken=1' } },
      ]
      await open()
      await fillCard(page)
      await pay(page)
      await message(/try again/)
      assert.equal(await page.evaluate(() => 'broken' in window), false)
    })
  })

  describe('of the page', () => {
    test('unloading leaves nothing, and the widget comes again', async () => {
      await open()
      await numberField(page).waitFor()
      const before = await page.evaluate(async () => {
        const script = document.querySelector('script[src*=paymentWidgets]') as HTMLScriptElement
        const wpwl = () => (window as unknown as { wpwl?: { unload: () => void } }).wpwl
        wpwl()!.unload()
        const left = {
          frames: document.querySelectorAll('iframe').length,
          ours: document.querySelectorAll('[class*=wpwl]').length,
          scripts: document.querySelectorAll('script[src*="/widget/"], link[href*="/widget/"]')
            .length,
          name: wpwl() === undefined,
          form: (document.querySelector('.paymentWidgets') as HTMLElement).outerHTML,
        }
        const again = document.createElement('script')
        again.src = script.src
        document.body.append(again)
        return left
      })
      assert.deepEqual(
        { ...before, form: '' },
        { frames: 0, ours: 0, scripts: 0, name: true, form: '' },
      )
      assert.doesNotMatch(before.form, /display|hidden|min-height|tollgate/)
      await fillCard(page)
      assert.equal(await page.locator('.wpwl-container').count(), 1)
    })

    test('mounting many times keeps no frame, port or node', async () => {
      await open()
      await numberField(page).waitFor()
      const session = await page.context().newCDPSession(page)
      const count = async () => {
        await session.send('HeapProfiler.collectGarbage')
        const { nodes, documents, jsEventListeners } = await session.send('Memory.getDOMCounters')
        return { nodes, documents, jsEventListeners }
      }
      const round = () =>
        page.evaluate(async () => {
          const script = document.querySelector('script[src*=paymentWidgets]') as HTMLScriptElement
          ;(window as unknown as { wpwl: { unload: () => void } }).wpwl.unload()
          const again = document.createElement('script')
          again.src = script.src
          script.replaceWith(again)
          while (document.querySelector('.wpwl-control-cardNumber') === null) {
            await new Promise((resolve) => setTimeout(resolve, 10))
          }
        })
      for (let index = 0; index < 3; index++) await round()
      const before = await count()
      for (let index = 0; index < 10; index++) await round()
      const later = await count()
      assert.ok(later.nodes - before.nodes < 200, JSON.stringify({ before, later }))
      assert.ok(
        later.jsEventListeners - before.jsEventListeners < 40,
        JSON.stringify({ before, later }),
      )
    })

    test('a strict policy of documented hosts, Trusted Types and isolation are no hindrance', async () => {
      const hosts = `${gateway.origin} ${gateway.fields}`
      await open({
        headers: {
          'Content-Security-Policy': `default-src 'none'; script-src ${hosts}; style-src ${hosts}; frame-src ${hosts}; connect-src ${hosts}; img-src ${hosts}; require-trusted-types-for 'script'; trusted-types tollgate`,
          'Cross-Origin-Opener-Policy': 'same-origin',
          'Cross-Origin-Embedder-Policy': 'require-corp',
        },
        scriptAttributes: 'crossorigin',
      })
      await fillCard(page)
      gateway.script.replies = [{ state: 'paid', resultUrl: resultUrl() }]
      await pay(page)
      await page.waitForURL(/\/result/)
      assert.deepEqual(said, [])
      assert.equal(
        gateway.submitted[0]!.challenge,
        'tab',
        'an isolated page shows no bank in a frame',
      )
    })

    test('a page whose policy blocks the frames is told both usual causes within seconds', async () => {
      await open(
        {
          headers: { 'Content-Security-Policy': `frame-src ${shop.origin}` },
          options: '{ onError: (error) => console.log("told", error.name, error.message) }',
        },
        {},
        true,
      )
      await page.locator('.wpwl-control-cardNumber').waitFor()
      await passTime(5_500)
      await message(/try again/)
      const told = said.find((line) => line.startsWith('told PciIframeCommunicationError')) ?? ''
      assert.ok(told.includes(`is ${shop.origin} in widgetOrigins of the channel`), said.join())
      assert.match(told, /content security policy/)
    })

    for (const name of ['number', 'challenge']) {
      test(`a frame ${name} that comes as something else is loaded again`, async () => {
        const redirect = { url: `${gateway.origin}/bank` }
        gateway.script.replies = [{ state: 'waiting', redirect, inFrame: true }]
        gateway.script.states = [{ state: 'busy', redirect, inFrame: true }]
        let times = 0
        const broken = (it: Page) =>
          it.route(new RegExp(`/frame/[^/]+/${name}$`), (route) => {
            times += 1
            return times === 1 ? route.fulfill({ status: 400, body: '{}' }) : route.continue()
          })
        await open({}, {}, false, broken)
        const steps = await page.evaluate(() => history.length)
        await fillCard(page)
        await pay(page)
        await page.frameLocator('.wpwl-target').frameLocator('.bank').getByRole('button').waitFor()
        assert.equal(times, 2)
        assert.equal(await page.evaluate(() => history.length), steps)
        assert.doesNotMatch(said.join(), /PciIframe/)
      })
    }

    test('a script that loads late or by hand finds its form', async () => {
      await open({ scriptAttributes: 'async' })
      await numberField(page).waitFor()
      await open({ scriptAttributes: 'type="module" crossorigin' })
      await numberField(page).waitFor()
    })

    test('two forms keep their codes apart', async () => {
      gateway.script.replies = [{ state: 'declined' }]
      await open({ forms: ['VISA', 'MASTER'] })
      const cards = page.locator('.wpwl-container-card')
      for (const [index, number, cvv] of [
        [0, '4200000000000000', '111'],
        [1, '5555555555554444', '222'],
      ] as const) {
        const card = cards.nth(index)
        const field = (name: string) => card.frameLocator(`.wpwl-control-${name}`).locator('input')
        await field('cardNumber').pressSequentially(number)
        await card.locator('.wpwl-control-expiry').pressSequentially('1230')
        await field('cvv').pressSequentially(cvv)
        await card.locator('.wpwl-control-cardHolder').fill('Jane Jones')
      }
      for (const index of [1, 0]) {
        await cards.nth(index).locator('.wpwl-button-pay').click()
        await cards.nth(index).locator('.wpwl-message-error').waitFor()
      }
      const sent = gateway.submitted.map((one) => [one['card.number'], one['card.cvv']])
      assert.deepEqual(sent, [
        ['5555555555554444', '222'],
        ['4200000000000000', '111'],
      ])
    })

    test('a sandboxed page is told what is missing', async () => {
      await open({ headers: { 'Content-Security-Policy': 'sandbox allow-scripts allow-forms' } })
      await page.locator('.wpwl-message-error').waitFor()
      assert.match(said.join(), /WidgetError: The page is sandboxed/)
      assert.equal(await page.locator('iframe').count(), 0)
    })

    test('options that do not work are named on the console, with another way', async () => {
      await open({
        options:
          '{ useSummaryPage: true, onSaveTransactionData() {}, inlineFlow: ["PAYPAL"], brandDetectionType: "binlist", style: "plain" }',
      })
      await numberField(page).waitFor()
      for (const words of [
        'useSummaryPage does not work here: the button pays at once',
        'onSaveTransactionData does not work here: it is never called',
        'inlineFlow does not work here: a brand with a page of its own opens it in the tab',
        'brandDetectionType: binlist has no effect',
      ]) {
        assert.ok(
          said.some((line) => line.includes(`wpwlOptions.${words}`)),
          words,
        )
      }
      assert.equal(said.length, 4)
    })

    test('options that ask for nothing are not named', async () => {
      await open({
        options: '{ useSummaryPage: false, inlineFlow: [], brandDetectionType: "regex" }',
      })
      await numberField(page).waitFor()
      assert.deepEqual(said, [])
    })
  })
})
