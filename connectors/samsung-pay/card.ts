/** The card in the plain text of a token. */
import { hash } from 'node:crypto'
import { type OpenedToken, Sensitive, strictBase64, strictJson } from '@tollgate/plugin-kit'

const names = ['amount', 'cryptogram', 'currency_code', 'tokenPAN', 'tokenPanExpiration', 'utc']

/** Of a cryptogram. Most have about 20, and some of American Express 40; the rest is room. */
const bytes = { min: 16, max: 64 }

/** Undefined: nothing that could be paid with. */
export function cardOf(
  plain: string,
  ageMs: number,
): { card: OpenedToken; atMs: number } | undefined {
  const read = strictJson(plain, names, [], { others: true })
  if (read === undefined || names.some((name) => typeof read[name] !== 'string')) return undefined
  const said = read as Readonly<Record<string, string>>
  const { amount = '', cryptogram = '', currency_code: currency = '', utc = '' } = said
  const number = said.tokenPAN ?? ''
  const [, month, year] = /^(0[1-9]|1[0-2])([0-9]{2})$/.exec(said.tokenPanExpiration ?? '') ?? []
  if (!/^[0-9]{12,19}$/.test(number) || month === undefined || year === undefined) return undefined
  if (!/^[0-9]{1,15}$/.test(amount) || !/^[A-Z]{3}$/.test(currency)) return undefined
  // In one spelling, so that the same cryptogram with other letters is none.
  const proof = strictBase64(cryptogram)
  if (proof === undefined || proof.length < bytes.min || proof.length > bytes.max) return undefined
  if (!/^[0-9]{1,15}$/.test(utc)) return undefined
  const atMs = Number(utc)
  const eci = eciOf(read.eci_indicator)
  const card: OpenedToken = {
    is: 'opened',
    number: new Sensitive(number),
    numberType: 'DPAN',
    expiryMonth: month,
    expiryYear: `20${year}`,
    cryptogram: new Sensitive(cryptogram),
    ...(eci === undefined ? {} : { eci }),
    amount: { minor: BigInt(amount), currency },
    // A token has no id of its own, and anybody with the public key writes another time beside a cryptogram. It must not
    // be stored, and its digest is no use to anyone.
    replayId: hash('sha256', proof),
    replayUntil: new Date(atMs + ageMs + 1),
    authMethod: '3DS',
  }
  return { card, atMs }
}

/** Some networks give none, and some give one digit. */
function eciOf(value: unknown): string | undefined {
  return typeof value === 'string' && /^0?[0-9]$/.test(value) ? value.padStart(2, '0') : undefined
}
