import { applePaySheet } from './apple-pay.ts'
import { type OfferedWallet, titleOf } from './checkout.ts'
import { type Context, openHiddenFrame } from './context.ts'
import { googlePaySheet } from './google-pay.ts'
import type { Cashier, PayForm } from './press.ts'
import { createShell, extraFields } from './shell.ts'
import { fill } from './texts.ts'

/** The sheet of a wallet, which only a press of the shopper opens. */
export type Sheet = {
  /**
   * Opens it. The token of the shopper's payment as the wallet made it; null when the shopper closed the sheet.
   *
   * @throws Error about a sheet that does not work here.
   */
  open(): Promise<string | null>
  /** Tells the sheet how the payment went, where it waits for that. */
  close(isTaken: boolean): void
}

/** The brand of a wallet, and its sheet once the browser turned out to have it; null: it has not. */
export function walletOf(
  context: Context,
  wallet: OfferedWallet,
): { readonly brand: string; readonly sheet: Promise<Sheet | null> } {
  const isApple = wallet.field === 'applePay'
  const found = isApple ? applePaySheet(context, wallet) : googlePaySheet(context, wallet)
  return { brand: isApple ? 'APPLEPAY' : 'GOOGLEPAY', sheet: found.catch(() => null) }
}

/** One button: the sheet of the wallet has everything else. */
export function createWalletButton(
  context: Context,
  brand: string,
  sheet: Sheet,
  cashier: Cashier,
): PayForm {
  const { labels, messages } = context.language.texts
  const shell = createShell(
    context,
    `virtualAccount-${brand}`,
    fill(labels.payWith, { brand: titleOf(brand) }),
  )
  shell.button.classList.add('wpwl-button-brand', 'wpwl-button-wallet')
  const sender = openHiddenFrame(context, 'submit', cashier.hear)
  shell.form.append(sender.element)
  let token = ''
  /** What the sheet showed: the merchant may change the amount while it is open. */
  let shown = ''
  const field = brand === 'APPLEPAY' ? 'applePay' : 'googlePay'
  const form: PayForm = {
    ...shell,
    groups: new Map(),
    check: async () => null,
    fields: () => ({
      ...extraFields(context, shell.form),
      paymentBrand: brand,
      [`${field}.paymentToken`]: token,
    }),
    sender: () => sender,
    withCvv: () => false,
    allowed: async () => true,
    clear: () => {
      token = ''
    },
    shown: () => shown,
    answered: (isTaken) => sheet.close(isTaken),
  }
  let isOpen = false
  const pay = async (event: Event) => {
    if (isOpen || shell.button.getAttribute('aria-disabled') === 'true') return
    isOpen = true
    shell.notices.clear()
    shown = context.checkout.shown ?? ''
    try {
      const given = await sheet.open()
      if (given === null) return
      token = given
      await cashier.press(form, event)
    } catch (thrown) {
      console.warn(`Tollgate widget: the sheet of ${titleOf(brand)} failed: ${thrown}`)
      shell.notices.tell(messages.tryAgain, 'error')
    } finally {
      isOpen = false
    }
  }
  shell.form.addEventListener('submit', (event) => {
    event.preventDefault()
    void pay(event)
  })
  return form
}

/** Card schemes of the checkout in a wallet's own words. */
export function networksOf(
  { checkout }: Pick<Context, 'checkout'>,
  names: Readonly<Record<string, string>>,
): string[] {
  const offered = checkout.brands.map(({ brand }) => brand)
  return Object.keys(names)
    .filter((brand) => offered.includes(brand))
    .map((brand) => names[brand]!)
}
