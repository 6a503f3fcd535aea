/**
 * Merchants that make checkouts, and shoppers who pay them without a browser: with double clicks, in
 * two tabs, with wrong cards and right ones, at banks and issuers, coming back twice, late, on another
 * host, or never.
 */
import { setTimeout as pause } from 'node:timers/promises'
import {
  channelId,
  plainShopperChannelId,
  publicUrl,
  shopperChannelId,
} from '../rig/installation/installation.ts'
import { fieldsOf, type Page, visit } from './browser.ts'
import type { Address, Line } from './line.ts'
import { type Random, randomOf } from './random.ts'
import type { ShopperHistory } from './shopper-history.ts'

/** Never stored: no value of the database holds these digits alone. */
export const securityCode = '739'

type Form = Readonly<Record<string, string>>

const byCard = (number: string, brand = 'VISA'): Form => ({
  paymentBrand: brand,
  'card.number': number,
  'card.holder': 'Jane Jones',
  'card.expiryMonth': '05',
  'card.expiryYear': '2034',
  'card.cvv': securityCode,
})

const right = byCard('4200000000000000')
const challenged = byCard('4200000000000018')
const wrong = ['4000000000000002', '4000000000009995', '4000000000000119', '4012001037141112']

/** The entries of shoppers; the more often, the more important. */
const entries: readonly Form[] = [
  right,
  right,
  ...wrong.map((number) => byCard(number)),
  // Frictionless, attempted, unavailable, not participating.
  byCard('4200000000000091'),
  byCard('4200000000000109'),
  byCard('4012001037461114'),
  byCard('4532497088771651'),
  challenged,
  challenged,
  challenged,
  byCard('4200000000000042'),
  byCard('4000008400001629'),
  // A soft decline, and an answer that is lost.
  byCard('4000002500003155'),
  byCard('4000000000000341'),
  { paymentBrand: 'PAYPAL' },
  { paymentBrand: 'PAYPAL' },
]

const verified: readonly Form[] = [right, challenged, byCard('4000000000000002')]

const baskets: readonly Form[] = [
  { amount: '92.00', currency: 'EUR', paymentType: 'DB' },
  { amount: '92.00', currency: 'EUR', paymentType: 'DB' },
  { amount: '43.00', currency: 'EUR', paymentType: 'PA' },
  // Accepted, and it can still fail.
  { amount: '43.71', currency: 'EUR', paymentType: 'DB' },
  { createRegistration: 'true' },
]

/** Presses of the pay button before a shopper gives up. */
const mostPresses = 4

/** The state of a checkout that no host knows. */
const gone = 'gone'

export type ShopperOptions = {
  readonly seed: number
  readonly count: number
  readonly line: Line
  readonly history: ShopperHistory
  /** The merchant's page. */
  readonly shopPage: string
  /** Maximum number of attempts for one press. */
  readonly mostTries: number
}

export type Shoppers = {
  /** Resolves when all shoppers have ended. */
  stop(): Promise<void>
  /** Presses every button once more: each is answered now, and some begin a payment. */
  pressAgain(): Promise<void>
  /** Asks for the state of every checkout. */
  askStates(): Promise<void>
}

export function openShoppers(options: ShopperOptions): Shoppers {
  let stopped = false
  const shoppers = Array.from(
    { length: options.count },
    (_, no) => new Shopper(no, randomOf(options.seed, `shopper ${no}`), options),
  )
  const all = Promise.all(
    shoppers.map(async (shopper) => {
      while (!stopped) await shopper.shop()
    }),
  )
  all.catch(() => undefined)
  return {
    async stop() {
      stopped = true
      await all
    },
    async pressAgain() {
      await Promise.all(shoppers.map((shopper) => shopper.pressAgain()))
    },
    async askStates() {
      await Promise.all(shoppers.map((shopper) => shopper.askStates()))
    },
  }
}

type Press = { readonly nonce: string; readonly entry: Form; readonly challenge: 'frame' | 'tab' }
type Checkout = { readonly id: string; readonly kind: string; readonly presses: Press[] }
type Reply = { readonly state: string; readonly url: string | undefined }

