/**
 * The complete request of a try: what the merchant said when it made the checkout, and the little
 * that a shopper's browser may add. The result passes the checks of any payment.
 */
import type { RequestFields } from '@tollgate/plugin-kit'
import { brandOf, brands, operationNamed } from '@tollgate/schemas'
import { electronicFormatIBAN, extractIBAN } from 'ibantools'
import type { Request } from '../call.ts'
import { detectBrand } from '../redaction/card-number.ts'
import { encryptedWallet } from '../request/account.ts'
import { openRequest } from '../request/parse.ts'
import { groupOf, textOf } from '../request/values.ts'
import { merged } from './checkouts.ts'
import type { Checkout } from './types.ts'

type Tree = Readonly<Record<string, unknown>>

/** The connection of the shopper's browser. */
export type Connection = {
  readonly address?: string | undefined
  readonly accept?: string | undefined
  /** The number of the request. */
  readonly ndc?: string
}

/** Fields of a submission that say how to pay, and are no fields of a payment. */
const ofThePress = new Set([
  ...['nonce', 'resultUrl', 'origin', 'challenge', 'registrationId', 'shown'],
])
/** Fields of a checkout that decide about its payment, and are no fields of it. */
const ofTheCheckout = new Set(['overridePaymentType', 'registrations', 'integrity'])

/**
 * @param brand of the stored account that pays; undefined: the shopper's own entry decides.
 * @returns the fields, and the names that came from the browser.
 * @throws GatewayError 400 naming every field that is wrong.
 */
export function completeRequest(
  checkout: Checkout,
  secrets: Tree,
  submitted: RequestFields,
  brand: string | undefined,
  from: Connection,
): Request {
  const fromMerchant = without(merged(checkout.request, secrets), ofTheCheckout)
  const fromShopper = withBank(without(submitted, ofThePress))
  const whole = merged(merged(merged(fromShopper, known(from)), fromMerchant), {
    ...onlyShoppers(fromShopper),
    ...typeOf(checkout, brand ?? brandIn(checkout, submitted)),
    ...(hasOwnPage(checkout) || textOf(submitted, 'resultUrl') === undefined
      ? {}
      : { shopperResultUrl: submitted.resultUrl }),
    // The mode was decided when the checkout was made, and is not among its stored fields.
    ...(checkout.mode === 'EXTERNAL' ? { testMode: 'EXTERNAL' } : {}),
  })
  const operation = operationOf(checkout, brand)
  const values = acceptedBy(operation, whole)
  const { request } = openRequest(operation, { values, stored: checkout.request }).check()
  const { ndc } = from
  return {
    fields: request as RequestFields,
    names: [...namesIn(submitted)],
    ...(ndc === undefined ? {} : { ndc }),
  }
}

/**
 * Only what the browser said is compared with its number. A merchant who had a field of the checkout
 * compared would learn about the number from the answer.
 */
function* namesIn(fields: Tree, within = ''): Generator<readonly [string, string]> {
  for (const [name, value] of Object.entries(fields)) {
    const isOwn = within === 'customParameters'
    const full = within === '' ? name : isOwn ? `${within}[${name}]` : `${within}.${name}`
    if (typeof value === 'string') yield [full, value]
    else yield* namesIn(value as Tree, full)
  }
}

/** Whether the merchant said where the shopper goes on to. */
export const hasOwnPage = (checkout: Checkout): boolean => ownPageOf(checkout) !== undefined

/** The page that the merchant named. */
export const ownPageOf = ({ request }: Checkout): string | undefined =>
  textOf(request as RequestFields, 'shopperResultUrl')

const operationOf = ({ kind }: Checkout, registeredBrand: string | undefined): string =>
  kind === 'registration'
    ? 'registrations.create'
    : registeredBrand === undefined
      ? 'payments.create'
      : 'registrations.pay'

/** The account is the shopper's, where there is an entry. */
function onlyShoppers(fields: Tree): Tree {
  const names = ['card', 'bankAccount', 'applePay', 'googlePay', 'samsungPay']
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  )
}

/** The address and the headers of the connection fill only what the merchant left empty. */
const known = ({ address, accept }: Connection): Tree => ({
  customer: {
    ...(address === undefined ? {} : { ip: address }),
    ...(accept === undefined ? {} : { browser: { acceptHeader: accept.slice(0, 2048) } }),
  },
})

function typeOf({ request }: Checkout, brand: string | undefined): Tree {
  const overrides = Object.entries(groupOf(request as RequestFields, 'overridePaymentType') ?? {})
  const own = overrides.find(([name]) => brandOf(name)?.code === brand)?.[1]
  return brand === undefined || own === undefined ? {} : { paymentType: own }
}

/**
 * The code of the brand that decides about the payment type: the one that the merchant fixed, else that of the wallet
 * whose token pays, else the one that the shopper chose or that the number tells. Beside a token, a brand that the
 * shopper names decides nothing.
 */
function brandIn({ request }: Checkout, submitted: RequestFields): string | undefined {
  const fixed = textOf(request as RequestFields, 'paymentBrand')
  if (fixed !== undefined) return brandOf(fixed)?.code
  const wallet = encryptedWallet(submitted)
  if (wallet !== undefined) return brands.find(({ account }) => account === wallet)?.code
  const chosen = textOf(submitted, 'paymentBrand')
  if (chosen !== undefined) return brandOf(chosen)?.code
  const number = textOf(groupOf(submitted, 'card'), 'number')
  return number === undefined ? undefined : detectBrand(number)?.code
}

/** An IBAN tells its bank: shoppers are not asked for it. */
function withBank(fields: Tree): Tree {
  const account = fields.bankAccount as Readonly<Record<string, string>> | undefined
  const iban = account?.iban === undefined ? undefined : electronicFormatIBAN(account.iban)
  if (iban == null || account?.bic !== undefined) return fields
  // A wrong IBAN tells no bank, and is refused under its own name.
  const { bankIdentifier: bankCode = iban.slice(4, 8) } = extractIBAN(iban)
  return { ...fields, bankAccount: { ...account, bankCode } }
}

const without = (fields: Tree, names: ReadonlySet<string>): Tree =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name)))

/** The fields of the first level that an operation knows. */
function acceptedBy(operation: string, fields: Tree): Tree {
  const { fields: rows } = operationNamed(operation)
  const tops = new Set(rows.map(({ name }) => /^[^.[]*/.exec(name)![0]))
  return Object.fromEntries(Object.entries(fields).filter(([name]) => tops.has(name)))
}
