/** A payment of the hand-written handler: read from the form, sealed, answered. */
import { createCipheriv, randomBytes, randomUUID } from 'node:crypto'

/** All values that the handler writes, as parameters of Postgres. */
export type Payment = {
  readonly id: string
  readonly channelId: string
  readonly amount: string
  readonly amountMinor: number
  readonly currency: string
  readonly paymentType: string
  readonly brand: string
  readonly merchantTransactionId: string | null
  readonly card: { holder: string; expiryMonth: string; expiryYear: string }
  readonly bin: string
  readonly last4Digits: string
  /** The request without number and security code. */
  readonly request: string
  readonly sealed: Buffer
}

export type Verdict = {
  readonly state: 'approved' | 'declined'
  readonly code: string
  readonly reference: string
}

/** The two commits around an acquirer's call, implemented in two ways. */
export type Store = {
  readonly accept: (payment: Payment) => Promise<void>
  readonly settle: (payment: Payment, verdict: Verdict, eventId: string) => Promise<void>
}

export const keyId = 'k1'
const key = randomBytes(32)

function seal(id: string, number: string): Buffer {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(id))
  return Buffer.concat([iv, cipher.update(number), cipher.final(), cipher.getAuthTag()])
}

/** Ids ascend with time, so that new index entries lie together. */
export function newId(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

const currencies = new Set(['EUR', 'USD', 'GBP', 'CHF'])
const brands = new Set(['VISA', 'MASTER', 'AMEX'])

/** A payment, or the name of the first wrong parameter. */
export function readPayment(form: Readonly<Record<string, string>>): Payment | string {
  const amount = form.amount ?? ''
  const currency = form.currency ?? ''
  const brand = form.paymentBrand ?? ''
  const number = form['card.number'] ?? ''
  const expiryMonth = form['card.expiryMonth'] ?? ''
  const expiryYear = form['card.expiryYear'] ?? ''
  if (!/^[0-9a-f]{32}$/.test(form.entityId ?? '')) return 'entityId'
  if (!/^[0-9]{1,10}\.[0-9]{2}$/.test(amount)) return 'amount'
  if (!currencies.has(currency)) return 'currency'
  if (!brands.has(brand)) return 'paymentBrand'
  if (form.paymentType !== 'DB') return 'paymentType'
  if (!/^[0-9]{12,19}$/.test(number) || !passesLuhn(number)) return 'card.number'
  if (!/^(?:0[1-9]|1[0-2])$/.test(expiryMonth)) return 'card.expiryMonth'
  if (!/^20[0-9]{2}$/.test(expiryYear)) return 'card.expiryYear'
  if (!/^[0-9]{3,4}$/.test(form['card.cvv'] ?? '')) return 'card.cvv'
  const id = newId()
  const card = { holder: form['card.holder'] ?? '', expiryMonth, expiryYear }
  const [bin, last4Digits] = [number.slice(0, 6), number.slice(-4)]
  const merchantTransactionId = form.merchantTransactionId ?? null
  return {
    id,
    channelId: form.entityId!,
    amount,
    amountMinor: Number(amount.replace('.', '')),
    currency,
    paymentType: 'DB',
    brand,
    merchantTransactionId,
    card,
    bin,
    last4Digits,
    request: JSON.stringify({
      amount,
      currency,
      paymentBrand: brand,
      paymentType: 'DB',
      merchantTransactionId,
      card: { ...card, bin, last4Digits },
    }),
    sealed: seal(id, number),
  }
}

function passesLuhn(number: string): boolean {
  let sum = 0
  for (let index = 0; index < number.length; index += 1) {
    const digit = number.charCodeAt(number.length - 1 - index) - 48
    sum += index % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}

/** An acquirer in the process that answers at once, like Tollgate's simulator. */
export async function charge(payment: Payment): Promise<Verdict> {
  const approved = payment.amountMinor > 0
  return {
    state: approved ? 'approved' : 'declined',
    code: approved ? '000.100.110' : '800.100.100',
    reference: payment.id,
  }
}

const description =
  "Request successfully processed: done in test mode by the handler's own acquirer (testMode INTERNAL)"

/** The same fields and size as Tollgate's own answer. */
export function answerOf(payment: Payment, verdict: Verdict) {
  return {
    id: payment.id,
    shortId: '0000.0000.0000',
    paymentType: payment.paymentType,
    paymentBrand: payment.brand,
    amount: payment.amount,
    currency: payment.currency,
    merchantTransactionId: payment.merchantTransactionId,
    card: { bin: payment.bin, last4Digits: payment.last4Digits, ...payment.card },
    result: { code: verdict.code, description, cvvResponse: 'M' },
    descriptor: '0000.0000.0000',
    resultDetails: { ExtendedDescription: description, AcquirerResponse: '00' },
    nextActions: ['RF', 'RV', 'RB'],
    buildNumber: 'handwritten-1.0.0',
    timestamp: `${new Date().toISOString().slice(0, 19).replace('T', ' ')}+0000`,
    ndc: newId(),
  }
}
