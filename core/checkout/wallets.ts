/** The wallets whose button a page of the merchant may show. */
import type { RequestFields, WalletFacts, WalletField } from '@tollgate/plugin-kit'
import { embedder } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { refuse, textOf } from '../request/values.ts'
import { type Candidate, channelsOf } from './channels.ts'
import { find } from './find.ts'
import { refuseForeignPage } from './page.ts'
import type { Checkout } from './types.ts'

export type OfferedWallet = WalletFacts & { readonly field: WalletField }

/** Wallets with a button, and their brands, by which rules choose channels. */
const withButton = [
  ['applePay', 'APPLEPAY'],
  ['googlePay', 'GOOGLEPAY'],
] as const

/** Nothing for a checkout that only stores an account: a sheet asks for money. */
export async function walletsOf(
  engine: Engine,
  channels: readonly Candidate[],
  { kind }: Checkout,
): Promise<OfferedWallet[]> {
  if (kind !== 'payment') return []
  const found = await Promise.all(
    withButton.map(async ([field, brand]) => {
      const channel = takerOf(channels, brand)
      const facts = channel && (await engine.wallets.facts(channel, field))
      return facts === undefined ? [] : [{ field, ...facts }]
    }),
  )
  return found.flat()
}

/** The first channel that would get a payment of this brand. */
const takerOf = (channels: readonly Candidate[], brand: string) =>
  channels.find(({ only }) => only === null || only.includes(brand))?.channel

/** @throws GatewayError 400 for a page that may not show the widget, or a wallet without a button; 404; 503. */
export async function walletSession(
  engine: Engine,
  id: string,
  fields: RequestFields,
): Promise<string> {
  const checkout = await find(engine, id)
  const addressee = await engine.directory.addressee(embedder, checkout.entityId)
  refuseForeignPage(addressee, checkout, fields)
  const origin = textOf(fields, 'origin')!
  const page = URL.parse(origin)
  if (page === null || page.origin !== origin) {
    throw refuse('200.300.404', 'origin', 'must be an origin such as https://shop.example', origin)
  }
  const brands = new Map(withButton)
  const field = textOf(fields, 'wallet') as 'applePay'
  const channel = takerOf(channelsOf(addressee), brands.get(field)!)
  const session = channel && (await engine.wallets.session(channel, field, page.hostname))
  if (session === undefined) {
    throw refuse('200.300.404', 'wallet', 'has no button at this checkout', field)
  }
  return session
}
