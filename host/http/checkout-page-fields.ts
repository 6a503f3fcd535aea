/** Forms and fields of the hosted page. */
import { brandOf } from '@tollgate/schemas'
import { amountIn, fill, type Offer, type PageSetting } from './checkout-page-document.ts'
import type { WrongField } from './checkout-page-form.ts'
import { type Html, html } from './html.ts'

export type FormPage = {
  readonly offer: Offer
  readonly nonce: string
  /** Where forms are posted to. */
  readonly action: string
  /** The part that is open. */
  readonly method: string
  readonly wrong: readonly WrongField[]
  readonly notice?: string
  /** The address of the page names the brands. */
  readonly isChosen: boolean
}

export const nameOf = (brand: string): string => brandOf(brand)?.title ?? brand

/** One nonce for the page: two clicks are one payment, whatever they are on. It is for what the page shows. */
export function form({ action, nonce, offer }: FormPage, content: readonly (Html | false)[]): Html {
  return html`<form method="post" action="${action}" autocomplete="on"><input type="hidden" name="nonce" value="${nonce}"><input type="hidden" name="shown" value="${offer.shown}">${content}</form>`
}

export function button({ texts: { labels }, language }: PageSetting, { offer }: FormPage): Html {
  if (offer.kind === 'registration') return html`<button>${labels.submitRegistration}</button>`
  if (offer.amount === undefined) return html`<button>${labels.submit}</button>`
  return html`<button>${fill(labels.submitAmount, { amount: amountIn(offer, language) })}</button>`
}

export function cvvField(setting: PageSetting, page: FormPage, part: string): Html {
  const { labels, errors } = setting.texts
  return field(page, part, {
    name: 'card.cvv',
    label: labels.cvv,
    error: reasonOf(page.wrong, 'card.cvv') && errors.cvvError,
    attributes: html`class="digits" dir="ltr" inputmode="numeric" autocomplete="cc-csc" maxlength="4"`,
  })
}

/** The reason why one of these fields is wrong. */
export const reasonOf = (
  wrong: readonly WrongField[],
  ...fields: readonly string[]
): string | undefined => wrong.find(({ field }) => fields.includes(field))?.reason

/** A part of a form: what the shopper reads, and what is wrong with it. */
type Entry = {
  readonly name: string
  readonly label: string
  readonly error: string | undefined
  /** Fields of the gateway whose faults are shown here; without it, the one of the same name. */
  readonly faults?: readonly string[]
  readonly attributes: Html
  readonly beside?: Html
}

/**
 * A label, a field, and beside it an error, which the field names as its description. The field has another name on
 * every page: browsers that go back restore what was typed into a field of the same name.
 */
export function field(page: FormPage, part: string, entry: Entry): Html {
  const { own, error } = partsOf(page, part, entry)
  return entryOf(part, entry, html`<input ${own} required ${entry.attributes}>`, error)
}

/** @param options `<option>` elements, the first of which is chosen */
export function choice(page: FormPage, part: string, entry: Entry, options: Html): Html {
  const { own, error } = partsOf(page, part, entry)
  return entryOf(part, entry, html`<select ${own} ${entry.attributes}>${options}</select>`, error)
}

const idOf = (part: string, name: string) => `${part}-${name.replaceAll('.', '-')}`

/** The name of a field on this page alone. */
export const nameOn = ({ nonce }: FormPage, name: string): string => `${name}~${nonce.slice(-8)}`

function partsOf(page: FormPage, part: string, { name, error: said, faults = [name] }: Entry) {
  const id = idOf(part, name)
  const error = page.method === part ? said : undefined
  const isFirst = error !== undefined && faults.includes(page.wrong[0]?.field ?? '')
  const own = html`id="${id}" name="${nameOn(page, name)}"${error !== undefined && html` aria-invalid="true" aria-describedby="${id}-error"`}${isFirst && html` autofocus`}`
  return { own, error }
}

function entryOf(
  part: string,
  { name, label, beside }: Entry,
  control: Html,
  error?: string,
): Html {
  const id = idOf(part, name)
  return html`<div class="field"><div class="over"><label for="${id}">${label}</label>${beside}</div>
${control}
${error !== undefined && html`<span class="error" id="${id}-error">${error}</span>`}</div>`
}
