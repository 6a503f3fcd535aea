/** The Checkout API of the sandbox: requests, the books, and answers. */
import { createHash, randomBytes } from 'node:crypto'
import { type Amount, type Ledger, newReference, type Payment } from './ledger.ts'

export type Json = Readonly<Record<string, unknown>>

/** Test cards of Adyen. Others are authorised. */
export const cards = {
  approved: '4111111145551142',
  redirect: '4917610000000000',
  pending: '4646464646464644',
  native: '5454545454545454',
}

/** A name on the card decides in Adyen's test system, too. */
export const declinedHolder = 'DECLINED'

export class Refused extends Error {
  readonly status: number
  readonly errorCode: string
  readonly errorType: string

  constructor(status: number, errorCode: string, message: string, errorType = 'validation') {
    super(message)
    this.status = status
    this.errorCode = errorCode
    this.errorType = errorType
  }
}

/** What requests are carried out on. */
export type Books = {
  readonly account: { readonly merchantAccount: string }
  readonly ledger: Ledger
  /** Where a shopper returns to, and what the browser brings. */
  readonly away: Map<
    string,
    { readonly payment: Payment; readonly returnUrl: string; isPaid?: boolean }
  >
  url: string
}

export function carryOut(
  adyen: Books,
  path: string,
  body: Json,
): { status: number; answer: object } {
  const [, , top, id, collection] = path.split('/')
  if (path === '/v71/payments/details') return { status: 200, answer: details(adyen, body) }
  if (body.merchantAccount !== adyen.account.merchantAccount) {
    throw new Refused(403, '901', 'Invalid Merchant Account', 'security')
  }
  if (path === '/v71/paymentMethods') {
    return { status: 200, answer: { paymentMethods: [{ type: 'scheme', name: 'Cards' }] } }
  }
  if (path === '/v71/payments') return { status: 200, answer: pay(adyen, body) }
  if (path === '/v71/cancels') return { status: 201, answer: cancelByReference(adyen, body) }
  if (top === 'payments' && id !== undefined && collection !== undefined) {
    return { status: 201, answer: modify(adyen, id, collection, body) }
  }
  throw new Refused(404, '404', 'Not found')
}

function pay(adyen: Books, body: Json): object {
  const { reference, returnUrl } = body
  const method = Object(body.paymentMethod) as Json
  const amount = amountIn(body.amount)
  if (typeof reference !== 'string' || reference === '')
    throw new Refused(422, '130', 'Reference Missing')
  if (typeof returnUrl !== 'string') throw new Refused(422, '14_030', 'Return URL is missing.')
  if (typeof method.number !== 'string' || !/^[0-9]{12,19}$/.test(method.number)) {
    throw new Refused(422, '101', 'Invalid card number')
  }
  if (!/^(0[1-9]|1[0-2])$/.test(String(method.expiryMonth))) {
    throw new Refused(422, '140', 'Expiry month should be between 1 and 12 inclusive')
  }
  const { ledger } = adyen
  const payment = ledger.add({
    pspReference: newReference(),
    reference,
    amount,
    isCapturedAtOnce: body.captureDelayHours === 0,
    state: 'refused',
    authorised: 0,
    captured: 0,
    refunded: 0,
    isCancelled: false,
    isUndone: false,
  })
  return decide(adyen, payment, method, returnUrl)
}

function decide(adyen: Books, payment: Payment, method: Json, returnUrl: string): object {
  const { pspReference, reference: merchantReference } = payment
  switch (method.number) {
    case cards.redirect: {
      payment.state = 'away'
      const result = randomBytes(24).toString('base64url')
      adyen.away.set(result, { payment, returnUrl })
      const action = {
        type: 'redirect',
        paymentMethodType: 'scheme',
        method: 'GET',
        url: `${adyen.url}/pages/${result}`,
      }
      return { resultCode: 'RedirectShopper', pspReference, merchantReference, action }
    }
    case cards.pending:
      payment.state = 'pending'
      return { resultCode: 'Pending', pspReference, merchantReference }
    case cards.native:
      payment.state = 'away'
      return {
        resultCode: 'IdentifyShopper',
        merchantReference,
        action: {
          type: 'threeDS2',
          subtype: 'fingerprint',
          token: 'eyJ0',
          paymentMethodType: 'scheme',
        },
      }
  }
  const wanted = wantedBy(method.holderName)
  if (wanted !== undefined) return answerAs(payment, wanted)
  adyen.ledger.authorise(payment)
  return describe(payment)
}

