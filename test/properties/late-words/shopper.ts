/** The shoppers of one merchant: they press, are sent away, come back, and remember every reply. */
import { GatewayError } from '../../../core/index.ts'
import { cardOf } from '../../rig/payment-request.ts'
import { pressParameter } from './books.ts'
import type { Command } from './command.ts'
import type { Fate } from './fate.ts'
import { type Asked, type Merchant, whole } from './merchant.ts'
import { live } from './processes.ts'
import { amountFields, pick, same } from './request.ts'

/** A reply to a press. */
export type Told = { readonly checkout: string; readonly nonce: string; readonly state: string }

type Act<What extends Command['do']> = Extract<Command, { do: What }>
type Press = { readonly nonce: string; readonly reference: string }
type Checkout = { readonly id: string; readonly type: string; last: Press | undefined }

/** Where a process died, its payment stays under way: the shopper gives up, the engine does not. */
const patienceMs = 1_000

export class Shopper {
  readonly told: Told[] = []
  readonly checkouts: Checkout[] = []
  readonly #merchant: Merchant
  readonly #asked: (asked: Asked) => void
  #nonces = 0

  /** @param asked adds the payment of a press to those that the merchant can follow up */
  constructor(merchant: Merchant, asked: (asked: Asked) => void) {
    this.#merchant = merchant
    this.#asked = asked
  }

  async act(
    command: Act<'check out'> | Act<'press'> | Act<'come back'> | Act<'close checkout'>,
  ): Promise<void> {
    switch (command.do) {
      case 'check out':
        return this.#checkOut(command)
      case 'press':
        return this.#press(command)
      case 'come back':
        return this.#comeBack(command)
      case 'close checkout':
        return this.#close(command)
    }
  }

