/** What the widget of a checkout shows: nothing here is a secret of the merchant or of the shopper. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { brands as allBrands, type Brand, brandOf } from '@tollgate/schemas'
import { embedder } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { handlerOf } from '../payment/operation-kinds.ts'
import type { StoredRequest } from '../payment/types.ts'
import { groupOf, textOf } from '../request/values.ts'
import { missingBilling } from './billing-fields.ts'
import { type Flow, flowOf } from './brand-flow.ts'
import { type Candidate, channelsOf, originsOf } from './channels.ts'
import { hasOwnPage } from './complete-request.ts'
import { find } from './find.ts'
import { priceOf, shownOf } from './shown.ts'
import { asksForCvv, hasCode, offered } from './stored-account.ts'
import type { Checkout } from './types.ts'
import { type OfferedWallet, walletsOf } from './wallets.ts'

export type OfferedBrand = { readonly brand: string; readonly flow: Flow }

export type Offer = {
  readonly kind: Checkout['kind']
  readonly amount?: string
  readonly currency?: string
  /** What a press of the page that shows this offer is for; it travels back with the press. */
  readonly shown: string
  readonly brands: readonly OfferedBrand[]
  /** Wallets whose button the page may show, where the browser has them. */
  readonly wallets: readonly OfferedWallet[]
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
  /** The merchant leaves it to the shopper whether the account is stored. */
  readonly mayRegister: boolean
  /** Fields of the billing address that an authentication of a card needs and the merchant left empty. */
  readonly missingBilling: readonly string[]
  /** `merchant.name` of the checkout. Names of entities are for operators. */
  readonly merchantName?: string
  /** The merchant's reference of the order. */
  readonly reference?: string
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
  const channels = channelsOf(addressee)
  const widgetOrigins = originsOf(addressee)
  const locale = textOf(fields, 'locale')
  const merchantName = textOf(groupOf(fields, 'merchant') ?? {}, 'name')
  const reference = textOf(fields, 'merchantTransactionId')
  return {
    kind,
    ...(kind === 'payment' ? priceOf(checkout) : {}),
    shown: shownOf(checkout),
    brands: await brandsOf(engine, channels, checkout),
    wallets: await walletsOf(engine, channels, checkout),
    registrations: await registrationsOf(engine, channels, checkout),
    createRegistration: textOf(fields, 'createRegistration') === 'true',
    mayRegister: kind === 'payment' && textOf(fields, 'createRegistration') === undefined,
    missingBilling: missingBilling(
      channels.map(({ channel }) => channel),
      checkout,
    ),
    ...(merchantName === undefined ? {} : { merchantName }),
    ...(reference === undefined ? {} : { reference }),
    ...(locale === undefined ? {} : { locale }),
    ...(widgetOrigins === undefined ? {} : { widgetOrigins }),
    test: engine.environment === 'test',
    result: hasOwnPage(checkout),
    merchantFields: ['customer', 'billing'].flatMap((group) => namesBelow(request, group)),
    ...(engine.fieldsUrl === undefined ? {} : { fieldsUrl: engine.fieldsUrl }),
    ...(checkout.scriptHash === null ? {} : { scriptHash: checkout.scriptHash }),
  }
}

function namesBelow(request: StoredRequest, name: string): string[] {
  const group = groupOf(request as RequestFields, name) ?? {}
  const names = Object.entries(group).flatMap(([field, value]) =>
    typeof value === 'string' ? [`${name}.${field}`] : [],
  )
  return names.sort()
}

async function registrationsOf(
  engine: Engine,
  channels: readonly Candidate[],
  checkout: Checkout,
): Promise<Offer['registrations']> {
  const found = await offered(engine, checkout)
  const isAsked = channels.some(({ channel }) => asksForCvv(channel.settings))
  return found.map((one) => {
    const { id, brand, method, request } = one
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
      cvv: hasCode(one) && isAsked ? 'asked' : 'not',
    }
  })
}

/** The brands that a channel's acquirers take; for a merchant, those of its rules' channels, each read once. */
async function brandsOf(
  engine: Engine,
  channels: readonly Candidate[],
  checkout: Checkout,
): Promise<OfferedBrand[]> {
  const left = new Map(
    allBrands.flatMap((brand) => {
      const flow = flowOf(brand)
      return flow === undefined ? [] : [[brand.code, { flow, wanted: wantedOf(checkout, brand) }]]
    }),
  )
  const found: OfferedBrand[] = []
  const takers = new Map<string, Taker>()
  const wholly = new Set<string>()
  for (const { channel, only } of channels) {
    if (wholly.has(channel.id)) continue
    if (only === null) wholly.add(channel.id)
    const takes = takers.get(channel.id) ?? (await engine.targets.takerOn(channel, checkout.mode))
    takers.set(channel.id, takes)
    for (const [brand, { flow, wanted }] of left) {
      if (only?.includes(brand) === false || !takes(wanted)) continue
      found.push({ brand, flow })
      left.delete(brand)
    }
  }
  return found
}

type Taker = Awaited<ReturnType<Engine['targets']['takerOn']>>

function wantedOf({ kind, mode, request }: Checkout, brand: Brand): Parameters<Taker>[0] {
  const fields = request as RequestFields
  const types = groupOf(fields, 'overridePaymentType') ?? {}
  const own = Object.entries(types).find(([name]) => brandOf(name)?.code === brand.code)?.[1]
  const type = (own as string | undefined) ?? textOf(fields, 'paymentType') ?? ''
  const isPayment = kind === 'payment'
  return {
    mode,
    kind: isPayment ? (handlerOf[type] ?? null) : null,
    method: brand.account === 'card' || brand.account === 'bankAccount' ? brand.account : null,
    brand: brand.code,
    currency: isPayment ? (textOf(fields, 'currency') ?? null) : null,
  }
}