/** What a test asks for by the name on the card: `REFUSED 5`, `RESULT Error`, `ERROR 422 101 validation`. */
function wantedBy(holder: unknown): readonly string[] | undefined {
  if (holder === declinedHolder) return ['REFUSED', '2']
  const words = typeof holder === 'string' ? holder.split(' ') : []
  return ['REFUSED', 'RESULT', 'ERROR'].includes(words[0] ?? '') ? words : undefined
}

function answerAs(
  payment: Payment,
  [what, first = '', code = '', type]: readonly string[],
): object {
  if (what === 'ERROR') throw new Refused(Number(first), code, 'Refused as asked for', type)
  if (what === 'RESULT') {
    payment.state = 'failed'
    const { pspReference, reference: merchantReference } = payment
    return { resultCode: first, pspReference, merchantReference }
  }
  payment.refusal = { code: first, reason: 'Refused' }
  return describe(payment)
}

function describe(payment: Payment): object {
  const { state, pspReference, reference: merchantReference, amount, refusal } = payment
  if (state !== 'authorised') {
    return {
      resultCode: 'Refused',
      pspReference,
      merchantReference,
      refusalReason: refusal?.reason ?? 'Refused',
      refusalReasonCode: refusal?.code ?? '2',
    }
  }
  return {
    resultCode: 'Authorised',
    pspReference,
    merchantReference,
    amount,
    additionalData: {
      authCode: '044925',
      avsResult: '7 Both postal code and address match',
      cvcResult: '1 Matches',
      networkTxReference: `MCC${createHash('sha256').update(pspReference).digest('hex').slice(0, 12)}`,
    },
  }
}

function details(adyen: Books, body: Json): object {
  const { redirectResult } = Object(body.details) as Json
  const away = adyen.away.get(String(redirectResult))
  if (away === undefined) throw new Refused(422, '101', 'Invalid redirectResult')
  const { payment, isPaid } = away
  if (isPaid === undefined) throw new Refused(422, '101', 'The shopper is not back')
  if (payment.state === 'away') {
    if (isPaid) adyen.ledger.authorise(payment)
    else
      Object.assign(payment, {
        state: 'refused',
        refusal: { code: '11', reason: '3D Not Authenticated' },
      })
  }
  return describe(payment)
}

function cancelByReference({ ledger, account }: Books, body: Json): object {
  const { paymentReference, reference } = body
  if (typeof paymentReference !== 'string') throw new Refused(422, '130', 'Reference Missing')
  const { pspReference } = ledger.undo(paymentReference, 'reference', String(reference ?? ''))
  const { merchantAccount } = account
  return { merchantAccount, paymentReference, pspReference, reference, status: 'received' }
}

const collections = {
  captures: 'capture',
  refunds: 'refund',
  cancels: 'cancel',
  amountUpdates: 'update',
  reversals: 'reversal',
} as const

function modify({ ledger, account }: Books, id: string, collection: string, body: Json): object {
  if (!Object.hasOwn(collections, collection)) throw new Refused(404, '404', 'Not found')
  const kind = collections[collection as keyof typeof collections]
  const payment = ledger.payment(decodeURIComponent(id))
  if (payment === undefined)
    throw new Refused(422, '167', 'Original pspReference required for this operation')
  const reference = typeof body.reference === 'string' ? body.reference : undefined
  const isWhole = kind === 'cancel' || kind === 'reversal'
  const amount = isWhole ? undefined : amountIn(body.amount)
  const isUndo = reference?.startsWith('undo') === true
  const { pspReference } = isUndo
    ? ledger.undo(payment.reference, 'payment', reference)
    : ledger.modify(kind, payment, reference ?? payment.reference, amount)
  const { merchantAccount } = account
  return {
    merchantAccount,
    paymentPspReference: payment.pspReference,
    pspReference,
    ...(reference === undefined ? {} : { reference }),
    status: 'received',
    ...(amount === undefined ? {} : { amount }),
  }
}

function amountIn(given: unknown): Amount {
  const { value, currency } = Object(given) as Json
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new Refused(422, '137', 'Invalid amount specified')
  }
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    throw new Refused(422, '138', 'Unsupported currency specified')
  }
  return { value, currency }
}
