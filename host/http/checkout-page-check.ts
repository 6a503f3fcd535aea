/**
 * What is wrong with a card, all at once. The gateway names one kind of fault at a time, and every page of the shopper
 * begins with empty fields. The gateway has the last word: it checks everything again.
 */
import { limits } from '@tollgate/schemas'
import { brandsOf, cardBrand, passesLuhn, schemeOf } from '@tollgate/widget'
import type { Offer } from './checkout-page-document.ts'
import type { WrongField } from './checkout-page-form.ts'

/** Fields in the order of the page: the first wrong one has the focus. */
const order = ['card.number', 'paymentBrand', 'card.expiryMonth', 'card.expiryYear', 'card.cvv']

/**
 * @param found what is missing or unreadable
 * @param offer with the brands that the page shows
 */
export function wrongInCard(
  fields: URLSearchParams,
  offer: Offer,
  found: readonly WrongField[],
  now: Date,
): readonly WrongField[] {
  const accepted = offer.brands.filter(({ flow }) => flow === 'card').map(({ brand }) => brand)
  const number = fields.get('card.number') ?? ''
  const chosen = fields.get('paymentBrand')
  const brand = chosen ?? brandsOf(number, accepted)[0] ?? schemeOf(number)
  const isOffered = brand === null || accepted.includes(brand)
  const known = brand === null ? undefined : cardBrand(brand)
  const wrong = [
    ...found,
    ...fault(number !== '' && !isNumber(number, known?.numberLengths), 'card.number'),
    ...fault(!isOffered, 'paymentBrand'),
    ...fault(isCodeWrong(fields.get('card.cvv'), known?.cvvLengths), 'card.cvv'),
    ...fault(holdsNumber(fields.get('card.holder') ?? ''), 'card.holder', 'digits'),
  ]
  // The time of the checkout may be that of a test clock, so the gateway alone refuses a card for its date.
  if (wrong.length > 0) wrong.push(...fault(isOver(fields, now), 'card.expiryYear', 'expired'))
  const placeOf = ({ field }: WrongField) => order.indexOf(field) + 1 || order.length + 1
  return wrong.sort((one, other) => placeOf(one) - placeOf(other))
}

/** Only brands on other brands' cards are named: a page may offer them without the brand of the number. */
export function brandToName(fields: URLSearchParams, offer: Offer): string | undefined {
  const accepted = offer.brands.filter(({ flow }) => flow === 'card').map(({ brand }) => brand)
  const number = fields.get('card.number') ?? ''
  const [first] = brandsOf(number, accepted)
  const scheme = schemeOf(number)
  return scheme === null || accepted.includes(scheme) || fields.has('paymentBrand')
    ? undefined
    : first
}

const fault = (isWrong: boolean, field: string, reason = 'invalid'): WrongField[] =>
  isWrong ? [{ field, reason }] : []

const isNumber = (number: string, lengths: readonly number[] = []): boolean =>
  /^[0-9]{8,19}$/.test(number) &&
  passesLuhn(number) &&
  (lengths.length === 0 || lengths.includes(number.length))

const isCodeWrong = (code: string | null, lengths: readonly number[] = []): boolean =>
  code !== null &&
  (!/^[0-9]{3,4}$/.test(code) || (lengths.length > 0 && !lengths.includes(code.length)))

/** Holders of cards tell the simulator which result they want. */
const resultCode = /^[0-9]{3}\.[0-9]{3}\.[0-9]{3}$/

/** As many digits in a row, separators aside, as the gateway refuses. */
function holdsNumber(holder: string): boolean {
  const rows =
    holder
      .normalize('NFKC')
      .replaceAll(/[\s.-]/g, '')
      .match(/[0-9]+/g) ?? []
  return !resultCode.test(holder) && rows.some((row) => row.length >= limits.shopperTextDigits)
}

function isOver(fields: URLSearchParams, now: Date): boolean {
  const [year, month] = [fields.get('card.expiryYear'), fields.get('card.expiryMonth')]
  if (year === null || month === null) return false
  return Number(year) * 12 + Number(month) - 1 < now.getUTCFullYear() * 12 + now.getUTCMonth()
}
