import { addedFields, resultAddress } from './collect.ts'
import type { Context } from './context.ts'
import { element } from './dom.ts'
import { createNotices, freshId, type Notices } from './messages.ts'
import { fill, formatAmount } from './texts.ts'

export type Shell = {
  readonly container: HTMLElement
  readonly form: HTMLFormElement
  readonly notices: Notices
  readonly button: HTMLButtonElement
  readonly submitGroup: HTMLElement
}

/** The outside of every form: container, form, message, button. */
export function createShell(context: Context, kind: string, buttonText?: string): Shell {
  const { language } = context
  const style = context.options.style ?? 'card'
  const form = element('form', {
    class: `wpwl-form wpwl-form-${kind.replace('-', ` wpwl-form-`)} wpwl-clearfix`,
    action: resultAddress(context),
    novalidate: '',
    lang: language.tag,
    dir: language.direction,
    'aria-busy': 'false',
  })
  const button = element('button', { type: 'submit', class: 'wpwl-button wpwl-button-pay' })
  if (buttonText === undefined) labelled(context, button)
  else button.textContent = buttonText
  const submitGroup = element(
    'div',
    { class: 'wpwl-group wpwl-group-submit wpwl-clearfix' },
    element('div', { class: 'wpwl-wrapper wpwl-wrapper-submit' }, button),
  )
  const container = element('div', {
    class: `wpwl-container wpwl-container-${kind} wpwl-style-${style} wpwl-clearfix`,
    id: freshId(kind.split('-')[0] ?? kind),
    dir: language.direction,
    lang: language.tag,
  })
  const notices = createNotices()
  if (context.options.disableSubmitOnEnter === true) {
    form.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && event.target instanceof HTMLInputElement) event.preventDefault()
    })
  }
  form.append(notices.box, submitGroup)
  container.append(form, notices.region)
  return { container, form, notices, button, submitGroup }
}

/** Buttons that say what is paid, each with its words. */
const labels = new Map<HTMLButtonElement, () => string>()

function labelled(context: Context, button: HTMLButtonElement): void {
  labels.set(button, () => submitLabel(context))
  context.signal.addEventListener('abort', () => labels.delete(button), { once: true })
  button.textContent = submitLabel(context)
}

/** The buttons of every form, after the merchant changed what is paid. */
export function relabel(): void {
  for (const [button, label] of labels) button.textContent = label()
}

/** What a button says, as the gateway names it: nothing where the page chose the words, or a brand is named. */
export function shownBy({ options, checkout }: Context, button: HTMLButtonElement): string {
  const isOwn = typeof options.labels?.submit === 'string' && options.useSummaryPage !== true
  return isOwn || !labels.has(button) ? '' : (checkout.shown ?? '')
}

function submitLabel({ options, language, checkout }: Context): string {
  const { labels } = language.texts
  // A page that expects a summary may have called this button "Next", and it pays.
  const { submit } = options.labels ?? {}
  if (typeof submit === 'string' && options.useSummaryPage !== true) return submit
  if (checkout.kind === 'registration') return labels.submitRegistration
  if (checkout.amount === undefined || checkout.currency === undefined) return labels.submit
  const amount = formatAmount(checkout.amount, checkout.currency, language.tag)
  return fill(labels.submitAmount, { amount })
}

/** The checkbox that saves the card or account, where the merchant's form has one. */
export function registrationBox(context: Context): HTMLElement | null {
  const { merchantForm, language, checkout } = context
  // This checkout stores the account in any case.
  if (checkout.kind === 'registration') return null
  const given = merchantForm.querySelector<HTMLInputElement>('input[name="createRegistration"]')
  if (given === null || given.type === 'hidden') return null
  const box = element('input', {
    type: 'checkbox',
    name: 'createRegistration',
    value: 'true',
    class: 'wpwl-control-createRegistration',
    id: freshId('createRegistration'),
  })
  box.checked = given.checked
  return element(
    'div',
    { class: 'wpwl-group wpwl-group-createRegistration wpwl-clearfix' },
    box,
    element(
      'label',
      { for: box.id, class: 'wpwl-label wpwl-label-createRegistration' },
      language.texts.labels.createRegistration,
    ),
  )
}

/** Fields that the merchant's form carries, then those that were added to ours. */
export function extraFields(context: Context, form: HTMLFormElement): Record<string, string> {
  const carried = addedFields(context.merchantForm)
  const visible = context.merchantForm.querySelector('input[name="createRegistration"]')
  // The shopper decides by the box that is shown.
  if (visible?.getAttribute('type') === 'checkbox') delete carried.createRegistration
  const fields = { ...carried, ...addedFields(form) }
  if (context.checkout.kind === 'registration') delete fields.createRegistration
  return fields
}
