import { cardBrand } from '../fields/card-brands.ts'
import { logo } from './brand-field.ts'
import { createCvv } from './card-form.ts'
import { type StoredCard, titleOf } from './checkout.ts'
import { type Context, openHiddenFrame } from './context.ts'
import { element, show } from './dom.ts'
import { freshId } from './messages.ts'
import { agrees } from './options.ts'
import type { Cashier, PayForm } from './press.ts'
import { createShell, extraFields } from './shell.ts'
import { fill } from './texts.ts'

/** Stored cards and accounts of this checkout's list: one click, and the security code if asked. */
export function createStoredCards(context: Context, cashier: Cashier): PayForm {
  const { options, language, checkout } = context
  const { labels } = language.texts
  const shell = createShell(context, 'registrations')
  // Deployed pages hide and show the list by this id, and press its button by this class.
  if (document.getElementById('wpwl-registrations') === null)
    shell.container.id = 'wpwl-registrations'
  shell.container.classList.add('wpwl-container-registration')
  const rows = checkout.registrations.map((card, index) => rowOf(context, card, index === 0))
  const list = element(
    'fieldset',
    { class: 'wpwl-group wpwl-group-registrations wpwl-clearfix' },
    element('legend', { class: 'wpwl-label wpwl-label-registrations' }, labels.registrations),
    ...rows,
  )
  // Without the code that the channel asks for, every press would be refused.
  const isAsked = (card: StoredCard) => card.cvv === 'asked'
  // Pages rewrite rows, so that buttons of our own making may be gone.
  const chosenId = () => list.querySelector<HTMLInputElement>('input[type=radio]:checked')?.value
  const chosen = () => {
    const id = chosenId()
    return checkout.registrations.find((card) => card.id === id) ?? checkout.registrations[0]!
  }
  const sender = openHiddenFrame(context, 'submit', cashier.hear)
  const isEverAsked = checkout.registrations.some(isAsked)
  if (isEverAsked && options.registrations?.requireCvv === false) {
    console.warn(
      'Tollgate widget: registrations.requireCvv has no effect: the channel asks for the security code (setting oneClickCvv)',
    )
  }
  const model = element('input', {
    class: 'wpwl-control',
    'aria-hidden': 'true',
    tabindex: '-1',
    disabled: '',
  })
  const cvv = isEverAsked ? createCvv(context, model, () => shell.form.requestSubmit()) : null
  const chose = () => {
    if (cvv === null) return
    const card = chosen()
    for (const row of rows) {
      row.classList.toggle('wpwl-selected', row.querySelector('input[type=radio]:checked') !== null)
    }
    show(cvv.element, isAsked(card))
    cvv.setLengths(cardBrand(card.brand).cvvLengths)
    cvv.setError('')
  }
  list.addEventListener('change', chose)
  const holder = element('div', { class: 'wpwl-style-model', 'aria-hidden': 'true' }, model)
  shell.form.prepend(list, ...(cvv === null ? [] : [cvv.element]), holder)
  shell.form.append(sender.element)
  chose()
  const form: PayForm = {
    ...shell,
    groups: new Map(cvv === null ? [] : [['card.cvv', cvv]]),
    check: async () => {
      if (cvv === null || !isAsked(chosen())) return null
      return (await cvv.check()) ? null : cvv
    },
    fields: () => ({
      ...extraFields(context, shell.form),
      registrationId: chosen().id,
      paymentBrand: chosen().brand,
    }),
    sender: () => sender,
    withCvv: () => cvv !== null && isAsked(chosen()),
    allowed: (event) => agrees(options, 'onBeforeSubmitOneClickCard', event),
    clear: () => cvv?.frame.say({ do: 'clear' }),
  }
  shell.form.addEventListener('submit', (event) => {
    event.preventDefault()
    void cashier.press(form, event)
  })
  return form
}

/** One registration, with the classes by which deployed pages find its parts. */
function rowOf(context: Context, card: StoredCard, isFirst: boolean): HTMLElement {
  const { labels } = context.language.texts
  const radio = element('input', {
    type: 'radio',
    name: 'registrationId',
    value: card.id,
    id: freshId('stored'),
    class: 'wpwl-control-registration',
  })
  // Also as an attribute, so that the choice survives a page that writes the row anew.
  radio.defaultChecked = isFirst
  const part = (name: string, ...children: (Node | string)[]) =>
    element(
      'span',
      { class: `wpwl-wrapper-registration wpwl-wrapper-registration-${name}` },
      ...children,
    )
  const words = { brand: titleOf(card.brand), digits: `\u2066${card.last4 ?? ''}\u2069` }
  const number = part('number', fill(labels.registration, words))
  const expiry = part('expiry')
  if (card.expiryMonth !== undefined && card.expiryYear !== undefined) {
    const date = `\u2066${card.expiryMonth}/${card.expiryYear.slice(-2)}\u2069`
    expiry.append(fill(labels.registrationExpires, { date }))
  }
  // The browser is not told the holder; pages read the part all the same.
  const details = part('details', number, expiry, part('holder'))
  const picture = logo(context, card.brand)
  picture.setAttribute('aria-hidden', 'true')
  const row = element(
    'div',
    { class: 'wpwl-registration wpwl-group-registration' },
    part('registrationId', radio),
    element('label', { for: radio.id }, details),
    part('brand', picture),
  )
  row.classList.toggle('wpwl-selected', isFirst)
  return row
}
