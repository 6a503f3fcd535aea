/** The card form of the hosted page: the card, the choice between two brands on it, the billing address. */
import { brandOf, countries } from '@tollgate/schemas'
import { type LanguageCode, tagOf } from '@tollgate/widget/texts/languages'
import type { Offer, PageSetting } from './checkout-page-document.ts'
import {
  button,
  choice,
  cvvField,
  type FormPage,
  field,
  form,
  nameOf,
  nameOn,
  reasonOf,
} from './checkout-page-fields.ts'
import { logosOf } from './checkout-page-logos.ts'
import { type Html, html } from './html.ts'

export function cardForm(setting: PageSetting, page: FormPage): Html {
  const { labels, errors } = setting.texts
  const { offer, wrong } = page
  const ofBrand = reasonOf(wrong, 'paymentBrand')
  const isUnaccepted = ofBrand !== undefined && ofBrand !== 'required'
  const expiry = reasonOf(wrong, 'card.expiryMonth', 'card.expiryYear')
  const holder = reasonOf(wrong, 'card.holder')
  return form(page, [
    field(page, 'card', {
      name: 'card.number',
      label: labels.cardNumber,
      beside: logosOf(cardBrandsOf(offer)),
      // A number with a typing error is of no brand.
      error: reasonOf(wrong, 'card.number')
        ? errors.cardNumberError
        : isUnaccepted
          ? errors.brandNotAccepted
          : undefined,
      faults: isUnaccepted ? ['card.number', 'paymentBrand'] : ['card.number'],
      attributes: html`class="digits" dir="ltr" inputmode="numeric" autocomplete="cc-number" maxlength="30"`,
    }),
    brandField(setting, page, ofBrand === 'required'),
    html`<div class="pair">`,
    field(page, 'card', {
      name: 'expiry',
      label: labels.expiryDate,
      error: expiry && (expiry === 'expired' ? errors.cardExpiredError : errors.expiryDateError),
      faults: ['card.expiryMonth', 'card.expiryYear'],
      attributes: html`class="digits" dir="ltr" inputmode="numeric" autocomplete="cc-exp" maxlength="9" placeholder="${labels.expiryDatePlaceholder}"`,
    }),
    cvvField(setting, page, 'card'),
    html`</div>`,
    field(page, 'card', {
      name: 'card.holder',
      label: labels.cardHolder,
      error:
        holder && (holder === 'digits' ? errors.cardHolderDigitsError : errors.cardHolderError),
      attributes: html`autocomplete="cc-name" maxlength="128" spellcheck="false"`,
    }),
    billingFields(setting, page),
    saveBox(setting, page, 'card'),
    button(setting, page),
  ])
}

const cardBrandsOf = ({ brands }: Offer): readonly string[] =>
  brands.filter(({ flow }) => flow === 'card').map(({ brand }) => brand)

/** Brands that stand on cards of another brand of the offer. */
function sharedBrandsOf(offer: Offer): readonly string[] {
  const codes = cardBrandsOf(offer)
  return codes.filter((code) => brandOf(code)?.hosts.some((host) => codes.includes(host)) === true)
}

/** The number tells the brand, except on a card with two. @param isNeeded the number told none */
function brandField(setting: PageSetting, page: FormPage, isNeeded: boolean): Html | false {
  const { labels, errors, page: words } = setting.texts
  const codes = isNeeded ? cardBrandsOf(page.offer) : sharedBrandsOf(page.offer)
  if (codes.length === 0) return false
  const first = isNeeded ? labels.brandPlaceholder : words.brandByNumber
  const entry = {
    name: 'paymentBrand',
    label: isNeeded ? labels.brand : labels.brandChoice,
    error: isNeeded ? errors.brandError : undefined,
    attributes: isNeeded ? html`required` : html``,
  }
  return choice(
    page,
    'card',
    entry,
    html`<option value="">${first}</option>${codes.map(brandOption)}`,
  )
}

const brandOption = (code: string): Html => html`<option value="${code}">${nameOf(code)}</option>`

/** Fields of the address, in the order in which they are shown. */
const address = [
  ['billing.street1', 'street1', 'billing address-line1', 100],
  ['billing.postcode', 'postcode', 'billing postal-code', 16],
  ['billing.city', 'city', 'billing address-level2', 80],
] as const

function billingFields(setting: PageSetting, page: FormPage): Html | false {
  const { labels, errors } = setting.texts
  const { missingBilling } = page.offer
  if (missingBilling.length === 0) return false
  const errorOf = (name: string) => {
    const reason = reasonOf(page.wrong, name)
    return reason && (reason === 'required' ? errors.requiredError : errors.invalidError)
  }
  const fields = address
    .filter(([name]) => missingBilling.includes(name))
    .map(([name, label, completion, most]) =>
      field(page, 'card', {
        name,
        label: labels[label],
        error: errorOf(name),
        attributes: html`autocomplete="${completion}" maxlength="${most}"`,
      }),
    )
  const country = {
    name: 'billing.country',
    label: labels.country,
    error: errorOf('billing.country'),
    attributes: html`required autocomplete="billing country"`,
  }
  return html`<fieldset><legend>${labels.billingAddress}</legend>${fields}
${missingBilling.includes('billing.country') && choice(page, 'card', country, countriesIn(setting.language))}</fieldset>`
}

const lists = new Map<LanguageCode, Html>()

/** All countries by their names in a language, in its order. */
function countriesIn(language: LanguageCode): Html {
  const known = lists.get(language)
  if (known !== undefined) return known
  const tag = tagOf(language)
  const names = new Intl.DisplayNames(tag, { type: 'region' })
  const { compare } = new Intl.Collator(tag)
  const options = countries
    .map(([code]) => ({ code, name: names.of(code) ?? code }))
    .sort((one, other) => compare(one.name, other.name))
    .map(({ code, name }) => html`<option value="${code}">${name}</option>`)
  const list = html`<option value=""></option>${options}`
  lists.set(language, list)
  return list
}

/** The shopper decides whether the account is stored, unless the merchant has. */
export function saveBox({ texts }: PageSetting, page: FormPage, part: string): Html | false {
  if (!page.offer.mayRegister) return false
  const id = `${part}-save`
  return html`<div class="check"><input type="checkbox" id="${id}" name="${nameOn(page, 'createRegistration')}" value="true"><label for="${id}">${texts.labels.createRegistration}</label></div>`
}
