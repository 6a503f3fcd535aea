/** The hosted page of a checkout: whole documents without scripts. Nothing that a shopper typed comes back in them. */
import type { Gateway } from '@tollgate/core'
import { brandOf } from '@tollgate/schemas'
import {
  directionOf,
  type LanguageCode,
  languageCodes,
  languageNames,
  tagOf,
} from '@tollgate/widget/texts/languages'
import type { Texts } from '@tollgate/widget/texts/types'
import type { WrongField } from './checkout-page-form.ts'
import { style } from './checkout-page-style.ts'
import { type Html, html } from './html.ts'

export type Offer = Awaited<ReturnType<Gateway['checkouts']['offer']>>
type Registration = Offer['registrations'][number]

/** The way to a bank. */
export type Redirect = {
  readonly url: string
  readonly method?: string
  readonly parameters?: readonly { readonly name: string; readonly value: string }[]
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

export type FormPage = {
  readonly offer: Offer
  readonly nonce: string
  /** Where forms are posted to. */
  readonly action: string
  /** The part that is open. */
  readonly method: string
  readonly wrong: readonly WrongField[]
  readonly notice?: string
}

export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all)

/** Digits of every language are written left to right, and in those of the card. */
export function amountIn(
  { amount = '', currency = '' }: Pick<Offer, 'amount' | 'currency'>,
  language: LanguageCode,
): string {
  const format = new Intl.NumberFormat(`${tagOf(language)}-u-nu-latn`, {
    style: 'currency',
    currency,
  })
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
<p>${texts.page.secure}</p>
<details class="languages"><summary>${texts.page.language}: ${languageNames[language]}</summary>
<ul>${links}</ul>
</details>
</footer>
</body>
</html>
`.text
}

/** A page that says one thing, maybe with a way on. */
export function messagePage(
  setting: PageSetting,
  message: string,
  {
    good = false,
    link,
  }: { good?: boolean; link?: { readonly to: string; readonly text: string } } = {},
): string {
  const title = titleOf(setting)
  return documentOf(
    setting,
    title,
    html`<h1 class="alone">${title}</h1>
<p class="notice${good && ' good'}" role="status">${message}</p>
${link && html`<a class="button" href="${link.to}">${link.text}</a>`}`,
  )
}

/** The way to the bank where it takes a form that is posted. */
export function leavingPage(setting: PageSetting, redirect: Redirect, again: string): string {
  const { texts } = setting
  const title = titleOf(setting)
  const hidden = (redirect.parameters ?? []).map(
    ({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return documentOf(
    setting,
    title,
    html`<h1 class="alone">${title}</h1>
<p class="notice" role="status">${texts.messages.challengeOpen}</p>
<form method="post" action="${redirect.url}">${hidden}<button>${texts.page.continue}</button></form>
<p class="more"><a href="${again}">${texts.labels.otherMethod}</a></p>`,
  )
}

export const titleOf = ({ texts, kind }: Pick<PageSetting, 'texts' | 'kind'>): string =>
  kind === 'registration' ? texts.page.titleRegistration : texts.page.title

export function formPage(setting: PageSetting, page: FormPage): string {
  const { texts, language } = setting
  const { offer, wrong, notice } = page
  const title = titleOf(setting)
  const heading =
    offer.amount === undefined
      ? html`<h1 class="alone">${title}</h1>`
      : html`<h1>${title}</h1><p class="amount"><bdi>${amountIn(offer, language)}</bdi></p>`
  const about = wrong.length > 0 ? texts.page.checkEntries : notice
  const content = html`${heading}
${about !== undefined && html`<p class="notice wrong" role="alert">${about}</p>`}
${methodsOf(setting, page)}`
  return documentOf(setting, wrong.length > 0 ? `${about} – ${title}` : title, content)
}

function methodsOf(setting: PageSetting, page: FormPage): Html {
  const { texts } = setting
  const { offer } = page
  const has = (flow: string) => offer.brands.some((one) => one.flow === flow)
  const parts: { readonly method: string; readonly title: Html; readonly form: Html }[] = []
  for (const registration of offer.registrations) {
    const { id } = registration
    parts.push({
      method: id,
      title: storedTitle(setting, registration),
      form: storedForm(setting, page, registration),
    })
  }
  if (has('card'))
    parts.push({ method: 'card', title: html`${texts.page.card}`, form: cardForm(setting, page) })
  if (has('bank'))
    parts.push({
      method: 'bank',
      title: html`${texts.page.bankAccount}`,
      form: bankForm(setting, page),
    })
  const redirects = offer.brands.filter(({ flow }) => flow === 'redirect')
  const open = parts.some(({ method }) => method === page.method) ? page.method : parts[0]?.method
  const [only] = parts
  const forms =
    parts.length === 1
      ? only!.form
      : html`<div class="methods">${parts.map(
          ({ method, title, form }) =>
            html`<details name="method"${method === open && html` open`}><summary><span>${title}</span></summary>${form}</details>`,
        )}</div>`
  return html`${parts.length + redirects.length > 1 && html`<h2>${texts.page.chooseMethod}</h2>`}
${forms}
${redirects.map(({ brand }) => redirectForm(setting, page, brand))}`
}

const nameOf = (brand: string): string => brandOf(brand)?.title ?? brand

function storedTitle(
  { texts }: PageSetting,
  { brand, last4 = '', expiryMonth, expiryYear }: Registration,
): Html {
  const expires =
    expiryMonth === undefined
      ? undefined
      : fill(texts.labels.registrationExpires, {
          date: `${expiryMonth}/${(expiryYear ?? '').slice(-2)}`,
        })
  return html`${fill(texts.labels.registration, { brand: nameOf(brand), digits: last4 })}${expires !== undefined && html`<small>${expires}</small>`}`
}

function storedForm(setting: PageSetting, page: FormPage, { id, cvv }: Registration): Html {
  return form(page, [
    html`<input type="hidden" name="registrationId" value="${id}">`,
    cvv === 'asked' && cvvField(setting, page, id),
    button(setting, page),
  ])
}

function cardForm(setting: PageSetting, page: FormPage): Html {
  const { labels, errors } = setting.texts
  const { offer, wrong } = page
  // The number tells the brand, except on some cards with two.
  const asksBrand = wrong.some((one) => one.field === 'paymentBrand' && one.reason === 'required')
  const isUnaccepted = wrong.some(
    (one) => one.field === 'paymentBrand' && one.reason !== 'required',
  )
  const expiry = reasonOf(wrong, 'card.expiryMonth', 'card.expiryYear')
  return form(page, [
    field(page, 'card', {
      name: 'card.number',
      label: labels.cardNumber,
      error: isUnaccepted
        ? errors.brandNotAccepted
        : reasonOf(wrong, 'card.number') && errors.cardNumberError,
      attributes: html`class="digits" dir="ltr" inputmode="numeric" autocomplete="cc-number" maxlength="30"`,
    }),
    asksBrand && brandField(setting, offer),
    html`<div class="pair">`,
    field(page, 'card', {
      name: 'expiry',
      label: labels.expiryDate,
      error: expiry && (expiry === 'expired' ? errors.cardExpiredError : errors.expiryDateError),
      attributes: html`class="digits" dir="ltr" inputmode="numeric" autocomplete="cc-exp" maxlength="9" placeholder="${labels.expiryDatePlaceholder}"`,
    }),
    cvvField(setting, page, 'card'),
    html`</div>`,
    field(page, 'card', {
      name: 'card.holder',
      label: labels.cardHolder,
      error: reasonOf(wrong, 'card.holder') && errors.cardHolderError,
      attributes: html`autocomplete="cc-name" maxlength="128" spellcheck="false"`,
    }),
    button(setting, page),
  ])
}

function bankForm(setting: PageSetting, page: FormPage): Html {
  const { labels, errors } = setting.texts
  const { wrong, offer } = page
  const brand = offer.brands.find(({ flow }) => flow === 'bank')?.brand
  return form(page, [
    html`<input type="hidden" name="paymentBrand" value="${brand}">`,
    field(page, 'bank', {
      name: 'bankAccount.holder',
      label: labels.accountHolder,
      error: reasonOf(wrong, 'bankAccount.holder') && errors.accountHolderError,
      attributes: html`autocomplete="name" maxlength="128" spellcheck="false"`,
    }),
    field(page, 'bank', {
      name: 'bankAccount.iban',
      label: labels.accountIban,
      error: reasonOf(wrong, 'bankAccount.iban') && errors.accountIbanError,
      attributes: html`class="digits" dir="ltr" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="42"`,
    }),
    html`<p class="mandate">${labels.mandate}</p>`,
    button(setting, page),
  ])
}

const redirectForm = ({ texts }: PageSetting, page: FormPage, brand: string): Html =>
  form(page, [
    html`<input type="hidden" name="paymentBrand" value="${brand}">`,
    html`<button class="quiet">${fill(texts.labels.payWith, { brand: nameOf(brand) })}</button>`,
  ])

/** Each form has a nonce of its own part, so that a click on another part is another try. */
function form({ action, nonce }: FormPage, content: readonly (Html | false)[]): Html {
  return html`<form method="post" action="${action}" autocomplete="on"><input type="hidden" name="nonce" value="${nonce}">${content}</form>`
}

function button({ texts: { labels }, language }: PageSetting, { offer }: FormPage): Html {
  if (offer.kind === 'registration') return html`<button>${labels.submitRegistration}</button>`
  if (offer.amount === undefined) return html`<button>${labels.submit}</button>`
  return html`<button>${fill(labels.submitAmount, { amount: amountIn(offer, language) })}</button>`
}

function cvvField(setting: PageSetting, page: FormPage, part: string): Html {
  const { labels, errors } = setting.texts
  return field(page, part, {
    name: 'card.cvv',
    label: labels.cvv,
    error: reasonOf(page.wrong, 'card.cvv') && errors.cvvError,
    attributes: html`class="digits" dir="ltr" inputmode="numeric" autocomplete="cc-csc" maxlength="4"`,
  })
}

function brandField({ texts: { labels, errors } }: PageSetting, { brands }: Offer): Html {
  const options = brands
    .filter(({ flow }) => flow === 'card')
    .map(({ brand }) => html`<option value="${brand}">${nameOf(brand)}</option>`)
  return html`<div class="field"><label for="card-brand">${labels.brand}</label>
<select id="card-brand" name="paymentBrand" required aria-invalid="true" aria-describedby="card-brand-error"><option value="">${labels.brandPlaceholder}</option>${options}</select>
<span class="error" id="card-brand-error">${errors.brandError}</span></div>`
}

/** The reason why one of these fields is wrong. */
const reasonOf = (wrong: readonly WrongField[], ...fields: readonly string[]): string | undefined =>
  wrong.find(({ field }) => fields.includes(field))?.reason

/** A label, a field, and beside it an error, which the field names as its description. */
function field(
  { method, wrong }: FormPage,
  part: string,
  one: {
    readonly name: string
    readonly label: string
    readonly error: string | undefined
    readonly attributes: Html
  },
): Html {
  const id = `${part}-${one.name.replaceAll('.', '-')}`
  const error = method === part ? one.error : undefined
  const isFirst =
    error !== undefined &&
    wrong[0]?.field.startsWith(one.name === 'expiry' ? 'card.expiry' : one.name) === true
  return html`<div class="field"><label for="${id}">${one.label}</label>
<input id="${id}" name="${one.name}" required ${one.attributes}${error !== undefined && html` aria-invalid="true" aria-describedby="${id}-error"`}${isFirst && html` autofocus`}>
${error !== undefined && html`<span class="error" id="${id}-error">${error}</span>`}</div>`
}
