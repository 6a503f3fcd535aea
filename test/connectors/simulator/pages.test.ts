/** The issuer's and the bank's pages in a real browser: for everybody, everywhere, without a script. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { amountIn, languageFor, languages } from '../../../connectors/simulator/pages/language.ts'
import type { Texts } from '../../../connectors/simulator/pages/texts.ts'
import { type RunningSimulator, startSimulator } from '../../../connectors/simulator/server.ts'
import { barriersOf } from '../../rig/barriers.ts'
import { sampled } from '../../rig/scope.ts'
import { sharedChromium } from '../../rig/shared-chromium.ts'
import { newKey } from './support.ts'

const english = languages[0]!.texts
const names = Object.keys(english) as (keyof Texts)[]
const valuesIn = (text: string) => [...text.matchAll(/\{[a-z]+\}/g)].map(([value]) => value)
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

describe('the texts of the pages', () => {
  test('every language has every text, with its values, and a name of BCP 47', () => {
    const tags = 'en de fr es it nl da fi sv tr ja sl pt pl cs hu bg ro ru zh-CN el nb sk ar ko'
    assert.deepEqual(
      languages.map(({ tag }) => tag),
      tags.split(' '),
    )
    for (const { tag, texts } of languages) {
      assert.deepEqual(Intl.getCanonicalLocales(tag), [tag])
      for (const name of names) {
        assert.ok(texts[name].trim().length > 0, `${tag} ${name}`)
        assert.deepEqual(valuesIn(texts[name]), valuesIn(english[name]), `${tag} ${name}`)
        assert.equal(texts[name], texts[name].normalize('NFC'), `${tag} ${name}`)
      }
      const same = names.filter((name) => texts[name] === english[name])
      // A few words are the same in several languages.
      assert.ok(tag === 'en' || same.length <= 3, `${tag} repeats English: ${same.join(' ')}`)
    }
  })

  test('a wish finds its language, also under the codes of merchants', () => {
    for (const [wish, tag] of [
      ['dk', 'da'],
      ['se', 'sv'],
      ['cz', 'cs'],
      ['cn', 'zh-CN'],
      ['zh-TW', 'zh-CN'],
      ['gr', 'el'],
      ['no', 'nb'],
      ['nn-NO', 'nb'],
      ['de_AT', 'de'],
      ['DE', 'de'],
      ['xx, fr;q=0.3, it;q=0.9', 'it'],
      ['fr;q=0, es', 'es'],
      ['', 'en'],
      ['*', 'en'],
      ['__proto__', 'en'],
    ] as const) {
      assert.equal(languageFor([wish]).tag, tag, wish)
    }
    assert.equal(languageFor([undefined, 'xx', 'fi', 'de']).tag, 'fi')
    assert.equal(languageFor([]).tag, 'en')
  })

  test('an amount is written exactly, in the manner of the language', () => {
    const of = (tag: string) => languages.find((language) => language.tag === tag)!
    const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ')
    for (const [tag, minor, currency, expected] of [
      ['en', 9200n, 'EUR', '€92.00'],
      ['de', 123456n, 'EUR', '1.234,56 €'],
      ['ja', 1000n, 'JPY', '￥1,000'],
      ['en', 1n, 'KWD', 'KWD 0.001'],
      ['en', 5n, 'USD', '$0.05'],
      ['en', 123456789012345678n, 'EUR', '€1,234,567,890,123,456.78'],
    ] as const) {
      assert.equal(plain(amountIn(of(tag), { minor, currency })), expected)
    }
    assert.match(amountIn(of('ar'), { minor: 9200n, currency: 'EUR' }), /92\.00/)
  })
})

describe('the pages in a browser', () => {
  let server: RunningSimulator
  let browser: Browser
  before(async () => {
    ;[server, browser] = await Promise.all([startSimulator(), sharedChromium()])
  })
  after(async () => {
    await server.close()
  })

  const headersOf = (key: string) => ({
    authorization: `Bearer ${server.secret}`,
    'x-merchant-id': 'shop',
    'idempotency-key': key,
  })
  const post = async (path: string, body: object) => {
    const sent = { method: 'POST', headers: headersOf(newKey()), body: JSON.stringify(body) }
    return (await (await fetch(`${server.url}${path}`, sent)).json()) as never
  }
  const returnUrl = 'http://127.0.0.1:9/back?order=1'
  /** The address of a new challenge. */
  const challenge = async (more: object = {}): Promise<string> => {
    const { pages } = (await post('/authentications', {
      amount: { minor: '9200', currency: 'EUR' },
      ...{ brand: 'VISA', number: '4200000000000018', last4: '0018', isPayment: true },
      ...{ parameters: [], timeoutMs: 600_000, at: Date.now(), shop: 'Café <b>Ü</b>', returnUrl },
      ...more,
    })) as { pages: { challenge: string } }
    return pages.challenge
  }
  const bankPage = async (): Promise<string> => {
    const { redirectUrl } = (await post('/operations', {
      ...{ kind: 'debit', paymentId: 'p', signs: { brand: 'PAYPAL', account: 'jane' } },
      ...{ amount: { minor: '9200', currency: 'EUR' }, shop: 'Café', returnUrl },
    })) as { redirectUrl: string }
    return redirectUrl
  }
  /** Runs with a new page, which shows no error on its console. */
  const visit = async (
    url: string,
    work: (page: Page) => Promise<void>,
    options: BrowserContextOptions = {},
  ) => {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const problems: string[] = []
    page.on('console', (message) => problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(error.message))
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    await page.goto(url)
    await work(page)
    await context.close()
    assert.deepEqual(problems, [])
    for (const one of requests) assert.ok(one.startsWith(server.url), `a request to ${one}`)
  }
  const violations = async (page: Page, state: string) =>
    assert.deepEqual(await barriersOf(page, { tags: rules }), [], state)
  const isTooWide = (page: Page) =>
    page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')

  test('the challenge asks with a field that phones fill, and names shop, amount and card', async () => {
    await visit(
      await challenge(),
      async (page) => {
        const field = page.getByLabel('One-time code')
        assert.equal(await field.getAttribute('autocomplete'), 'one-time-code')
        assert.equal(await field.getAttribute('inputmode'), 'numeric')
        const text = await page.locator('main').innerText()
        for (const part of ['Café <b>Ü</b>', '€92.00', '•••• 0018']) assert.ok(text.includes(part))
        assert.match(await page.locator('header').innerText(), /TEST/)
        await field.fill('9999')
        await field.press('Enter')
        assert.match(await page.getByRole('alert').innerText(), /Attempts left: 2/)
        const note = await page.getByRole('alert').getAttribute('id')
        assert.match((await field.getAttribute('aria-describedby')) ?? '', new RegExp(note!))
        await page.getByRole('button', { name: 'Send a new code' }).click()
        assert.match(await page.getByRole('status').innerText(), /on its way/)
        await page.getByText('Help').click()
        assert.match(await page.locator('details').innerText(), /2222\s+attempted/)
      },
      { javaScriptEnabled: false },
    )
  })

  test('every language fits a frame of 250 pixels, before and after a mistake', async () => {
    const size = { viewport: { width: 250, height: 400 } }
    const url = await challenge()
    const check = async (page: Page) => {
      for (const { tag, direction } of sampled(languages, 5)) {
        await page.goto(`${url}?lang=${tag}`)
        await page.click('summary')
        assert.equal(await page.locator('html').getAttribute('lang'), tag)
        assert.equal(await page.locator('html').getAttribute('dir'), direction)
        assert.equal(await isTooWide(page), false, tag)
      }
    }
    await visit(
      url,
      async (page) => {
        await check(page)
        await page.click('button[value=confirm]')
        assert.equal(await page.locator('html').getAttribute('lang'), 'ko', 'the language stays')
        await check(page)
      },
      size,
    )
  })

  for (const tag of sampled(['en', 'de', 'ja', 'ar'], 2)) {
    test(`a challenge in ${tag} has no violation, empty and after a mistake`, async () => {
      await visit(
        `${await challenge()}?lang=${tag}`,
        async (page) => {
          await violations(page, 'empty')
          await page.click('button[value=confirm]')
          await page.click('summary')
          await violations(page, 'no code')
        },
        { viewport: { width: 320, height: 640 } },
      )
    })
  }

  test('a wrong code takes no focus: browsers refuse that to frames, and say so on the console', async () => {
    const url = await challenge()
    await fetch(url, { method: 'POST', body: 'do=confirm&code=9', redirect: 'manual' })
    const text = await (await fetch(url)).text()
    assert.match(text, /aria-invalid="true"/)
    assert.doesNotMatch(text, /autofocus/)
  })

  const looks = [
    { colorScheme: 'light' },
    { forcedColors: 'active' },
    { colorScheme: 'dark' },
  ] as const
  for (const options of sampled(looks, 2)) {
    test(`no other state has a violation with ${JSON.stringify(options)}`, async () => {
      const ended = await challenge({ isPayment: false })
      await fetch(ended, { method: 'POST', body: 'do=cancel', redirect: 'manual' })
      const states: [string, string, string?][] = [
        ['a new code', await challenge(), 'button[value=resend]'],
        ['a wrong code', await challenge(), 'button[value=confirm]'],
        ['the end', ended],
        ['too late', await challenge({ timeoutMs: 0 })],
        ['the bank', await bankPage()],
      ]
      for (const [state, url, button] of states) {
        await visit(
          url,
          async (page) => {
            if (button !== undefined) await page.click(button)
            await violations(page, state)
            assert.equal(await isTooWide(page), false)
          },
          options,
        )
      }
    })
  }

  for (const isolated of [false, true]) {
    const where = isolated ? 'a shop that isolates itself' : 'a shop'
    test(`a shopper confirms in a frame of ${where}, and comes back in it`, async (test) => {
      let framed = ''
      const shop = createServer(({ url }, response) => {
        const isolation: Record<string, string> = isolated
          ? { 'cross-origin-embedder-policy': 'require-corp' }
          : {}
        response.writeHead(200, { 'content-type': 'text/html', ...isolation })
        const frame = `<iframe src="${framed}" width="250" height="400" title="Bank"></iframe>`
        response.end(`<title>Shop</title>${url === '/' ? frame : `<p>back: ${url}</p>`}`)
      })
      await new Promise<void>((listening) => shop.listen(0, '127.0.0.1', listening))
      test.after(() => shop.close())
      const { port } = shop.address() as AddressInfo
      // Another host name is another site, as at a real issuer.
      framed = await challenge({ returnUrl: `http://localhost:${port}/return?order=1` })
      const page = await browser.newPage()
      await page.goto(`http://localhost:${port}/`)
      const bank = page.frameLocator('iframe')
      await bank.getByLabel('One-time code').fill('1234')
      await bank.getByRole('button', { name: 'Confirm' }).click()
      await bank.getByText('back: /return?order=1').waitFor()
      await page.close()
    })
  }

  test('every target is large enough for a thumb, and the focus can be seen', async () => {
    await visit(
      await challenge(),
      async (page) => {
        for (const target of await page.locator('button, input').all()) {
          const box = await target.boundingBox()
          assert.ok(box !== null && box.height >= 44, await target.innerText())
        }
        const size = 'getComputedStyle(document.querySelector("input")).fontSize'
        assert.equal(await page.evaluate(size), '20px', 'phones zoom into fields below 16 pixels')
        for (const expected of ['code', 'confirm', 'resend', 'cancel', 'SUMMARY']) {
          await page.keyboard.press('Tab')
          const [name, outline] = await page.evaluate<[string, string]>(
            '(({ activeElement: it }) => [it.id || it.value || it.tagName, getComputedStyle(it).outlineStyle])(document)',
          )
          assert.equal(name, expected)
          assert.notEqual(outline, 'none')
        }
      },
      { viewport: { width: 390, height: 700 } },
    )
  })

  test('a page has one style and no script, and may stand in the frame of any shop', async () => {
    const { headers } = await fetch(await challenge())
    const policy = headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'/)
    assert.match(policy, /frame-ancestors http: https:$/)
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
    assert.equal(headers.get('cache-control'), 'no-store')
  })

  test('an address that was changed, and a form that is strange, open nothing', async () => {
    const url = await challenge()
    const [path = '', signature = ''] = url.split('.').slice(-2)
    for (const wrong of [
      `${server.url}/challenge/x`,
      `${server.url}/challenge/`,
      `${server.url}/challenge/.`,
      `${url}x`,
      `${url}/more`,
      url.replace('/challenge/', '/device/'),
      url.replace('/challenge/', '/bank/'),
      `${path.slice(0, -2)}AA.${signature}`.replace(/^[^h].*/, `${server.url}/challenge/A.A`),
    ]) {
      assert.equal((await fetch(wrong)).status, 404, wrong)
    }
    for (const body of ['', 'do=approve', 'do=confirm&code=%00', `code=${'1'.repeat(60_000)}`]) {
      const { status } = await fetch(url, { method: 'POST', body, redirect: 'manual' })
      assert.equal(status, 303)
    }
    const { status } = await fetch(url, { method: 'POST', body: 'x'.repeat(70_000) })
    assert.equal(status, 400)
  })
})
