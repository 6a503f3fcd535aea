/** The page of the shopper's bank, on which a redirected payment is approved or cancelled. */
import type { Money, PageReply, PageVisit } from '@tollgate/plugin-kit'
import { brandOf } from '@tollgate/schemas'
import { factsOf, html, missingPage, pageOf, sentencePage } from './document.ts'
import { amountIn, type Language, languageFor } from './language.ts'
import { tokenOf, visitOf } from './token.ts'

/** All that the page shows beside the books. Anybody with the address can use it, as at a real bank. */
export type BankVisit = {
  readonly merchantId: string
  readonly key: string
  readonly returnUrl?: string
  readonly brand?: string
  readonly shop?: string
  readonly language?: string
}

/** The payments of a transport. */
export type Payments = {
  /** Undefined for a key without a payment. */
  find(visit: BankVisit): Promise<{ readonly amount: Money; readonly isOpen: boolean } | undefined>
  /** Ends the payment with a code of the acquirer. A payment that has ended stays as it is. */
  finish(visit: BankVisit, code: string): Promise<void>
}

/** The effect of each button: the acquirer's code of the payment. */
const buttons: Readonly<Record<string, string>> = { approve: '00', cancel: 'cancelled' }

export const bankUrlOf = (base: string, visit: BankVisit, secret: string): string =>
  `${base}/bank/${tokenOf('bank', visit, secret)}`

/**
 * The reply to a visit below `/bank/`; undefined for another path.
 *
 * @param name the bank's own name, where it has one
 */
export async function visitBank(
  visit: PageVisit,
  payments: Payments,
  secret: string,
  name?: string,
): Promise<PageReply | undefined> {
  const [, kind, token = '', button, ...more] = visit.path.split('/')
  if (kind !== 'bank') return undefined
  const about = visitOf<BankVisit>('bank', token, secret)
  const found = about === undefined || more.length > 0 ? undefined : await payments.find(about)
  const language = languageFor([visit.query.lang, about?.language, visit.acceptLanguage])
  if (about === undefined || found === undefined) return missingPage(language)
  if (button === undefined) {
    return found.isOpen
      ? question(about, found.amount, token, language, name)
      : ended(about, language, name)
  }
  const code = Object.hasOwn(buttons, button) ? buttons[button] : undefined
  if (code === undefined || visit.method !== 'POST') return missingPage(language)
  await payments.finish(about, code)
  const { returnUrl } = about
  if (returnUrl === undefined) return ended(about, language, name)
  return { status: 303, location: returnUrl }
}

function ended({ returnUrl }: BankVisit, language: Language, bank: string | undefined): PageReply {
  const { done, close } = language.texts
  return sentencePage(language, { title: done, bank, text: close, back: returnUrl })
}

/** The token holds only letters, digits, hyphens, underscores and a dot, so it needs no escaping. */
function question(
  { shop, brand }: BankVisit,
  amount: Money,
  token: string,
  language: Language,
  bank: string | undefined,
): PageReply {
  const { texts } = language
  const facts = factsOf([
    [texts.merchant, shop ?? texts.someShop],
    [texts.amount, amountIn(language, amount), 'amount'],
    ...(brand === undefined ? [] : [[texts.method, brandOf(brand)?.title ?? brand] as const]),
  ])
  const form = html`<form method="post"><button formaction="${token}/approve">${texts.approve}</button><div class="others"><button class="plain" formaction="${token}/cancel">${texts.cancel}</button></div></form>`
  const content = html`<p>${texts.bankIntro}</p>${facts}${form}`
  return pageOf(language, { title: texts.title, bank, content })
}
