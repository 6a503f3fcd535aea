/** The pages of the demo shop. */
import { createHash } from 'node:crypto'
import { languageCodes, languageNames, languageOf, tagOf } from '@tollgate/widget/texts/languages'
import { Html, html } from '../../http/html.ts'
import { brands, type Exchange, product } from './merchant.ts'
import { picture } from './picture.ts'
import { css } from './style.ts'
import { challengeCode, testCards } from './test-cards.ts'

export type Page = { readonly text: string; readonly styleHash: string }

/** The one script of the shop's own: options of the widget, and buttons that copy a card number. */
export const script = `
var wpwlOptions = {
  locale: document.documentElement.dataset.locale,
  style: 'plain',
  registrations: { requireCvv: true },
}
addEventListener('click', function (event) {
  var button = event.target.closest('button[data-copy]')
  if (!button) return
  getSelection().selectAllChildren(button.firstElementChild)
  function say(text, isCopied) {
    document.querySelectorAll('.copied').forEach(function (one) { one.classList.remove('copied') })
    button.classList.toggle('copied', isCopied)
    document.getElementById('copied').textContent = button.dataset.copy + text
  }
  // Without HTTPS or against the will of the browser, the number is selected alone.
  function select() { say(' is selected: copy it with your keyboard', false) }
  if (!navigator.clipboard) return select()
  navigator.clipboard.writeText(button.dataset.copy).then(function () { say(' copied', true) }, select)
})
`

const style = new Html(`<style>${css}</style>`)
const styleHash = `sha256-${createHash('sha256').update(css).digest('base64')}`

function documentOf(title: string, content: Html, locale?: string): Page {
  const { text } = html`<!doctype html>
<html lang="en"${locale !== undefined && html` data-locale="${locale}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – Harbour Goods</title>
${style}
${locale !== undefined && new Html(`<script>${script}</script>`)}
</head>
<body>
<header class="top"><a class="name" href="/">Harbour Goods</a><span class="tag">Demo shop</span></header>
${content}
</body>
</html>
`
  return { text, styleHash }
}

export function basketPage({
  baseUrl,
  prepared,
  locale,
}: {
  readonly baseUrl: string
  readonly prepared: Exchange
  readonly locale: string | undefined
}): Page {
  const { id = '', integrity = '' } = prepared.answer
  const language = locale ?? 'en'
  const source = `${baseUrl}/v1/paymentWidgets.js?checkoutId=${id}`
  return documentOf(
    'Checkout',
    html`<main class="basket" aria-label="Your order">
<div class="column"><section class="order" aria-labelledby="product">
<div class="picture">${picture}</div>
<div class="line"><div><h1 id="product">${product.name}</h1><p>Brass and opal glass</p></div><p class="price">€${product.price}</p></div>
</section>
<section class="pay" aria-labelledby="pay"><h2 id="pay">Payment</h2>
<form action="/result" class="paymentWidgets" data-brands="${brands.join(' ')}"><label class="remember"><input type="checkbox" name="createRegistration" value="true"> Save for next time</label></form>
<p class="else">Or <a href="/hosted">pay on the gateway’s own page</a>, which needs no JavaScript.</p>
</section></div>
<aside aria-labelledby="cards"><h2 id="cards">Test cards</h2>
<p class="soft">Any future expiry date, any name, any code. The bank’s page takes the code <code>${challengeCode}</code>.</p>
<p id="copied" role="status" class="soft"></p>
${testCards.map(
  ({ title, cards }, at) =>
    html`<details${at < 2 && html` open`}><summary>${title}</summary><ul class="cards">${cards.map(
      ({ number, meaning }) =>
        html`<li><button type="button" data-copy="${number}" aria-label="Copy ${number}"><code>${number}</code></button><span>${meaning}</span></li>`,
    )}</ul></details>`,
)}
<details><summary>Language of the form</summary><ul class="languages">${languageCodes.map(
      (code) =>
        html`<li><a href="/?locale=${code}" lang="${tagOf(code)}"${code === languageOf([language]) && html` aria-current="true"`}>${languageNames[code]}</a></li>`,
    )}</ul></details>
<details><summary>What your server sent</summary>${exchangeOf(prepared)}</details>
</aside>
</main>
<script async src="${source}" integrity="${integrity}" crossorigin="anonymous"></script>`,
    language,
  )
}

export function resultPage({
  result,
  told,
  address,
}: {
  readonly result: Exchange
  readonly told: readonly unknown[]
  readonly address: string
}): Page {
  const { code = '', description = '' } = result.answer.result ?? {}
  const state = stateOf(code)
  return documentOf(
    headlines[state],
    html`<main class="result">
<section class="verdict ${state}"><h1>${headlines[state]}</h1><p><code>${code}</code> ${description}</p>
<p class="ways">${state === 'pending' && html`<a href="${address}">Look again</a>`}<a href="/">Buy another lamp</a></p></section>
<section><h2>1. The browser came back</h2><p>The widget sent it to the result page of the shop. Nothing in this address is proof of a payment.</p><pre>GET ${address}</pre></section>
<div class="both"><section><h2>2. Your server asks the gateway</h2><p>The response is the truth. The access token stays on your server.</p>${exchangeOf(result)}</section>
<section><h2>3. A webhook tells your server</h2><p>It arrives even if the browser never comes back. Its signature was checked.</p>
${told.length === 0 ? html`<p class="soft">None so far. <a href="${address}">Look again</a></p>` : told.map((one) => html`<pre>${pretty(one)}</pre>`)}</section></div>
<section><h2>Try a challenge</h2><p>Pay with <code>4200 0000 0000 0042</code>, and enter <code>${challengeCode}</code> on the page of the bank: <a href="/">start again</a>.</p></section>
</main>`,
  )
}

export const troublePage = (exchange?: Exchange): Page =>
  documentOf(
    'Not found',
    html`<main class="result"><section class="verdict declined"><h1>${exchange === undefined ? 'There is nothing here' : 'The gateway refused the checkout'}</h1>
${exchange !== undefined && exchangeOf(exchange)}<p class="ways"><a href="/">To the shop</a></p></section></main>`,
  )

const headlines = {
  paid: 'Thank you for your order',
  pending: 'Your payment is on its way',
  declined: 'The payment did not work',
}

/** By the groups of result codes: 000.000, 000.100.1 and 000.[36] are successes, 000.200 is pending. */
function stateOf(code: string): keyof typeof headlines {
  if (/^(000\.000\.|000\.100\.1|000\.[36])/.test(code)) return 'paid'
  return code.startsWith('000.200') || /^(800\.400\.5|100\.400\.500)/.test(code)
    ? 'pending'
    : 'declined'
}

function exchangeOf({ method, path, fields, status, answer }: Exchange): Html {
  const sent = Object.entries(fields).map(([name, value]) => `${name}=${value}`)
  const request =
    method === 'POST' ? `POST ${path}\n\n${sent.join('\n')}` : `${method} ${path}?${sent.join('&')}`
  return html`<pre>${request}</pre><pre>${status} ${pretty(answer)}</pre>`
}

const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2)
