import { cardBrand } from '../fields/card-brands.ts'
import { logo } from './brand-field.ts'
import { createCvv } from './card-form.ts'
import { type StoredCard, titleOf } from './checkout.ts'
import { type Context, openHiddenFrame } from './context.ts'
import { element, show } from './dom.ts'
import { freshId } from './messages.ts'
import { call } from './options.ts'
import type { Cashier, PayForm } from './press.ts'
import { createShell, extraFields } from './shell.ts'
import { fill } from './texts.ts'

/** Stored cards and accounts of this checkout's list: one click, and the security code if asked. */
export function createStoredCards(context: Context, cashier: Cashier): PayForm {
  const { options, language, checkout } = context
  const { labels } = language.texts
  const shell = createShell(context, 'registrations')
  const groupName = freshId('registration')
  const rows = checkout.registrations.map((card, index) =>
    rowOf(context, card, groupName, index === 0),
  )
  const list = element(
    'fieldset',
    { class: 'wpwl-group wpwl-group-registrations wpwl-clearfix' },
    element('legend', { class: 'wpwl-label wpwl-label-registrations' }, labels.registrations),
    ...rows.map(({ row }) => row),
  )
  const isAsked = (card: StoredCard) =>
    card.cvv === 'asked' && options.registrations?.requireCvv !== false
  const chosen = () => rows.find(({ radio }) => radio.checked)?.card ?? checkout.registrations[0]!
  const sender = openHiddenFrame(context, 'submit', cashier.hear)
  const isEverAsked = checkout.registrations.some(isAsked)
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
    for (const { row, radio } of rows) row.classList.toggle('wpwl-selected', radio.checked)
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
    allowed: async (event) => call(options.onBeforeSubmitOneClickCard, window, event),
    clear: () => cvv?.frame.say({ do: 'clear' }),
  }
  shell.form.addEventListener('submit', (event) => {
    event.preventDefault()
    void cashier.press(form, event)
  })
  return form
}

function rowOf(context: Context, card: StoredCard, groupName: string, isFirst: boolean) {
  const { labels } = context.language.texts
  const radio = element('input', {
    type: 'radio',
    name: groupName,
    value: card.id,
    id: freshId('stored'),
    class: 'wpwl-control-registration',
  })
  radio.checked = isFirst
  const words = { brand: titleOf(card.brand), digits: `\u2066${card.last4 ?? ''}\u2069` }
  const text = element(
    'span',
    { class: 'wpwl-registration-number' },
    fill(labels.registration, words),
  )
  const label = element('label', { for: radio.id }, text)
  if (card.expiryMonth !== undefined && card.expiryYear !== undefined) {
    const date = `\u2066${card.expiryMonth}/${card.expiryYear.slice(-2)}\u2069`
    const expiry = fill(labels.registrationExpires, { date })
    label.append(element('span', { class: 'wpwl-registration-expiry' }, expiry))
  }
  const picture = logo(context, card.brand)
  picture.setAttribute('aria-hidden', 'true')
  const row = element(
    'div',
    { class: `wpwl-registration wpwl-group-registration` },
    radio,
    label,
    picture,
  )
  row.classList.toggle('wpwl-selected', isFirst)
  return { row, radio, card }
}
