import { randomName } from '../random-name.ts'
import { hasAsset } from './assets.ts'
import { createBankAccountForm } from './bank-account.ts'
import { createBrandButton } from './brand-button.ts'
import { createCardForm } from './card-form.ts'
import { type Checkout, flowOf, type Place } from './checkout.ts'
import type { Context } from './context.ts'
import { element, show } from './dom.ts'
import { namedBrands } from './named-brands.ts'
import type { Options } from './options.ts'
import { createCashier, type PayForm } from './press.ts'
import { createStoredCards } from './stored-cards.ts'
import type { Language } from './texts.ts'
import { createWalletButton, walletOf } from './wallet-button.ts'

/** Puts the forms of a checkout in the place of one `form.paymentWidgets`. */
export function mountWidget(
  merchantForm: HTMLFormElement,
  place: Place,
  checkout: Checkout,
  language: Language,
  options: Options,
  signal: AbortSignal,
): readonly HTMLElement[] {
  const wanted = namedBrands(merchantForm)
  const isWallet = (code: string) => code === 'APPLEPAY' || code === 'GOOGLEPAY'
  const others = wanted.filter((code) => !isWallet(code))
  const all = wanted.length > 0 ? others : usualBrands(checkout)
  const brands = all.filter((code) => flowOf(checkout, code) !== null)
  const unknown = all.filter((code) => !brands.includes(code))
  if (unknown.length > 0) {
    console.warn(`Tollgate widget: this checkout does not accept ${unknown.join(', ')}`)
  }
  const nonce = randomName()
  const context: Context = {
    options,
    place,
    checkout,
    language,
    merchantForm,
    brands,
    signal,
    nonce,
  }
  const forms = formsOf(context)
  const containers = forms.map(({ container }) => container)
  if (checkout.test) {
    containers[0]?.prepend(element('div', { class: 'wpwl-test' }, language.texts.messages.test))
  }
  hideOthers(context, forms)
  const shown = element('div', { class: 'wpwl-widget', dir: language.direction })
  shown.append(...containers)
  merchantForm.before(shown)
  addWallets(context, shown)
  show(merchantForm, false)
  signal.addEventListener(
    'abort',
    () => {
      shown.remove()
      show(merchantForm, true)
    },
    { once: true },
  )
  return containers
}

/**
 * The brands of a form that names none. The simulator takes every brand: in test, only those with a mark have a form
 * or a button of their own, as on the hosted page.
 */
function usualBrands({ brands, test }: Checkout): string[] {
  const isShown = ({ brand, flow }: Checkout['brands'][number]) =>
    !test || flow === 'card' || hasAsset(`brand-${brand}.svg`)
  return brands.filter(isShown).map(({ brand }) => brand)
}

/** Stored cards come first, then cards, bank accounts and other brands. */
function formsOf(context: Context): PayForm[] {
  const { checkout, brands } = context
  const flows = (flow: string) => brands.filter((code) => flowOf(checkout, code) === flow)
  const cards = flows('card')
  const forms: PayForm[] = []
  // Frames find each other by the nonce, so each form has one of its own.
  const own = (): Context => ({ ...context, nonce: randomName() })
  const make = (build: (own: Context, cashier: ReturnType<typeof createCashier>) => PayForm) => {
    const mine = own()
    const cashier = createCashier(mine)
    const form = build(mine, cashier)
    cashier.open(form)
    forms.push(form)
  }
  const isFirst = document.querySelector('.wpwl-container-registrations') === null
  if (checkout.registrations.length > 0 && isFirst) make(createStoredCards)
  if (cards.length > 0) make((mine, cashier) => createCardForm(mine, cards, cashier))
  for (const brand of flows('bank')) {
    make((mine, cashier) => createBankAccountForm(mine, brand, cashier))
  }
  for (const brand of flows('redirect')) {
    make((mine, cashier) => createBrandButton(mine, brand, cashier))
  }
  return forms
}

/** Buttons of wallets stand above the forms, as soon as the browser turned out to have the wallet. */
function addWallets(context: Context, shown: HTMLElement): void {
  const named = namedBrands(context.merchantForm)
  const isNamed = (brand: string) => named.length === 0 || named.includes(brand)
  // Each has its place from the start, whichever is found first.
  const places: HTMLElement[] = []
  for (const wallet of context.checkout.wallets ?? []) {
    const { brand, sheet } = walletOf(context, wallet)
    if (!isNamed(brand)) continue
    const place = element('div')
    places.push(place)
    void sheet.then((found) => {
      if (found === null || context.signal.aborted) return
      const mine = { ...context, nonce: randomName() }
      const cashier = createCashier(mine)
      const form = createWalletButton(mine, brand, found, cashier)
      cashier.open(form)
      place.append(form.container)
    })
  }
  shown.prepend(...places)
}

/** Hides the other forms below stored cards until the shopper asks for them. */
function hideOthers({ options, language }: Context, forms: readonly PayForm[]): void {
  const [first, ...others] = forms
  const hasStored = first?.container.classList.contains('wpwl-container-registrations') === true
  if (
    !hasStored ||
    others.length === 0 ||
    options.registrations?.hideInitialPaymentForms !== true
  ) {
    return
  }
  const button = element(
    'button',
    { type: 'button', class: 'wpwl-button wpwl-button-other', 'data-action': 'show-initial-forms' },
    language.texts.labels.otherMethod,
  )
  for (const { container } of others) show(container, false)
  first.form.append(button)
  button.addEventListener('click', () => {
    for (const { container } of others) show(container, true)
    button.remove()
    others[0]?.container.querySelector<HTMLElement>('iframe, input, button')?.focus()
  })
}
