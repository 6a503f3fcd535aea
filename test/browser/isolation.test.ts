/** Card data stays in its frames: the page around them sees none, and reaches none. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { brands } from '@tollgate/schemas'
import { assets } from '@tollgate/widget'
import type { BrowserContext, Page } from 'playwright-core'
import { newContext } from './support/browser.ts'
import { type RealGateway, realGateway } from './support/real-gateway.ts'
import { openShop, type Shop } from './support/shop.ts'
import { cvvField, fillCard, numberField, pay } from './support/shopper.ts'

const number = '4711100000000000'
const codesOfCards = brands.filter(({ account }) => account === 'card').map(({ code }) => code)
const cvv = '937'

/** Records everything that passes between windows, and everything that pages keep or print. */
const spy = `
  window.heard = []
  const note = (way, data) => window.heard.push(way + ' ' + JSON.stringify(data))
  addEventListener('message', (event) => note('window', event.data), true)
  const post = MessagePort.prototype.postMessage
  MessagePort.prototype.postMessage = function (...all) { note('to port', all[0]); return post.apply(this, all) }
  const on = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage')
  Object.defineProperty(MessagePort.prototype, 'onmessage', {
    ...on,
    set(listener) {
      on.set.call(this, listener && function (event) { note('from port', event.data); return listener.call(this, event) })
    },
  })
  const send = window.fetch
  window.fetch = (...all) => { note('fetch', all.map(String)); return send(...all) }
`

