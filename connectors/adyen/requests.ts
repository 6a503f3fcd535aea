/** The engine's operations as requests of Adyen's Checkout API. Pure: nothing here sends. */
import {
  type Card,
  MissingReference,
  type Operation,
  type RequestFields,
} from '@tollgate/plugin-kit'
import { amountFor } from './money.ts'
import { referenceOf } from './references.ts'

type Account = { readonly merchantAccount: string }

/** Body of POST /payments. */
export function payment(operation: Operation, { merchantAccount }: Account): object {
  const { amount, descriptor, kind, merchantTransactionId, returnUrl } = operation
  const card = cardOf(operation)
  const isCheck = kind === 'verify'
  return {
    merchantAccount,
    reference: referenceOf(operation),
    amount: amountFor(isCheck ? { ...amount, minor: 0n } : amount),
    paymentMethod: paymentMethod(card, networkReferenceOf(operation)),
    // Adyen wants an address also where no shopper can be sent away.
    returnUrl: returnUrl ?? 'https://return.invalid/',
    // JSON omits absent fields.
    merchantOrderReference: merchantTransactionId,
    shopperStatement: statementOf(descriptor),
    ...captureOf(kind),
    ...agreementOf(operation),
    ...shopperOf(operation),
    ...authenticationOf(operation, card),
  }
}

function cardOf({ instrument }: Operation): Card {
  // Unreachable while `supports.methods` is correct.
  if (instrument?.kind !== 'card') throw new Error('a payment at Adyen needs a card')
  return instrument
}

function paymentMethod(card: Card, networkPaymentReference: string | undefined): object {
  const { number, expiryMonth, expiryYear, cvv, holder, numberType } = card
  return {
    type: numberType === 'DPAN' ? 'networkToken' : 'scheme',
    number,
    expiryMonth,
    expiryYear,
    cvc: cvv,
    holderName: holder,
    networkPaymentReference,
  }
}

/** An authorisation waits for its capture, and a sale is captured at once, whatever the account is set to. */
function captureOf(kind: Operation['kind']): object {
  if (kind === 'authorize') return { additionalData: { manualCapture: 'true' } }
  return kind === 'debit' ? { captureDelayHours: 0 } : {}
}

const models: Readonly<Record<string, string>> = {
  RECURRING: 'Subscription',
  INSTALLMENT: 'Subscription',
  UNSCHEDULED: 'UnscheduledCardOnFile',
}

/** Whether the merchant pays with stored data while the shopper is away. */
const isByMerchant = ({ request, original }: Operation): boolean =>
  text(request.standingInstruction, 'source') === 'MIT' || original !== undefined

function agreementOf(operation: Operation): object {
  const { request } = operation
  const type = text(request.standingInstruction, 'type')
  return {
    shopperInteraction: isByMerchant(operation) ? 'ContAuth' : 'Ecommerce',
    recurringProcessingModel: type === undefined ? undefined : models[type],
    shopperReference: text(request.customer, 'merchantCustomerId'),
  }
}

/** The scheme's reference of the first payment of an agreement. */
const networkReferenceOf = ({ request, original }: Operation): string | undefined =>
  text(request.standingInstruction, 'initialTransactionId') ?? original?.networkTxId

function shopperOf(operation: Operation): object {
  const { request } = operation
  const { customer } = request
  return {
    channel: isByMerchant(operation) ? undefined : 'Web',
    shopperEmail: text(customer, 'email'),
    shopperIP: text(customer, 'ip'),
    billingAddress: addressOf(request),
    browserInfo: browserOf(request),
  }
}

/** Adyen takes an address as a whole only. */
function addressOf({ billing }: RequestFields): object | undefined {
  const street = text(billing, 'street1')
  const city = text(billing, 'city')
  const postalCode = text(billing, 'postcode')
  const country = text(billing, 'country')
  if (!street || !city || !postalCode || !country) return undefined
  return {
    street,
    houseNumberOrName: text(billing, 'houseNumber1') ?? 'N/A',
    city,
    postalCode,
    stateOrProvince: text(billing, 'state'),
    country,
  }
}

