import { merchantSent } from './checkout.ts'
import type { Context } from './context.ts'
import { element } from './dom.ts'
import { createGroup, type Group } from './messages.ts'

/** Address fields, in the order in which they are shown. */
const names = ['street1', 'street2', 'postcode', 'city', 'state', 'country'] as const

const completion: Readonly<Record<(typeof names)[number], string>> = {
  street1: 'billing address-line1',
  street2: 'billing address-line2',
  postcode: 'billing postal-code',
  city: 'billing address-level2',
  state: 'billing address-level1',
  country: 'billing country',
}

export type BillingAddress = {
  readonly elements: readonly HTMLElement[]
  readonly groups: ReadonlyMap<string, Group>
  readonly check: () => void
}

/** The billing address, where the page asks for it and the merchant's server has not sent it. */
export function createBillingAddress(context: Context): BillingAddress {
  const { options, language } = context
  const { labels, errors } = language.texts
  const { billingAddress, mandatoryBillingFields } = options
  if (billingAddress === undefined && mandatoryBillingFields === undefined) {
    return { elements: [], groups: new Map(), check: () => {} }
  }
  const isNeeded = (name: string) => mandatoryBillingFields?.[name] === true
  const made = names
    .filter((name) => !merchantSent(context.checkout, `billing.${name}`))
    .map((name) => [name, fieldOf(context, name, isNeeded(name))] as const)
  const groups = new Map<string, Group>(made.map(([name, group]) => [`billing.${name}`, group]))
  const heading = element('legend', { class: 'wpwl-label-billing' }, labels.billingAddress)
  const all = element(
    'fieldset',
    { class: 'wpwl-group wpwl-group-billing wpwl-clearfix' },
    heading,
    ...made.map(([, group]) => group.element),
  )
  return {
    elements: made.length === 0 ? [] : [all],
    groups,
    check: () => {
      for (const [name, group] of made) {
        const value = (group.control as HTMLInputElement).value.trim()
        group.setError(value === '' && isNeeded(name) ? errors.requiredError : '')
      }
    },
  }
}

function fieldOf(context: Context, name: (typeof names)[number], isNeeded: boolean): Group {
  const { options, language } = context
  const input = element('input', {
    class: `wpwl-control wpwl-control-${name}`,
    name: `billing.${name}`,
    type: 'text',
    autocomplete: completion[name],
    'aria-required': String(isNeeded),
    ...(name === 'country' ? { maxlength: '2' } : {}),
  })
  input.value = options.billingAddress?.[name] ?? ''
  const group = createGroup(name, language.texts.labels[name], input, {
    showLabel: options.showLabels !== false,
  })
  input.addEventListener('input', () => {
    if (name === 'country') input.value = input.value.toUpperCase()
    if (input.value.trim() !== '') group.setError('')
  })
  return group
}