describe('card data in the widget', () => {
  let gateway: RealGateway
  let shop: Shop
  let checkoutId = ''
  let context: BrowserContext
  let page: Page
  before(async () => {
    gateway = await realGateway()
    shop = await openShop(() => gateway.scriptOf(checkoutId))
    context = await newContext()
    page = await context.newPage()
  })
  after(async () => {
    await context?.close()
    await Promise.all([shop?.close(), gateway?.close()])
  })
  const open = async (more: Parameters<Shop['show']>[0] = {}) => {
    checkoutId = (await gateway.checkout()).id
    shop.show(more)
    await page.goto(shop.address)
  }

  test('passes no page, is kept nowhere, and goes to no other host', async () => {
    const asked: string[] = []
    const said: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('console', (message) => said.push(message.text()))
    await open({ head: `<script>${spy}</script>` })
    await fillCard(page, { number, cvv })
    const kept = async () =>
      JSON.stringify(await context.storageState()) +
      (await page.evaluate(() => JSON.stringify([location.href, history.state, document.cookie])))
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    // The result page replaces the page with the record, so the record is taken before it.
    await page.route('**/result**', (route) => route.fulfill({ status: 204 }))
    await pay(page)
    const request = await sent
    assert.equal(new URL(request.url()).origin, gateway.fields)
    assert.match(request.postData() ?? '', /4711100000000000/)
    await page.locator('.wpwl-message').waitFor()
    const heard = await page.evaluate(() => (window as unknown as { heard: string[] }).heard)
    assert.ok(heard.length > 10)
    for (const word of [...heard, ...asked, ...said, await kept()]) {
      // Ids and nonces are hexadecimal, and one in fourteen has twelve digits in a row.
      assert.doesNotMatch(word.replaceAll(/[0-9a-f]{32}/gi, ''), /\d{12}/)
      assert.ok(!word.includes(`"${cvv}"`) && !word.includes('4711 1000'), word)
    }
    const origins = new Set(asked.map((address) => new URL(address).origin))
    assert.deepEqual([...origins].sort(), [shop.origin, gateway.fields, gateway.origin].sort())
    await page.unroute('**/result**')
    page.removeAllListeners()
  })

  test('cannot be reached by scripts of the page', async () => {
    await open()
    await fillCard(page, { number, cvv })
    const reached = await page.evaluate(() =>
      [...document.querySelectorAll('iframe')].map((frame) => {
        try {
          return String(frame.contentDocument ?? frame.contentWindow?.document)
        } catch (thrown) {
          return (thrown as Error).name
        }
      }),
    )
    assert.deepEqual(
      [...new Set(reached)].sort(),
      ['SecurityError', 'null'].filter((one) => reached.includes(one)),
    )
    for (const frame of page.frames().slice(1))
      assert.equal(new URL(frame.url()).origin, gateway.fields)
  })

  test('is told to no second port and no foreign frame', async () => {
    await open()
    await fillCard(page, { number, cvv })
    const answers = await page.evaluate(async () => {
      const heard: unknown[] = []
      for (const frame of document.querySelectorAll('iframe')) {
        for (const word of ['read', 'check', 'submit', 'clear', 'focus']) {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = ({ data }) => heard.push(data)
          const handover = { tollgate: 'port', nonce: 'a'.repeat(32) }
          frame.contentWindow?.postMessage(handover, '*', [port2])
          port1.postMessage({ do: word })
          frame.contentWindow?.postMessage({ do: word, tollgate: word }, '*')
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 200))
      return heard
    })
    assert.deepEqual(answers, [])
    assert.equal(await numberField(page).inputValue(), '4711 1000 0000 0000')
    assert.equal(await cvvField(page).inputValue(), cvv)
  })

  test('comes from the frames alone and goes to this checkout, whatever the page says', async () => {
    await open({
      head: `<script>
        window.ports = []
        const post = MessagePort.prototype.postMessage
        MessagePort.prototype.postMessage = function (...all) { ports.push(this); return post.apply(this, all) }
      </script>`,
    })
    await fillCard(page, { number, cvv })
    const sent = page.waitForRequest((request) => request.method() === 'POST')
    await page.evaluate(() => {
      const word = {
        do: 'submit',
        kind: '../../checkouts/OTHER/payment',
        fields: {
          'card.number': '4200000000000000',
          'card.cvv': '111',
          origin: 'https://evil.example',
        },
        resultUrl: '',
        challenge: 'frame',
        withCvv: true,
      }
      for (const port of new Set((window as unknown as { ports: MessagePort[] }).ports))
        port.postMessage(word)
    })
    const request = await sent
    assert.equal(request.url(), `${gateway.fields}/v1/checkouts/${checkoutId}/payment`)
    const fields = JSON.parse(request.postData() ?? '{}') as Record<string, string>
    assert.equal(fields['card.number'], number)
    assert.equal(fields['card.cvv'], cvv)
    assert.equal(fields.origin, shop.origin)
  })

  test('is told to a page by six digits, length and brand only, whatever the page asks', async () => {
    const learnt = async (typed: string) => {
      await open({
        head: `<script>${spy}
          window.ports = new Set()
          const say = MessagePort.prototype.postMessage
          MessagePort.prototype.postMessage = function (...all) { ports.add(this); return say.apply(this, all) }
        </script>`,
      })
      await numberField(page).fill(typed)
      await page.evaluate(async (codes) => {
        const setUp = { do: 'field', label: '', placeholder: '', language: 'en', messages: {} }
        const more = { formatting: false, masked: false, mayBeEmpty: true }
        const asked = [...codes.map((code) => [code]), codes, [...codes].reverse(), []]
        const words = asked.flatMap((accepted) => [
          { ...setUp, ...more, accepted, priority: accepted },
          { do: 'check' },
        ])
        for (const port of (window as unknown as { ports: Set<MessagePort> }).ports)
          for (const word of words) port.postMessage(word)
        await new Promise((resolve) => setTimeout(resolve, 500))
      }, codesOfCards)
      const heard = await page.evaluate(() => (window as unknown as { heard: string[] }).heard)
      return [...new Set(heard.filter((word) => word.startsWith('from port')))].sort()
    }
    const words = await learnt(number)
    assert.ok(words.some((word) => word.includes('"bin":"471110"')))
    assert.deepEqual(await learnt('4711109876543217'), words)
  })

  test('is not restored by the back button', async () => {
    await open()
    await fillCard(page, { number, cvv })
    await page.goto(`${shop.origin}/result?left`)
    await page.goBack()
    await numberField(page).waitFor()
    assert.equal(await numberField(page).inputValue(), '')
    assert.equal(await cvvField(page).inputValue(), '')
    assert.equal(await page.locator('.wpwl-control-expiry').inputValue(), '')
  })

  test('is asked for by this script alone: one changed byte is refused', async () => {
    checkoutId = (await gateway.checkout({ integrity: 'true' })).id
    const { integrity } = assets.loader
    // Browsers keep files for ever, and these ones change.
    const other = await newContext()
    const page = await other.newPage()
    shop.show({ scriptAttributes: `integrity="${integrity}" crossorigin="anonymous"` })
    await page.goto(shop.address)
    await numberField(page).waitFor()
    await page.route('**/paymentWidgets.js*', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: `${await response.text()} ` })
    })
    await page.goto(shop.address)
    await page.waitForLoadState('networkidle')
    assert.equal(await page.locator('.wpwl-container').count(), 0)
    await page.unroute('**/paymentWidgets.js*')
    await page.route('**/page.js', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: `${await response.text()} ` })
    })
    const refused = page.waitForEvent('console', (message) => /WidgetError/.test(message.text()))
    await page.goto(shop.address)
    await refused
    assert.equal(await page.locator('.wpwl-container-card').count(), 0)
    await other.close()
  })

  test('has labels of the page as text, never as markup', async () => {
    const evil = '<img src=x onerror="window.broken=true"><b>Card</b>'
    await open({
      options: JSON.stringify({
        labels: { cardNumber: evil, cardHolder: evil, submit: evil, cvv: evil },
        errorMessages: { cardHolderError: evil, cvvError: evil },
      }),
    })
    await numberField(page).waitFor()
    await pay(page)
    await page.locator('.wpwl-hint-cardHolderError').waitFor()
    assert.equal(await page.locator('.wpwl-label-cardNumber').innerText(), evil)
    assert.equal(await page.locator('.wpwl-hint-cardHolderError').innerText(), evil)
    assert.equal(await page.frameLocator('.wpwl-control-cardNumber').locator('b, img').count(), 0)
    assert.equal(await page.evaluate(() => 'broken' in window), false)
  })

  test('styles of the page carry no address into a frame', async () => {
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await open({
      options: JSON.stringify({
        iframeStyles: {
          'card-number-placeholder': {
            color: 'rgb(1, 2, 3)',
            background: 'url(http://127.0.0.1:9/a)',
            'font-family': 'x}input{background:url(http://127.0.0.1:9/b)}',
            'letter-spacing': '2px;background-image:url(http://127.0.0.1:9/c)',
          },
        },
      }),
    })
    await numberField(page).waitFor()
    const look = await numberField(page).evaluate((field) => {
      const { color, backgroundImage } = getComputedStyle(field, '::placeholder')
      return { color, backgroundImage, own: getComputedStyle(field).backgroundImage }
    })
    assert.deepEqual(look, { color: 'rgb(1, 2, 3)', backgroundImage: 'none', own: 'none' })
    assert.ok(asked.every((address) => !address.includes(':9/')))
    page.removeAllListeners()
  })

  test('is shown in the pages that the channel allows', async () => {
    const other = await realGateway()
    await other.host.gateway.entities.configure(other.host.channel, {
      widgetOrigins: ['https://shop.example'],
    })
    const { id } = await other.checkout()
    const foreign = await openShop(() => other.scriptOf(id))
    foreign.show({ options: '{ onError: (error) => console.log("told", error.name) }' })
    const refused = page.waitForEvent('console', (message) =>
      /frame-ancestors/.test(message.text()),
    )
    await page.goto(foreign.address)
    await refused
    assert.equal(await numberField(page).count(), 0)
    await Promise.all([foreign.close(), other.close()])
  })
})
