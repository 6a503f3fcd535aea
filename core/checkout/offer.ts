/** What the widget of a checkout shows: nothing here is a secret of the merchant or of the shopper. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { brands as allBrands, type Brand, brandOf, currencyOf } from '@tollgate/schemas'
import { embedder } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import type { Addressee, Channel } from '../entity/directory.ts'
import { handlerOf } from '../payment/operation-kinds.ts'
import type { StoredRequest } from '../payment/types.ts'
import { groupOf, textOf } from '../request/values.ts'
import { hasOwnPage } from './complete-request.ts'
import { find } from './find.ts'
import { asksForCvv, offered } from './stored-account.ts'
import type { Checkout } from './types.ts'

export type OfferedBrand = {
  readonly brand: string
  readonly flow: 'card' | 'redirect' | 'bank'
}

export type Offer = {
  readonly kind: Checkout['kind']
  readonly amount?: string
  readonly currency?: string
  readonly brands: readonly OfferedBrand[]
  readonly registrations: readonly {
    readonly id: string
    readonly brand: string
    readonly last4?: string
    readonly expiryMonth?: string
    readonly expiryYear?: string
    readonly cvv: 'asked' | 'not'
  }[]
  /** The account of this payment is stored in any case. */
  readonly createRegistration: boolean
  readonly locale?: string
  readonly widgetOrigins?: readonly string[]
  readonly test: boolean
  /** The checkout itself says where the shopper goes on to. */
  readonly result: boolean
  /** Names of fields of the shopper that the merchant has filled. */
  readonly merchantFields: readonly string[]
  /** The origin of card fields, where it is not that of the script. */
  readonly fieldsUrl?: string
  /** The script that this checkout was made with. */
  readonly scriptHash?: string
}

export async function offerOf(engine: Engine, id: string): Promise<Offer> {
  const checkout = await find(engine, id)
  const addressee = await engine.directory.addressee(embedder, checkout.entityId)
  const { kind, request } = checkout
  const fields = request as RequestFields
  const { widgetOrigins } = addressee.settings as { widgetOrigins?: readonly string[] }
  const locale = textOf(fields, 'locale')
  return {
    kind,
    ...(kind === 'payment' ? priceOf(fields) : {}),
    brands: await brandsOf(engine, addressee, checkout),
    registrations: await registrationsOf(engine, addressee, checkout),
    createRegistration: textOf(fields, 'createRegistration') === 'true',
    ...(locale === undefined ? {} : { locale }),
    ...(widgetOrigins === undefined ? {} : { widgetOrigins }),
    test: engine.environment === 'test',
    result: hasOwnPage(checkout),
    merchantFields: ['customer', 'billing'].flatMap((group) => namesBelow(request, group)),
    ...(engine.fieldsUrl === undefined ? {} : { fieldsUrl: engine.fieldsUrl }),
    ...(checkout.scriptHash === null ? {} : { scriptHash: checkout.scriptHash }),
  }
}

function priceOf(fields: RequestFields): { amount: string; currency: string } {
  const [amount = '', currency = ''] = [textOf(fields, 'amount'), textOf(fields, 'currency')]
  return { amount: currencyOf(currency)?.exponent === 0 ? amount : withCents(amount), currency }
}

const withCents = (amount: string) => (amount.includes('.') ? amount : `${amount}.00`)

function namesBelow(request: StoredRequest, name: string): string[] {
  const group = groupOf(request as RequestFields, name) ?? {}
  const names = Object.entries(group).flatMap(([field, value]) =>
    typeof value === 'string' ? [`${name}.${field}`] : [],
  )
  return names.sort()
}

async function registrationsOf(
  engine: Engine,
  { settings }: Addressee,
  checkout: Checkout,
): Promise<Offer['registrations']> {
  const found = await offered(engine, checkout)
  return found.map(({ id, brand, method, request }) => {
    const account = groupOf(request as RequestFields, method)
    const last4 = textOf(account, 'last4Digits')
    const expiryMonth = textOf(account, 'expiryMonth')
    const expiryYear = textOf(account, 'expiryYear')
    return {
      id,
      brand,
      ...(last4 === undefined ? {} : { last4 }),
      ...(expiryMonth === undefined ? {} : { expiryMonth }),
      ...(expiryYear === undefined ? {} : { expiryYear }),
      cvv: method === 'card' && asksForCvv(settings) ? 'asked' : 'not',
    }
  })
}

/** The brands that a channel's acquirers take; for a merchant, those of its rules' channels. */
async function brandsOf(
  engine: Engine,
  addressee: Addressee,
  checkout: Checkout,
): Promise<OfferedBrand[]> {
  const found = new Map<string, OfferedBrand>()
  for (const { channel, only } of channelsOf(addressee)) {
    for (const brand of allBrands) {
      const flow = flowOf(brand)
      if (flow === undefined || found.has(brand.code) || only?.includes(brand.code) === false)
        continue
      if (await takes(engine, channel, checkout, brand)) {
        found.set(brand.code, { brand: brand.code, flow })
      }
    }
  }
  return [...found.values()]
}

function channelsOf(addressee: Addressee): { channel: Channel; only: readonly string[] | null }[] {
  if (addressee.rules === undefined) return [{ channel: addressee, only: null }]
  return addressee.rules
    .filter(({ channel }) => !channel.closed)
    .map(({ channel, lists }) => ({
      channel: { ...addressee, ...channel, path: [channel.id, ...addressee.path] },
      only: lists.brands === null ? null : [...lists.brands],
    }))
}

/** How a shopper pays with a brand in the widget; undefined: not there. */
function flowOf(brand: Brand): OfferedBrand['flow'] | undefined {
  if (brand.account === 'card') return 'card'
  if (brand.flow === 'redirect' && !brand.accountNeeded) return 'redirect'
  return brand.account === 'bankAccount' ? 'bank' : undefined
}

function takes(
  engine: Engine,
  channel: Channel,
  { kind, mode, request }: Checkout,
  brand: Brand,
): Promise<boolean> {
  const fields = request as RequestFields
  const types = groupOf(fields, 'overridePaymentType') ?? {}
  const own = Object.entries(types).find(([name]) => brandOf(name)?.code === brand.code)?.[1]
  const type = (own as string | undefined) ?? textOf(fields, 'paymentType') ?? ''
  const isPayment = kind === 'payment'
  return engine.targets.takes(channel, {
    mode,
    kind: isPayment ? (handlerOf[type] ?? null) : null,
    method: brand.account === 'card' || brand.account === 'bankAccount' ? brand.account : null,
    brand: brand.code,
    currency: isPayment ? (textOf(fields, 'currency') ?? null) : null,
  })
}
