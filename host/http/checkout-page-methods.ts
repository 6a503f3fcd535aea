/** The ways to pay on the hosted page, each a form of its own. */
import { cardForm, saveBox } from './checkout-page-card.ts'
import {
  amountIn,
  documentOf,
  fill,
  type Offer,
  type PageSetting,
  titleOf,
} from './checkout-page-document.ts'
import {
  button,
  cvvField,
  type FormPage,
  field,
  form,
  nameOf,
  reasonOf,
} from './checkout-page-fields.ts'
import { logoOf } from './checkout-page-logos.ts'
import { type Html, html } from './html.ts'

type Registration = Offer['registrations'][number]

export function formPage(setting: PageSetting, page: FormPage): string {
  const { texts, language } = setting
  const { offer, wrong, notice } = page
  const title = titleOf(setting)
  const heading =
    offer.amount === undefined
      ? html`<h1 class="alone">${title}</h1>`
      : html`<h1>${title}</h1><p class="amount"><bdi>${amountIn(offer, language)}</bdi></p>`
  const about = wrong.length > 0 ? texts.page.checkEntries : notice
  const content = html`${merchantOf(page.offer)}${heading}
${about !== undefined && html`<p class="notice wrong" role="alert">${about}</p>`}
${methodsOf(setting, page)}`
  return documentOf(setting, wrong.length > 0 ? `${about} – ${title}` : title, content)
}

/** The shop and its order, as far as the checkout names them. */
function merchantOf({ merchantName, reference }: Offer): Html {
  if (merchantName === undefined && reference === undefined) return html``
  return html`<p class="merchant">${merchantName !== undefined && html`<bdi>${merchantName}</bdi>`}${reference !== undefined && html`<small><bdi>${reference}</bdi></small>`}</p>`
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
  const redirects = redirectsOf(page)
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
    saveBox(setting, page, 'bank'),
    html`<p class="mandate">${labels.mandate}</p>`,
    button(setting, page),
  ])
}

/**
 * Brands with a page of their own lead back to the merchant's page, so that they need one. The simulator takes every
 * brand: without a choice, the test environment shows those with a mark.
 */
function redirectsOf({ offer, isChosen }: FormPage): Offer['brands'] {
  if (!offer.result) return []
  const all = offer.brands.filter(({ flow }) => flow === 'redirect')
  if (isChosen || !offer.test) return all
  return all.filter(({ brand }) => logoOf(brand) !== undefined)
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
