/** The wallets whose button a page of the merchant may show. */
import type { RequestFields, WalletFacts, WalletField } from '@tollgate/plugin-kit'
import { embedder } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { refuse, textOf } from '../request/values.ts'
import { type Candidate, channelsOf } from './channels.ts'
import { held, noSession, stateOf } from './find.ts'
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

/**
 * @throws GatewayError 400 for a page that may not show the widget, a wallet without a button, or a checkout that is
 * over; 404; 429; 503.
 */
export async function walletSession(
  engine: Engine,
  id: string,
  fields: RequestFields,
): Promise<string> {
  const now = await held(engine, id)
  const { checkout } = now
  const addressee = await engine.directory.addressee(embedder, checkout.entityId)
  refuseForeignPage(addressee, checkout, fields)
  const origin = textOf(fields, 'origin')!
  const page = URL.parse(origin)
  if (page === null || page.origin !== origin || !mayBeShop(engine, page)) {
    throw refuse('200.300.404', 'origin', 'must be an origin such as https://shop.example', origin)
  }
  const brands = new Map(withButton)
  const field = textOf(fields, 'wallet') as 'applePay'
  const channel = takerOf(channelsOf(addressee), brands.get(field)!)
  const state = await stateOf(engine, now)
  if (state === 'paid' || state === 'closed') throw noSession(`it is ${state}`)
  refuseManySessions(engine, id)
  const session = channel && (await engine.wallets.session(channel, field, page.hostname))
  if (session === undefined) {
    throw refuse('200.300.404', 'wallet', 'has no button at this checkout', field)
  }
  return session
}

/** Wallets know pages by the names of their hosts. In tests the page may be on this machine. */
function mayBeShop({ environment }: Engine, { protocol, hostname }: URL): boolean {
  if (hostname === 'localhost' || hostname === '127.0.0.1') return environment === 'test'
  return protocol === 'https:' && !/^\[|^[0-9.]+$/.test(hostname)
}

/**
 * Each session is a request with the certificate of the merchant, and whoever has the id of a checkout may ask.
 *
 * @throws GatewayError 429
 */
function refuseManySessions({ shopperQuestions }: Engine, id: string): void {
  const key = `session ${id}`
  if (!shopperQuestions.may(key)) {
    throw new GatewayError('800.120.100', { status: 429, retryAfterSeconds: 2 })
  }
  shopperQuestions.count(key)
}
