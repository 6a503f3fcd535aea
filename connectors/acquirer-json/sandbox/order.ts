/** The order in a request, and the bank's decision about it. */
import type { Money } from '@tollgate/plugin-kit'
import { collections, type Decision, type Order, type PaymentType, types } from './ledger.ts'

/** A request that the bank does not carry out. The text names the field and never its value. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

type Json = Readonly<Record<string, unknown>>

export const cards = {
  approved: '4200000000000000',
  declined: '4000000000000002',
  review: '4000000000000077',
  confirm: '4000002500003155',
  reversedLater: '4111111111111111',
}
export const ibans = { approved: 'DE89370400440532013000', empty: 'DE62370400440532013001' }

/** Numbers without a row are approved. */
const decisions: Readonly<Record<string, Decision>> = {
  [cards.declined]: { status: 'declined', code: '05' },
  [cards.review]: { status: 'review', code: '09' },
  [cards.confirm]: { status: 'confirm', code: '09' },
  [cards.reversedLater]: { status: 'approved', code: '00', isReversedLater: true },
  [ibans.empty]: { status: 'declined', code: 'AC04' },
}

export function paymentOrder(key: string, body: Json): Order {
  const type = body.type as PaymentType
  if (!types.includes(type)) throw bad(`type must be one of ${types.join(', ')}`)
  const card = part(body.card)
  const bankAccount = part(body.bankAccount)
  const number = card?.number ?? bankAccount?.iban
  if (typeof number !== 'string') throw bad('card.number or bankAccount.iban is missing')
  const amount = moneyOf(body.amount)
  const content = JSON.stringify([
    type,
    String(amount.minor),
    amount.currency,
    number,
    card?.expiry,
  ])
  return { key, type, amount, content, decision: decisionOf(type, number, card === undefined) }
}

function decisionOf(type: PaymentType, number: string, isBank: boolean): Decision {
  // An account cannot be held, only debited.
  if (isBank && type === 'authorisation') return { status: 'declined', code: 'not-possible' }
  const listed = decisions[number]
  // A check moves no money, so it needs neither review nor confirmation.
  if (type === 'check' && listed?.status !== 'declined') return { status: 'approved', code: '00' }
  return listed ?? { status: isBank ? 'submitted' : 'approved', code: '00' }
}

export function followUpOrder(key: string, on: string, collection: string, body: Json): Order {
  if (!Object.hasOwn(collections, collection)) {
    throw new Refused(404, 'bad-request', 'no resource at this path')
  }
  const type = collections[collection as keyof typeof collections]
  const amount = moneyOf(body.amount)
  const content = JSON.stringify([type, on, String(amount.minor), amount.currency])
  return { key, type, amount, on, content }
}

function moneyOf(value: unknown): Money {
  const { value: minor, currency } = part(value) ?? {}
  if (typeof minor !== 'string' || !/^[0-9]{1,15}$/.test(minor)) {
    throw bad('amount.value must be a string of minor units')
  }
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    throw bad('amount.currency must be three upper-case letters')
  }
  return { minor: BigInt(minor), currency }
}

const part = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null ? (value as Json) : undefined

const bad = (text: string) => new Refused(400, 'bad-request', text)
