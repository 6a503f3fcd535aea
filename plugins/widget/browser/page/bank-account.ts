import { keepFormatted, withGaps } from '../fields/caret.ts'
import { cleanIban, isIban } from '../fields/iban.ts'
import { flowOf, titleOf } from './checkout.ts'
import { type Context, openHiddenFrame } from './context.ts'
import { element } from './dom.ts'
import { createGroup, type Group } from './messages.ts'
import type { Cashier, PayForm } from './press.ts'
import { createShell, extraFields, registrationBox } from './shell.ts'

const gaps = [4, 8, 12, 16, 20, 24, 28, 32]

/** The form for a debit of a bank account, with the text of the mandate. */
export function createBankAccountForm(context: Context, brand: string, cashier: Cashier): PayForm {
  const { options, language, checkout } = context
  const { labels, errors } = language.texts
  const shell = createShell(context, `directDebit-${brand}`)
  const showLabel = options.showLabels !== false
  const holder = createGroup(
    'accountHolder',
    labels.accountHolder,
    inputOf('accountHolder', 'name'),
    {
      showLabel,
    },
  )
  const iban = createGroup('accountIban', labels.accountIban, inputOf('accountIban', 'off'), {
    showLabel,
  })
  const ibanInput = iban.control as HTMLInputElement
  ibanInput.dir = 'ltr'
  ibanInput.autocapitalize = 'characters'
  const check = {
    holder: () => holder.setError(textOf(holder).length < 3 ? errors.accountHolderError : ''),
    iban: () => iban.setError(isIban(cleanIban(ibanInput.value)) ? '' : errors.accountIbanError),
  }
  keepFormatted(
    ibanInput,
    { clean: cleanIban, format: (value) => withGaps(value, gaps) },
    (value) => {
      if (iban.hasError() && isIban(value)) iban.setError('')
    },
  )
  ibanInput.addEventListener('blur', () => ibanInput.value !== '' && check.iban())
  holder.control.addEventListener('input', () => holder.hasError() && check.holder())
  const sender = openHiddenFrame(context, 'submit', cashier.hear)
  const box = registrationBox(context)
  const mandate = element('p', { class: 'wpwl-mandate' }, labels.mandate)
  // Forms of two brands look the same but for their brand.
  const isOneOfMany = context.brands.filter((code) => flowOf(checkout, code) === 'bank').length > 1
  const title = isOneOfMany ? [element('strong', { class: 'wpwl-form-title' }, titleOf(brand))] : []
  if (isOneOfMany) shell.form.setAttribute('aria-label', titleOf(brand))
  shell.form.prepend(
    ...title,
    holder.element,
    iban.element,
    ...(box === null ? [] : [box]),
    mandate,
  )
  shell.form.append(sender.element)
  const form: PayForm = {
    ...shell,
    groups: new Map([
      ['bankAccount.holder', holder],
      ['bankAccount.iban', iban],
    ]),
    check: async () => {
      check.holder()
      check.iban()
      return [holder, iban].find((group) => group.hasError()) ?? null
    },
    fields: () => ({
      ...extraFields(context, shell.form),
      paymentBrand: brand,
      'bankAccount.holder': textOf(holder),
      'bankAccount.iban': cleanIban(ibanInput.value),
    }),
    sender: () => sender,
    withCvv: () => false,
    allowed: async () => true,
    clear: () => {},
  }
  shell.form.addEventListener('submit', (event) => {
    event.preventDefault()
    void cashier.press(form, event)
  })
  return form
}

const textOf = (group: Group) => (group.control as HTMLInputElement).value.trim()

function inputOf(name: string, autocomplete: string): HTMLInputElement {
  return element('input', {
    class: `wpwl-control wpwl-control-${name}`,
    type: 'text',
    spellcheck: 'false',
    maxlength: '128',
    'aria-required': 'true',
    autocomplete,
  })
}
