/** The ways to pay on the hosted page, each a form of its own. */
import { brandOf } from '@tollgate/schemas'
import {
  amountIn,
  documentOf,
  fill,
  type Offer,
  type PageSetting,
  titleOf,
} from './checkout-page-document.ts'
import type { WrongField } from './checkout-page-form.ts'
import { logoOf, logosOf } from './checkout-page-logos.ts'
import { type Html, html } from './html.ts'

type Registration = Offer['registrations'][number]

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
${redirectForms(setting, page, redirects)}`
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
      beside: logosOf(offer.brands.filter(({ flow }) => flow === 'card').map(({ brand }) => brand)),
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

/** The first few at once; a list of every bank and wallet would hide the card. */
const shownAtOnce = 4

function redirectForms(setting: PageSetting, page: FormPage, redirects: Offer['brands']): Html {
  const forms = redirects.map(({ brand }) => redirectForm(setting, page, brand))
  const others = forms.slice(shownAtOnce)
  return html`${forms.slice(0, shownAtOnce)}
${others.length > 0 && html`<details class="others"><summary>${setting.texts.labels.otherMethod}</summary>${others}</details>`}`
}

const redirectForm = ({ texts }: PageSetting, page: FormPage, brand: string): Html =>
  form(page, [
    html`<input type="hidden" name="paymentBrand" value="${brand}">`,
    html`<button class="quiet">${logoOf(brand)}<span>${fill(texts.labels.payWith, { brand: nameOf(brand) })}</span></button>`,
  ])

/** One nonce for the page: two clicks are one payment, whatever they are on. */
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

/**
 * A label, a field, and beside it an error, which the field names as its description. The field has another name on
 * every page: browsers that go back restore what was typed into a field of the same name.
 */
function field(
  { method, nonce, wrong }: FormPage,
  part: string,
  one: {
    readonly name: string
    readonly label: string
    readonly error: string | undefined
    readonly attributes: Html
    readonly beside?: Html
  },
): Html {
  const id = `${part}-${one.name.replaceAll('.', '-')}`
  const error = method === part ? one.error : undefined
  const isFirst =
    error !== undefined &&
    wrong[0]?.field.startsWith(one.name === 'expiry' ? 'card.expiry' : one.name) === true
  return html`<div class="field"><div class="over"><label for="${id}">${one.label}</label>${one.beside}</div>
<input id="${id}" name="${one.name}~${nonce.slice(-8)}" required ${one.attributes}${error !== undefined && html` aria-invalid="true" aria-describedby="${id}-error"`}${isFirst && html` autofocus`}>
${error !== undefined && html`<span class="error" id="${id}-error">${error}</span>`}</div>`
}
