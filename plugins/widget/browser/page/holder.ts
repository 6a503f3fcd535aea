import { digitsOf } from '../fields/digits.ts'
import { callbackTarget } from './callback-target.ts'
import type { Context } from './context.ts'
import { element } from './dom.ts'
import { createGroup, type Group } from './messages.ts'
import { call } from './options.ts'

/** The name on the card: one field, or one for each part of the billing name. */
export type Holder = {
  readonly element: HTMLElement
  readonly groups: readonly [Group, ...Group[]]
  /** The groups by the names of the fields that the gateway may refuse. */
  readonly named: readonly (readonly [field: string, group: Group])[]
  readonly check: () => void
  readonly name: () => string
}

export function createHolder(context: Context): Holder {
  return context.options.forceCardHolderEqualsBillingName === true
    ? createNames(context)
    : createOneField(context)
}

function createOneField(context: Context): Holder {
  const { options, language } = context
  const { labels, errors } = language.texts
  const group = createField(context, 'cardHolder', labels.cardHolder, {
    name: 'card.holder',
    autocomplete: 'cc-name',
    maxlength: '128',
    placeholder: options.showPlaceholders === false ? '' : labels.cardHolderPlaceholder,
  })
  const name = () => textOf(group)
  const check = () => group.setError(faultOf(context, name(), errors.cardHolderError, 3))
  watch(context, [group], check)
  return { element: group.element, groups: [group], named: [['card.holder', group]], check, name }
}

/** The form sends these fields as the customer's names as well, because of their names. */
function createNames(context: Context): Holder {
  const { labels, errors } = context.language.texts
  const given = createField(context, 'givenName', labels.givenName, {
    name: 'customer.givenName',
    autocomplete: 'cc-given-name',
    maxlength: '50',
  })
  const surname = createField(context, 'surName', labels.surname, {
    name: 'customer.surname',
    autocomplete: 'cc-family-name',
    maxlength: '50',
  })
  const groups = [given, surname] as const
  const name = () =>
    groups
      .map(textOf)
      .filter((text) => text !== '')
      .join(' ')
  const check = () => {
    for (const group of groups) {
      group.setError(faultOf(context, textOf(group), errors.requiredError, 1))
    }
    // A number that is spread over both fields is a number as well.
    if (digitsOf(name()).length >= 12) given.setError(errors.cardHolderDigitsError)
  }
  watch(context, groups, check)
  const wrapper = element(
    'div',
    { class: 'wpwl-wrapper wpwl-wrapper-cardHolder wpwl-names' },
    ...groups.map((group) => group.element),
  )
  return {
    // Pages move the name by this class.
    element: element('div', { class: 'wpwl-group-cardHolder wpwl-clearfix' }, wrapper),
    groups,
    named: [
      ['card.holder', given],
      ['customer.givenName', given],
      ['customer.surname', surname],
    ],
    check,
    name,
  }
}

function createField(
  { options }: Context,
  name: string,
  label: string,
  attributes: Readonly<Record<string, string>>,
): Group {
  const input = element('input', {
    class: `wpwl-control wpwl-control-${name}`,
    type: 'text',
    spellcheck: 'false',
    'aria-required': String(options.allowEmptyCardHolderName !== true),
    ...attributes,
  })
  return createGroup(name, label, input, { showLabel: options.showLabels !== false })
}

const textOf = (group: Group) => (group.control as HTMLInputElement).value.trim()

function faultOf(
  { options, language }: Context,
  name: string,
  tooShort: string,
  least: number,
): string {
  if (digitsOf(name).length >= 12) return language.texts.errors.cardHolderDigitsError
  const mayBeEmpty = name === '' && options.allowEmptyCardHolderName === true
  return name.length < least && !mayBeEmpty ? tooShort : ''
}

/** Messages come once a field is left, and go as soon as it is right. */
function watch({ options }: Context, groups: readonly Group[], check: () => void): void {
  const isFilled = () => groups.every((group) => textOf(group) !== '')
  const hasError = () => groups.some((group) => group.hasError())
  for (const { control } of groups) {
    control.addEventListener('input', () => hasError() && check())
    control.addEventListener('blur', () => {
      if (isFilled()) check()
      call(options.onBlurCardHolder, callbackTarget(control), !hasError() && isFilled())
    })
  }
}
