/** Payments of the attacker or the victim. */
import type { Said } from './judge.ts'
import { type Answer, post, sendAll } from './wire.ts'

export const debitFields: Readonly<Record<string, string>> = {
  amount: '92.00',
  currency: 'EUR',
  paymentType: 'DB',
  paymentBrand: 'VISA',
  'card.number': '4200000000000000',
  'card.holder': 'Jane Jones',
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
  'card.cvv': '123',
}

/** A card number of these digits, with its check digit. */
export function cardNumber(digits: string): string {
  const sum = [...digits].reverse().reduce((all, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1)
    return all + (value > 9 ? value - 9 : value)
  }, 0)
  return digits + String((10 - (sum % 10)) % 10)
}

export const saidIn = ({ body }: Answer): Said => JSON.parse(body) as Said

export const codeOf = (answer: Answer): string => {
  try {
    return String(saidIn(answer).result?.code)
  } catch {
    return ''
  }
}

/** Makes one payment and throws unless its answer is 200. @returns its id. */
export async function pay(
  url: string,
  token: string,
  more: Readonly<Record<string, string>>,
): Promise<string> {
  const [answer] = await sendAll(url, [post('/v1/payments', token, { ...debitFields, ...more })], {
    connections: 1,
    pipelined: 1,
    withinMs: 60_000,
  })
  if (answer?.status === 200) return String(saidIn(answer).id)
  throw new Error(`an honest payment was answered ${answer?.status} ${answer?.body}`)
}
