import { expiryFault, formatExpiry, readExpiry } from '../fields/expiry.ts'
import type { FromFrame } from '../protocol.ts'
import { createBillingAddress } from './billing-address.ts'
import { createBrandField } from './brand-field.ts'
import { createFrameGroup, cvvHint, type FrameGroup } from './card-fields.ts'
import type { Context } from './context.ts'
import { element } from './dom.ts'
import { createHolder, type Holder } from './holder.ts'
import { createGroup, type Group } from './messages.ts'
import { agrees, call } from './options.ts'
import type { Cashier, PayForm } from './press.ts'
import { createShell, extraFields, registrationBox } from './shell.ts'

/** The form for a card: number and security code in frames, the rest in the page. */
export function createCardForm(
  context: Context,
  accepted: readonly string[],
  cashier: Cashier,
): PayForm {
  const { options, language } = context
  const { labels, errors } = language.texts
  const shell = createShell(context, 'card')
  const enter = () => shell.form.requestSubmit()
  const brand = createBrandField(context, accepted, () => brandChanged())
  const expiry = createExpiry(context)
  const holder = createHolder(context)
  const number = createFrameGroup(
    context,
    {
      name: 'number',
      group: 'cardNumber',
      label: labels.cardNumber,
      accepted,
      mayBeEmpty: false,
      messageOf: (state) =>
        ({
          valid: '',
          empty: errors.cardNumberError,
          invalid: errors.cardNumberError,
          notAccepted: errors.brandNotAccepted,
        })[state],
      listen: (word) => numberSaid(word),
      onEnter: enter,
    },
    expiry.control,
  )
  number.wrapper.append(brand.logos)
  const cvv = options.requireCvv === false ? null : createCvv(context, expiry.control, enter)
  const billing = createBillingAddress(context)
  let bin = ''
  const numberSaid = (word: FromFrame) => {
    cashier.hear(word)
    if (word.is !== 'typed') return
    brand.detected(word.brands)
    if (word.bin !== bin && word.bin !== '') call(options.onDetectBin, window, word.bin)
    bin = word.bin
  }
  const brandChanged = () => cvv?.setLengths(brand.cvvLengths())

  const box = registrationBox(context)
  // A choice between two brands appears below the number, where it moves nothing under the caret.
  const first = options.brandDetection === false ? [brand.group, number] : [number, brand.group]
  const groups: Group[] = [...first, expiry, ...(cvv === null ? [] : [cvv]), ...holder.groups]
  const shown = [...first, expiry, ...(cvv === null ? [] : [cvv]), holder]
  shell.form.prepend(...shown.map((one) => one.element))
  for (const element of [...billing.elements, ...(box === null ? [] : [box])]) {
    shell.form.insertBefore(element, shell.notices.box)
  }
  const form: PayForm = {
    ...shell,
    groups: new Map<string, Group>([
      ['paymentBrand', brand.group],
      ['card.number', number],
      ['card.expiryMonth', expiry],
      ['card.expiryYear', expiry],
      ...holder.named,
      ...(cvv === null ? [] : ([['card.cvv', cvv]] as const)),
      ...billing.groups,
    ]),
    check: async () => {
      await Promise.all([number.check(), cvv?.check()])
      checkExpiry(context, expiry)
      holder.check()
      const isChosen = options.brandDetection !== false || brand.value() !== ''
      brand.group.setError(isChosen ? '' : errors.brandError)
      billing.check()
      return [...groups, ...billing.groups.values()].find((group) => group.hasError()) ?? null
    },
    fields: () => cardFields(context, brand.value(), expiry, holder, shell.form),
    sender: () => number.frame,
    withCvv: () => cvv !== null,
    allowed: async (event) =>
      (await agrees(options, 'onBeforeSubmitCard', event)) &&
      (await agrees(options, 'onBeforeSubmitCardPromise', event)),
    clear: () => cvv?.frame.say({ do: 'clear' }),
  }
  shell.form.addEventListener('submit', (event) => {
    event.preventDefault()
    void cashier.press(form, event)
  })
  autofocus(context, {
    'card.number': number,
    'card.expiry': expiry,
    'card.holder': holder.groups[0],
    'card.cvv': cvv,
  })
  return form
}