class Shopper {
  readonly #no: number
  readonly #random: Random
  readonly #options: ShopperOptions
  readonly #checkouts: Checkout[] = []
  #presses = 0

  constructor(no: number, random: Random, options: ShopperOptions) {
    this.#no = no
    this.#random = random
    this.#options = options
  }

  /** One checkout, from its making to its end. */
  async shop(): Promise<void> {
    const checkout = await this.#prepared()
    if (checkout === undefined) return void (await pause(50))
    this.#checkouts.push(checkout)
    for (let no = 0; no < mostPresses; no += 1) {
      const reply = await this.#pay(checkout)
      if (reply === undefined || ['paid', 'closed', 'invalid', gone].includes(reply.state)) break
      if (reply.state === 'busy') await pause(this.#random.between(50, 400))
    }
    if (this.#random.next() < 0.6) await this.#readResult(checkout)
  }

  async #prepared(): Promise<Checkout | undefined> {
    const host = this.#host()
    const basket = this.#random.pick(baskets)
    const entityId = this.#random.pick([
      shopperChannelId,
      shopperChannelId,
      plainShopperChannelId,
      channelId,
    ])
    const timeout = this.#random.next() < 0.3 ? { 'customParameters[SIM_TIMEOUT]': '2' } : {}
    const page =
      host &&
      (await this.#merchant(host, '/v1/checkouts', {
        entityId,
        testMode: 'EXTERNAL',
        shopperResultUrl: this.#options.shopPage,
        ...basket,
        ...timeout,
      }))
    const { id } = fieldsOf(page)
    if (page?.status !== 200 || typeof id !== 'string') return undefined
    const kind = basket.amount === undefined ? 'registration' : 'payment'
    return { id, kind, presses: [] }
  }

  /** One press, or several at the same moment. */
  async #pay(checkout: Checkout): Promise<Reply | undefined> {
    const press = this.#newPress(checkout)
    const at = this.#random.next()
    if (at < 0.25) {
      // A double click.
      const [reply] = await Promise.all([
        this.#insist(checkout, press),
        this.#insist(checkout, press),
      ])
      return this.#goOn(checkout, reply)
    }
    if (at < 0.5) {
      // Two tabs.
      const replies = await Promise.all([
        this.#insist(checkout, press),
        this.#insist(checkout, this.#newPress(checkout)),
      ])
      const [one, other] = await Promise.all(replies.map((reply) => this.#goOn(checkout, reply)))
      return one?.state === 'paid' ? one : other
    }
    return this.#goOn(checkout, await this.#insist(checkout, press))
  }

  #newPress(checkout: Checkout): Press {
    this.#presses += 1
    const press = {
      // A letter between the numbers: as one run of digits, some would be card numbers, which are refused.
      nonce: `shopper-${this.#no}-press-${String(this.#presses).padStart(8, '0')}`,
      entry: this.#random.pick(checkout.kind === 'payment' ? entries : verified),
      challenge: this.#random.pick(['frame', 'tab'] as const),
    }
    checkout.presses.push(press)
    return press
  }

  /** Repeats a press without an answer, as the widget does. A few shoppers give up. */
  async #insist(checkout: Checkout, press: Press): Promise<Reply | undefined> {
    for (let no = 0; no < this.#options.mostTries; no += 1) {
      const reply = await this.#send(checkout, press, 'press')
      if (reply !== undefined) return reply
      if (this.#random.next() < 0.02) return undefined
      await pause(this.#random.between(10, 250) * 2 ** Math.min(no, 4))
    }
    return undefined
  }

  async #send(
    { id, kind }: Checkout,
    { nonce, entry, challenge }: Press,
    what: 'press' | 'again',
  ): Promise<Reply | undefined> {
    const host = this.#host()
    if (host === undefined) return undefined
    const form = { nonce, challenge, ...entry, 'customer.browser.userAgent': 'Mozilla/5.0' }
    const page = await visit(`${host.url}/v1/checkouts/${id}/${kind}`, form)
    return this.#told(id, what, page, nonce)
  }

  #told(
    checkout: string,
    what: 'press' | 'again' | 'end',
    page: Page | undefined,
    nonce?: string,
  ): Reply | undefined {
    const { state, redirect, errors } = fieldsOf(page)
    const isAnswer = page?.status === 200 && typeof state === 'string'
    this.#options.history.add({
      checkout,
      what,
      atMs: Date.now(),
      ...(nonce === undefined ? {} : { nonce }),
      ...(page === undefined ? {} : { status: page.status }),
      ...(isAnswer ? { state } : {}),
      ...(state === 'invalid' ? { about: `${what} ${JSON.stringify(errors)}` } : {}),
    })
    // No repeat brings a checkout back that a failover lost.
    if (page?.status === 404) return { state: gone, url: undefined }
    if (!isAnswer) return undefined
    return { state, url: (redirect as { url?: string } | undefined)?.url }
  }

  /** Goes where the reply leads, and learns the state afterwards. */
  async #goOn(checkout: Checkout, reply: Reply | undefined): Promise<Reply | undefined> {
    if (reply?.url === undefined) return reply
    const back = await this.#away(reply.url)
    if (back === undefined) return reply
    const at = this.#random.next()
    // Some wait until the time of the issuer is over, or nearly.
    if (at < 0.2) await pause(this.#random.between(1_500, 2_500))
    if (at < 0.6) await this.#comeBack(back)
    else await Promise.all([this.#comeBack(back), this.#comeBack(back)])
    if (at > 0.9) await this.#comeBack(back)
    return (await this.#stateOf(checkout, 'press')) ?? reply
  }

  /** At the bank or the issuer. @returns the address back, unless the shopper stays away. */
  async #away(url: string): Promise<string | undefined> {
    const at = this.#random.next()
    if (at < 0.15) return undefined
    const shown = await visit(url)
    if (shown?.status !== 200) return undefined
    if (url.includes('/bank/')) {
      const done = await visit(`${url}/${at < 0.75 ? 'approve' : 'cancel'}`, {})
      return at < 0.9 ? done?.location : undefined
    }
    const form: Form =
      at < 0.7
        ? { do: 'confirm', code: '1234' }
        : at < 0.85
          ? { do: 'cancel' }
          : { do: 'confirm', code: this.#random.pick(['2222', '3333', '5555']) }
    return (await visit(url, form))?.location
  }

  /** Comes back at any host. A host that dies is asked again by a reload. */
  async #comeBack(address: string): Promise<void> {
    if (!address.startsWith(publicUrl)) return
    for (let no = 0; no < 3; no += 1) {
      const host = this.#host()
      const page = host && (await visit(`${host.url}${address.slice(publicUrl.length)}`))
      if (page !== undefined) return
      await pause(100)
    }
  }

  async #stateOf({ id }: Checkout, what: 'press' | 'end'): Promise<Reply | undefined> {
    const host = this.#host()
    return host && this.#told(id, what, await visit(`${host.url}/v1/checkouts/${id}/state`))
  }

  async #readResult({ id, kind }: Checkout): Promise<void> {
    const host = this.#host()
    const page = host && (await this.#merchant(host, `/v1/checkouts/${id}/${kind}`))
    const { id: about, result } = fieldsOf(page)
    const code = (result as { code?: string } | undefined)?.code
    if (page?.status !== 200 || code === undefined) return
    this.#options.history.add({
      checkout: id,
      what: 'result',
      atMs: Date.now(),
      status: page.status,
      state: code,
      about: String(about),
    })
  }

  #merchant(host: Address, path: string, form?: Form): Promise<Page | undefined> {
    return visit(`${host.url}${path}`, form, { authorization: `Bearer ${host.token}` })
  }

  #host(): Address | undefined {
    return this.#options.line.any(this.#random.next())
  }

  async pressAgain(): Promise<void> {
    for (const checkout of this.#checkouts) {
      for (const press of checkout.presses) {
        await untilAnswered(() => this.#send(checkout, press, 'again'))
      }
    }
  }

  async askStates(): Promise<void> {
    for (const checkout of this.#checkouts) {
      await untilAnswered(() => this.#stateOf(checkout, 'end'))
    }
  }
}

async function untilAnswered(ask: () => Promise<unknown>): Promise<void> {
  for (let no = 0; no < 20 && (await ask()) === undefined; no += 1) await pause(100)
}