/** And a browser, too. */
function browserOf({ customer }: RequestFields): object | undefined {
  const browser = partOf(customer)?.browser
  const number = (name: string) => {
    const digits = text(browser, name)
    return digits === undefined || !/^-?[0-9]{1,6}$/.test(digits) ? undefined : Number(digits)
  }
  const all = {
    acceptHeader: text(browser, 'acceptHeader'),
    colorDepth: number('screenColorDepth') ?? 24,
    javaEnabled: text(browser, 'javaEnabled') === 'true',
    language: text(browser, 'language'),
    screenHeight: number('screenHeight'),
    screenWidth: number('screenWidth'),
    timeZoneOffset: number('timezone'),
    userAgent: text(browser, 'userAgent'),
  }
  return Object.values(all).includes(undefined) ? undefined : all
}

/**
 * The values of an authentication that was made elsewhere, or the cryptogram of a network token. Otherwise Adyen
 * authenticates on a page of its own: its native flow needs Adyen's script in the shop.
 */
function authenticationOf(operation: Operation, { numberType }: Card): object {
  const { threeDSecure, returnUrl } = operation
  const { eci, verificationId, authenticationStatus, dsTransactionId, version } = threeDSecure ?? {}
  if (numberType === 'DPAN') {
    return { mpiData: { tokenAuthenticationVerificationValue: verificationId, eci } }
  }
  if (authenticationStatus !== undefined || verificationId !== undefined) {
    const status = authenticationStatus ?? 'Y'
    return {
      authenticationData: { attemptAuthentication: 'never' },
      mpiData: {
        cavv: verificationId,
        eci,
        directoryResponse: status,
        authenticationResponse: 'YNUA'.includes(status) ? status : undefined,
        dsTransID: dsTransactionId,
        threeDSVersion: version,
      },
    }
  }
  if (isByMerchant(operation)) return {}
  // Nobody could come back from the page.
  if (returnUrl === undefined) return { authenticationData: { attemptAuthentication: 'never' } }
  return { authenticationData: { threeDSRequestData: { nativeThreeDS: 'disabled' } } }
}

/** At most 22 of the characters that Adyen allows; others become blanks. */
function statementOf(descriptor: string | undefined): string | undefined {
  const plain = descriptor
    ?.replaceAll(/[^a-zA-Z0-9 .,'_?+*/-]/g, ' ')
    .slice(0, 22)
    .trim()
  return plain === '' ? undefined : plain
}

/**
 * Body of a capture, a refund or a new amount.
 *
 * @throws Error before anything is sent, for an increase whose new sum is not known.
 */
export function modification(operation: Operation, { merchantAccount }: Account): object {
  const { kind, amount, original } = operation
  const reference = referenceOf(operation)
  if (kind === 'reverse') return { merchantAccount, reference }
  if (kind !== 'increment') return { merchantAccount, amount: amountFor(amount), reference }
  const { authorised } = original ?? {}
  if (authorised === undefined) throw new Error('an increase at Adyen needs the authorised sum')
  // Adyen takes the new sum, not the increase.
  const sum = { ...amount, minor: authorised.minor + amount.minor }
  return { merchantAccount, amount: amountFor(sum), reference }
}

/** The path of what is done to a payment, which contains Adyen's reference of the payment. */
export function pathOf({ kind, original }: Operation): string {
  const payment = original?.refs.payment
  if (payment === undefined) throw new MissingReference('payment')
  return `/payments/${encodeURIComponent(payment)}/${collectionOf(kind, original?.kind)}`
}

function collectionOf(kind: Operation['kind'], on: Operation['kind'] | undefined): string {
  switch (kind) {
    case 'capture':
      return 'captures'
    case 'refund':
      return 'refunds'
    case 'increment':
      return 'amountUpdates'
    case 'reverse':
      // A sale may be captured by now or not; Adyen cancels or refunds it.
      return on === 'authorize' ? 'cancels' : 'reversals'
    default:
      throw new Error(`${kind} is not done to a payment`)
  }
}

const partOf = (value: unknown): RequestFields | undefined =>
  typeof value === 'object' && value !== null ? (value as RequestFields) : undefined

function text(group: unknown, name: string): string | undefined {
  const value = partOf(group)?.[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
