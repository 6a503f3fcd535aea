import { logo } from './brand-field.ts'
import { titleOf } from './checkout.ts'
import { type Context, openHiddenFrame } from './context.ts'
import type { Cashier, PayForm } from './press.ts'
import { createShell, extraFields } from './shell.ts'
import { fill } from './texts.ts'

/** A brand that takes the shopper to a page of its own: one button. */
export function createBrandButton(context: Context, brand: string, cashier: Cashier): PayForm {
  const shell = createShell(
    context,
    `virtualAccount-${brand}`,
    fill(context.language.texts.labels.payWith, { brand: titleOf(brand) }),
  )
  shell.button.classList.add('wpwl-button-brand')
  const picture = logo(context, brand)
  if (!picture.classList.contains('wpwl-brand-text')) {
    picture.setAttribute('aria-hidden', 'true')
    shell.button.prepend(picture)
  }
  const sender = openHiddenFrame(context, 'submit', cashier.hear)
  shell.form.append(sender.element)
  const form: PayForm = {
    ...shell,
    groups: new Map(),
    check: async () => null,
    fields: () => ({ ...extraFields(context, shell.form), paymentBrand: brand }),
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
