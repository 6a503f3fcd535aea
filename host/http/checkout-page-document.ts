/** Documents of the hosted page. They have no scripts, and nothing that a shopper typed comes back in them. */
import type { Gateway } from '@tollgate/core'
import {
  directionOf,
  type LanguageCode,
  languageCodes,
  languageNames,
  tagOf,
} from '@tollgate/widget/texts/languages'
import type { Texts } from '@tollgate/widget/texts/types'
import { style } from './checkout-page-style.ts'
import { type Html, html } from './html.ts'

export type Offer = Awaited<ReturnType<Gateway['checkouts']['offer']>>

/** The way to a bank. */
export type Redirect = {
  readonly url: string
  readonly method?: string
  readonly parameters?: readonly { readonly name: string; readonly value: string }[]
}

/** Without a method, a page is opened by GET, as the widget and the way back do. */
export const isOpenedByGet = ({ method }: Pick<Redirect, 'method'>): boolean => method !== 'POST'

/** The address of a page that is opened by GET. */
export function withParameters({ url, parameters = [] }: Redirect): string {
  const to = new URL(url)
  for (const { name, value } of parameters) to.searchParams.append(name, value)
  return to.href
}

/** What every page needs. */
export type PageSetting = {
  readonly texts: Texts
  readonly language: LanguageCode
  readonly test: boolean
  readonly kind: Offer['kind']
  /** The address of this page in a language, for a link. */
  readonly inLanguage: (code: LanguageCode) => string
}

export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all)

/** Digits of every language are written left to right, and in those of the card. */
export function amountIn(
  { amount = '', currency = '' }: Pick<Offer, 'amount' | 'currency'>,
  language: LanguageCode,
): string {
  const tag = `${tagOf(language)}-u-nu-latn`
  const usual = new Intl.NumberFormat(tag, { style: 'currency', currency })
  // The runtime rounds amounts of some currencies that have cents, such as HUF.
  const { maximumFractionDigits: digits = 0 } = usual.resolvedOptions()
  const isWhole = !/\.(?!00$)/.test(amount)
  const format =
    isWhole || digits >= 2
      ? usual
      : new Intl.NumberFormat(tag, { style: 'currency', currency, minimumFractionDigits: 2 })
  return format.format(amount as `${number}`)
}

export function documentOf(setting: PageSetting, title: string, content: Html): string {
  const { texts, language, test, inLanguage } = setting
  const links = languageCodes.map(
    (code) =>
      html`<li><a href="${inLanguage(code)}" lang="${tagOf(code)}" hreflang="${tagOf(code)}" dir="${directionOf(code)}"${code === language && html` aria-current="true"`}>${languageNames[code]}</a></li>`,
  )
  return html`<!doctype html>
<html lang="${tagOf(language)}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
${style}
</head>
<body>
${test && html`<header class="test">${texts.messages.test}</header>`}
<main>
<div class="sheet">
${content}
</div>
</main>
<footer>
${!test && html`<p>${texts.page.secure}</p>`}
<details class="languages"><summary>${texts.page.language}: ${languageNames[language]}</summary>
<ul>${links}</ul>
</details>
</footer>
</body>
</html>
`.text
}

type Link = { readonly to: string; readonly text: string }

/** A page that says one thing, maybe with a way on and another one. */
export function messagePage(
  setting: PageSetting,
  message: string,
  {
    good = false,
    link,
    shop,
    other,
  }: {
    good?: boolean
    link?: Link
    /** The page of the shop. */
    shop?: Link
    /** The address of the form, for another way to pay. */
    other?: string
  } = {},
): string {
  const title = titleOf(setting)
  return documentOf(
    setting,
    title,
    html`<h1 class="alone">${title}</h1>
<p class="notice${good && ' good'}" role="status">${message}</p>
${link && html`<a class="button" href="${link.to}">${link.text}</a>`}
${shop && html`<p class="more"><a href="${shop.to}">${shop.text}</a></p>`}
${other && otherWay(setting, other)}`,
  )
}

/** The way to the bank: a link, or a form where the bank takes one. */
export function leavingPage(setting: PageSetting, redirect: Redirect, again: string): string {
  const { texts } = setting
  const title = titleOf(setting)
  const hidden = (redirect.parameters ?? []).map(
    ({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const way = isOpenedByGet(redirect)
    ? html`<a class="button" href="${withParameters(redirect)}">${texts.page.continue}</a>`
    : html`<form method="post" action="${redirect.url}">${hidden}<button>${texts.page.continue}</button></form>`
  return documentOf(
    setting,
    title,
    html`<h1 class="alone">${title}</h1>
<p class="notice" role="status">${texts.messages.challengeOpen}</p>
${way}
${otherWay(setting, again)}`,
  )
}

const otherWay = ({ texts }: PageSetting, to: string) =>
  html`<p class="more"><a href="${to}">${texts.labels.otherMethod}</a></p>`

export const titleOf = ({ texts, kind }: Pick<PageSetting, 'texts' | 'kind'>): string =>
  kind === 'registration' ? texts.page.titleRegistration : texts.page.title
