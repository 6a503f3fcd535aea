/** The form of the hosted page: its fields as the gateway takes them, and errors as the address carries them. */

/** A wrong field, by the gateway's name. */
export type WrongField = { readonly field: string; readonly reason: string }

/** The fields of a form by their own names, without the part that differs from page to page. */
export const fieldsOf = (body: string): URLSearchParams =>
  new URLSearchParams(
    [...new URLSearchParams(body)].map(([name, value]): [string, string] => [
      name.split('~', 1)[0] ?? '',
      value,
    ]),
  )

/** The part of the page that a form is of: `card`, `bank`, or the id of a registration. */
export function methodOf(
  form: URLSearchParams,
  offered: readonly { readonly id: string }[],
): string {
  const registration = form.get('registrationId')
  // Anybody may post any text: only an id that the page has comes back in its address.
  const known = offered.find(({ id }) => id === registration)
  return known?.id ?? (form.has('bankAccount.iban') ? 'bank' : 'card')
}

const names = [
  ...['nonce', 'shown', 'paymentBrand', 'registrationId', 'card.holder', 'card.cvv', 'card.number'],
  ...['bankAccount.holder', 'bankAccount.iban', 'createRegistration'],
  ...['billing.street1', 'billing.postcode', 'billing.city', 'billing.country'],
]
const optional = new Set(['paymentBrand', 'createRegistration', 'shown'])
/** Shoppers write these with blanks and hyphens, in the digits of their language. */
const compact = new Set(['card.cvv', 'card.number', 'bankAccount.iban'])

/** The submission in a form, and fields that are missing or unreadable. Names that the page does not have are left out. */
export function submissionIn(form: URLSearchParams): {
  readonly fields: URLSearchParams
  readonly wrong: readonly WrongField[]
} {
  const fields = new URLSearchParams()
  const wrong: WrongField[] = []
  for (const name of names) {
    const given = form.get(name)
    if (given === null) continue
    const text = compact.has(name) ? compacted(given) : given.trim()
    if (text !== '') fields.set(name, text)
    else if (!optional.has(name)) wrong.push({ field: name, reason: 'required' })
  }
  const expiry = form.get('expiry')
  if (expiry !== null) {
    const read = expiryIn(expiry)
    if (read === undefined) {
      wrong.push({
        field: 'card.expiryMonth',
        reason: expiry.trim() === '' ? 'required' : 'invalid',
      })
    } else {
      fields.set('card.expiryMonth', read.month)
      fields.set('card.expiryYear', read.year)
    }
  }
  return { fields, wrong }
}

/** Full-width and Arabic digits are digits as well. */
const plainDigits = (text: string): string =>
  text
    .normalize('NFKC')
    .replaceAll(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) % 16))

const compacted = (text: string): string =>
  plainDigits(text)
    .replaceAll(/[\s\-.·]/g, '')
    .toUpperCase()

/** `08/30`, `8 / 2030`, `0830`, `2030-08`. */
export function expiryIn(text: string): { month: string; year: string } | undefined {
  const plain = plainDigits(text.slice(0, 40))
    .trim()
    .replaceAll(/[\s/\-.]+/g, '/')
  const [, first = '', second = ''] =
    /^([0-9]{1,4})\/([0-9]{1,4})$/.exec(plain) ??
    /^([0-9]{2})([0-9]{2}|[0-9]{4})$/.exec(plain) ??
    []
  const [month, year] = first.length === 4 ? [second, first] : [first, second]
  const isMonth = month.length <= 2 && Number(month) >= 1 && Number(month) <= 12
  if (!isMonth || (year.length !== 2 && year.length !== 4)) return undefined
  return { month: month.padStart(2, '0'), year: year.length === 2 ? `20${year}` : year }
}

const field = /^[a-zA-Z]{1,20}(?:\.[a-zA-Z0-9]{1,30}){0,2}$/

/** Wrong fields in the address of the page: `error=card.number:invalid`. */
export const wrongIn = (query: URLSearchParams): WrongField[] =>
  query
    .getAll('error')
    .slice(0, 20)
    .map((text) => text.split(':', 2))
    .flatMap(([name = '', reason = '']) => (field.test(name) ? [{ field: name, reason }] : []))