  async #checkOut({ type, engine }: Act<'check out'>): Promise<void> {
    const { world, name, place } = this.#merchant
    const made = await this.#lived(undefined, async () =>
      world.engines[engine].checkouts.create({
        entityId: place.channel,
        testMode: 'EXTERNAL',
        paymentType: type,
        merchantTransactionId: `${name}.checkout-${this.checkouts.length}`,
        ...amountFields(whole),
      } as never),
    )
    if (made !== undefined) this.checkouts.push({ id: made.id, type, last: undefined })
  }

  async #press(command: Act<'press'>): Promise<void> {
    const { on, click, crash, engine } = command
    const checkout = pick(this.checkouts, on)
    if (checkout === undefined) return
    const before = click === 'again' ? checkout.last : undefined
    const press = before ?? this.#newPress(checkout, command)
    const other = engine === 0 ? 1 : 0
    const sends = [this.#send(checkout, press, command, engine, crash)]
    if (click === 'double') {
      sends.push(this.#send(checkout, press, command, other, undefined))
    }
    if (click === 'in two tabs') {
      const second = this.#newPress(checkout, command)
      sends.push(this.#send(checkout, second, command, other, undefined))
    }
    await Promise.all(sends)
    await this.#learn(checkout, press)
  }

  #newPress(checkout: Checkout, { fate, issuer }: { fate: Fate } & Pick<Act<'press'>, 'issuer'>) {
    this.#nonces += 1
    const reference = this.#merchant.tell(same(fate))
    if (issuer !== undefined) this.#merchant.world.books.authenticate(reference, issuer)
    const nonce = `press-of-a-shopper-${String(this.#nonces).padStart(4, '0')}`
    checkout.last = { nonce, reference }
    return checkout.last
  }

  async #send(
    { id }: Checkout,
    { nonce, reference }: Press,
    { issuer }: Act<'press'>,
    engine: 0 | 1,
    crash: Act<'press'>['crash'],
  ): Promise<void> {
    const submission = {
      nonce,
      paymentBrand: 'VISA',
      card: cardOf('4200000000000000'),
      customParameters: { [pressParameter]: reference },
      ...(issuer === undefined ? {} : { customer: { browser: { userAgent: 'Mozilla/5.0' } } }),
    }
    const reply = await this.#lived(crash, () =>
      this.#merchant.world.engines[engine].checkouts.submit(id, submission as never, {
        address,
        ...(issuer === undefined ? {} : { accept: 'text/html' }),
      }),
    )
    if (reply === undefined) return
    const { state, errors } = reply
    if (state === 'paid') this.#merchant.count('paid')
    if (reply.redirect !== undefined) this.#merchant.count('away')
    if (state === 'invalid') {
      this.#merchant.faults.push(`a press was answered invalid: ${JSON.stringify(errors)}`)
    }
    this.told.push({ checkout: id, nonce, state })
  }

  /** The merchant finds the payment of a press in its reports. */
  async #learn({ id, type }: Checkout, { reference }: Press): Promise<void> {
    const rows = await this.#sql<{ payment: string | null }>(
      'select payment_id as payment from tollgate.checkout where id = $1',
      [id],
    )
    const payment = rows[0]?.payment
    if (payment == null) return
    if (!this.#merchant.begun.includes(payment)) this.#merchant.begun.push(payment)
    this.#asked({
      reference,
      type,
      minor: whole,
      keyed: false,
      id: payment,
      send: async () => undefined,
    })
  }

  /** By any way back that was ever given out, used or not. */
  async #comeBack({ on, issuer, twice, engine, crash }: Act<'come back'>): Promise<void> {
    const { books, engines } = this.#merchant.world
    const back = pick(
      books.away.filter(({ sequence }) => sequence === this.#merchant.name),
      on,
    )
    if (back === undefined) return
    const [id = '', token = ''] = back.returnUrl.split('/').slice(-2)
    const press = await this.#referenceOf(id)
    if (press !== undefined) books.authenticate(press, issuer)
    const come = (at: 0 | 1, dies: typeof crash) =>
      this.#lived(dies, () =>
        engines[at].shoppers.cameBack(id, token, { method: 'GET', query: {}, form: {} }),
      )
    const other = engine === 0 ? 1 : 0
    await Promise.all([come(engine, crash), ...(twice ? [come(other, undefined)] : [])])
    this.#merchant.count('came back')
  }

  async #referenceOf(payment: string): Promise<string | undefined> {
    const [row] = await this.#sql<{ reference: string | null }>(
      `select request -> 'customParameters' ->> $2 as reference
       from tollgate.payment_request where id = $1`,
      [payment, pressParameter],
    )
    return row?.reference ?? undefined
  }

  async #close({ on, how }: Act<'close checkout'>): Promise<void> {
    const checkout = pick(this.checkouts, on)
    if (checkout === undefined) return
    if (how === 'expires') {
      await this.#sql(
        `update tollgate.checkout set created_at = created_at - interval '1 hour',
           expires_at = expires_at - interval '1 hour' where id = $1`,
        [checkout.id],
      )
      return
    }
    await this.#lived(undefined, () =>
      this.#merchant.world.engines[0].checkouts.remove(checkout.id),
    )
  }

  #gaveUp(answered: AbortSignal): Promise<undefined> {
    return new Promise((resolve) => {
      const look = setInterval(() => {
        if ((this.#merchant.tally.get('died') ?? 0) > 0) resolve(undefined)
      }, patienceMs)
      answered.addEventListener('abort', () => clearInterval(look))
    })
  }

  async #sql<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    return this.#merchant.world.run.sql<Row>(text, values)
  }

  /** Undefined: the process died, the request was refused, or the shopper gave up waiting. */
  async #lived<T>(crash: Act<'press'>['crash'], work: () => Promise<T>): Promise<T | undefined> {
    const { begun, world } = this.#merchant
    const judged = live(crash, begun, work).then(
      (lived) => {
        if (!lived.died) return lived.value
        this.#merchant.count('died')
        return undefined
      },
      (error: unknown) => {
        const isRefusal = error instanceof GatewayError && error.status !== 500
        if (!isRefusal && world.line === undefined) {
          const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
          this.#merchant.faults.push(`a shopper met a fault of the gateway: ${text}`)
        }
        return undefined
      },
    )
    const answered = new AbortController()
    try {
      return await Promise.race([judged, this.#gaveUp(answered.signal)])
    } finally {
      answered.abort()
    }
  }
}

const address = '192.0.2.7'