function cardFields(
  context: Context,
  brand: string,
  expiry: Group,
  holder: Holder,
  form: HTMLFormElement,
): Record<string, string> {
  const date = readExpiry(textOf(expiry))
  const name = holder.name()
  return {
    ...extraFields(context, form),
    ...(brand === '' ? {} : { paymentBrand: brand }),
    ...(date === null ? {} : { 'card.expiryMonth': date.month, 'card.expiryYear': date.year }),
    ...(name === '' ? {} : { 'card.holder': name }),
  }
}

const textOf = (group: Group) => (group.control as HTMLInputElement).value

function createExpiry(context: Context): Group {
  const { options, language } = context
  const { labels } = language.texts
  const input = element('input', {
    class: 'wpwl-control wpwl-control-expiry',
    name: 'card.expiry',
    type: 'text',
    inputmode: 'numeric',
    autocomplete: 'cc-exp',
    'aria-required': 'true',
    dir: 'ltr',
    placeholder: options.showPlaceholders === false ? '' : labels.expiryDatePlaceholder,
  })
  const group = createGroup('expiry', labels.expiryDate, input, {
    showLabel: options.showLabels !== false,
  })
  input.addEventListener('input', (event) => {
    const isDeleting = (event as InputEvent).inputType?.startsWith('delete') ?? false
    const isAtEnd = input.selectionStart === input.value.length
    // Corrections in the middle are left alone until the field is left.
    if (isAtEnd) input.value = formatExpiry(input.value, isDeleting)
    if (group.hasError() && faultOf(context, input.value) === '') group.setError('')
  })
  input.addEventListener('blur', () => {
    input.value = formatExpiry(input.value, false)
    if (input.value !== '') checkExpiry(context, group)
  })
  return group
}

function faultOf({ options, language }: Context, text: string): string {
  const { errors } = language.texts
  const date = readExpiry(text)
  if (date === null) return errors.expiryDateError
  if (options.disableCardExpiryDateValidation === true) return ''
  const fault = expiryFault(date, new Date())
  if (fault === 'expired') return errors.cardExpiredError
  return fault === 'invalid' ? errors.expiryDateError : ''
}

function checkExpiry(context: Context, group: Group): void {
  group.setError(faultOf(context, textOf(group)))
}

export type CvvGroup = FrameGroup & { readonly setLengths: (lengths: readonly number[]) => void }

export function createCvv(context: Context, model: HTMLElement, enter: () => void): CvvGroup {
  const { options, language } = context
  const { labels, errors } = language.texts
  let known: readonly number[] = []
  const group = createFrameGroup(
    context,
    {
      name: 'cvv',
      group: 'cvv',
      label: labels.cvv,
      accepted: [],
      mayBeEmpty: options.allowEmptyCvv === true,
      messageOf: (state) => (state === 'valid' ? '' : errors.cvvError),
      listen: (word) =>
        word.is === 'ready' && group.frame.say({ do: 'cvvLengths', lengths: known }),
      onEnter: enter,
    },
    model,
  )
  const hint = options.showCVVHint === true ? cvvHint(group, labels.cvvHint) : null
  return Object.assign(group, {
    setLengths: (lengths: readonly number[]) => {
      known = lengths
      group.frame.say({ do: 'cvvLengths', lengths })
      if (hint !== null)
        hint.textContent = lengths.includes(4) ? labels.cvvHintFront : labels.cvvHint
    },
  })
}

function autofocus({ options }: Context, groups: Record<string, Group | null>): void {
  const wanted = options.autofocus ?? ''
  const group = groups[wanted.replace(/^(card\.expiry)(?:Month|Date)$/, '$1')]
  if (group === null || group === undefined) return
  if ('frame' in group) void (group as FrameGroup).frame.ready.then(group.focus, () => {})
  else requestAnimationFrame(group.focus)
}
