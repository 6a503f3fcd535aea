/**
 * Merchants that pay and follow up continuously, on all hosts at once, with every payment type and
 * several operations on one payment at a time. Each repeats a wish with its key until an answer
 * states its outcome.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { card } from '../rig/installation/client.ts'
import { channelId, plainChannelId } from '../rig/installation/installation.ts'
import { type Answer, type History, isApproved, isWord } from './history.ts'
import { ask, type Line } from './line.ts'
import { type Random, randomOf } from './random.ts'

type Wish = {
  readonly reference: string
  readonly type: string
  readonly on: string | undefined
  readonly body: string
}

type More = Readonly<Record<string, string>>
type Step = {
  readonly type: string
  readonly minor?: number
  /** On the first payment of the story instead of the previous one. */
  readonly on?: 'first'
  readonly more?: More
}
type Story = {
  readonly first: Step
  readonly after?: readonly Step[]
  /** Simultaneous steps on the first payment. */
  readonly atOnce?: readonly Step[]
  /** One key to all hosts at the same time. */
  readonly twins?: true
  readonly stranger?: true
}

const practice = (value: string): More => ({
  'standingInstruction.industryPractice': value,
  'standingInstruction.source': 'MIT',
  'standingInstruction.mode': 'REPEATED',
  'standingInstruction.type': 'UNSCHEDULED',
})
const pendingCard = card('4000000000000077')
const declined = { 'customParameters[SIM_DECLINE]': '800.100.152' }
const one = (type: string, minor: number, more?: More): Story => ({
  first: { type, minor, ...(more === undefined ? {} : { more }) },
})

/** Half a minute each, so they are rare. */
const slow: readonly Story[] = [one('PA', 8_500, pendingCard), one('DB', 8_487)]

/** The usual payments of most merchants. */
const plain: readonly Story[] = [
  one('DB', 9_200),
  one('DB', 1_234),
  one('PA', 4_300),
  { ...one('PA', 2_500), after: [{ type: 'CP', minor: 2_500 }] },
]

const stories: readonly Story[] = [
  {
    ...one('DB', 9_200),
    after: [
      { type: 'RF', minor: 3_000 },
      { type: 'RF', minor: 6_200, on: 'first' },
    ],
  },
  {
    ...one('PA', 10_000),
    after: [
      { type: 'CP', minor: 10_000 },
      { type: 'RF', minor: 10_000 },
    ],
  },
  {
    ...one('PA', 8_000),
    after: [
      { type: 'CP', minor: 3_000 },
      { type: 'CP', minor: 5_000, on: 'first' },
    ],
  },
  { ...one('PA', 7_000), after: [{ type: 'RV' }] },
  {
    ...one('PA', 7_000),
    after: [
      { type: 'RV', minor: 2_000 },
      { type: 'CP', minor: 5_000, on: 'first' },
    ],
  },
  { ...one('PA.CP', 6_000), after: [{ type: 'RF', minor: 6_000 }] },
  { ...one('DB', 5_000), after: [{ type: 'RV' }] },
  {
    ...one('PA', 4_000),
    after: [
      { type: 'CP', minor: 4_000 },
      { type: 'RV' },
      { type: 'CP', minor: 1_500, on: 'first' },
    ],
  },
  {
    ...one('PA', 6_500),
    after: [
      { type: 'CP', minor: 6_500, more: declined },
      { type: 'CP', minor: 6_500, on: 'first' },
      { type: 'RF', minor: 6_500, more: declined },
    ],
  },
  one('CD', 2_100),
  {
    ...one('DB', 3_300),
    after: [
      { type: 'RB', minor: 1_100 },
      { type: 'RF', minor: 1_100 },
    ],
  },
  {
    ...one('PA', 3_600),
    after: [
      { type: 'RC', minor: 3_000 },
      { type: 'RF', minor: 1_000 },
    ],
  },
  {
    ...one('PA', 5_500),
    after: [
      { type: 'PA', minor: 1_500, on: 'first', more: practice('INCREMENTAL_AUTH') },
      { type: 'CP', minor: 7_000, on: 'first' },
    ],
  },
  {
    ...one('PA', 5_600),
    after: [
      { type: 'PA', minor: 6_000, on: 'first', more: practice('REAUTHORIZATION') },
      { type: 'CP', minor: 6_000 },
    ],
  },
  {
    ...one('PA', 10_000),
    atOnce: [3_000, 4_000, 5_000, 6_000, undefined].map(
      (minor): Step => (minor === undefined ? { type: 'RV' } : { type: 'CP', minor }),
    ),
  },
  {
    ...one('DB', 10_000),
    atOnce: [4_000, 5_000, 6_000, undefined].map(
      (minor): Step => (minor === undefined ? { type: 'RV' } : { type: 'RF', minor }),
    ),
  },
  { ...one('DB', 9_100), twins: true },
  { ...one('PA', 9_000), twins: true, after: [{ type: 'CP', minor: 9_000 }] },
  { ...one('PA.CP', 4_500), twins: true },
  { ...one('DB', 8_288), after: [{ type: 'RF', minor: 288 }] },
  one('PA', 8_289),
  // An accepted payment that can still fail.
  one('DB', 4_171),
  one('DB', 4_172),
  { ...one('DB', 4_371), after: [{ type: 'RF', minor: 1_000 }] },
  { ...one('PA', 6_171), after: [{ type: 'CP', minor: 6_000 }] },
  {
    ...one('PA', 9_000),
    after: [
      { type: 'CP', minor: 3_071 },
      { type: 'RF', minor: 1_071 },
    ],
  },
  { ...one('PA', 6_400), after: [{ type: 'RV', minor: 2_071 }] },
  { ...one('DB', 5_400), after: [{ type: 'RF', minor: 1_571 }] },
  one('PA.CP', 4_571),
  one('DB', 8_400, card('4000000000000002')),
  one('DB', 8_600, card('4000000000000341')),
  { ...one('DB', 7_700), stranger: true },
]

export type Shops = {
  readonly told: { stories: number }
  /** Resolves when all begun stories have ended. */
  stop(): Promise<void>
}

export type ShopOptions = {
  readonly seed: number
  readonly count: number
  /** The number of the first merchant; merchants of one run have different ones. */
  readonly firstNo: number
  readonly line: Line
  readonly history: History
  /** Maximum number of attempts for a wish. */
  readonly mostTries: number
  /** Share of plain payments among the stories, 0 to 1. */
  readonly plainShare: number
  /** Share of stories at the acquirer without reversals by key, 0 to 1. */
  readonly plainChannelShare: number
}

export function openShops(options: ShopOptions): Shops {
  const { seed, count, firstNo } = options
  const told = { stories: 0 }
  let stopped = false
  const shops = Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const no = firstNo + at
      const merchant = new Merchant(no, randomOf(seed, `merchant ${no}`), options)
      while (!stopped) {
        await merchant.tell()
        told.stories += 1
      }
    }),
  )
  shops.catch(() => undefined)
  return {
    told,
    async stop() {
      stopped = true
      await shops
    },
  }
}

/** Doublings of the pause between attempts, which ends at four seconds. */
const mostDoublings = 4

class Merchant {
  readonly #no: number
  readonly #random: Random
  readonly #line: Line
  readonly #history: History
  readonly #mostTries: number
  readonly #plainShare: number
  readonly #plainChannelShare: number
  #wishes = 0

  constructor(no: number, random: Random, options: ShopOptions) {
    this.#no = no
    this.#random = random
    this.#line = options.line
    this.#history = options.history
    this.#mostTries = options.mostTries
    this.#plainShare = options.plainShare
    this.#plainChannelShare = options.plainChannelShare
  }

  async tell(): Promise<void> {
    const at = this.#random.next()
    const story = this.#random.pick(at < 0.005 ? slow : at < this.#plainShare ? plain : stories)
    const begun = this.#first(story.first, this.#random.next() < this.#plainChannelShare)
    const paid = await (story.twins === true ? this.#twins(begun) : this.#insist(begun))
    if (paid === undefined) return
    if (story.stranger === true) await this.#asStranger(paid)
    if (story.atOnce !== undefined && isApproved(paid.code)) {
      await Promise.all(
        story.atOnce.map((step) => this.#insist(this.#follow(step, paid.id, paid.id))),
      )
    }
    let last = paid
    let wish = begun
    for (const step of story.after ?? []) {
      if (step.on !== 'first' && !isApproved(last.code)) break
      wish = this.#follow(step, last.id, paid.id)
      const answer = await this.#insist(wish)
      if (answer === undefined) return
      last = answer
    }
    // Merchants read again: the payment, and the result of their key.
    if (this.#random.next() < 0.04) await this.#read(last.id)
    if (this.#random.next() < 0.03) await this.#insist(wish)
  }

  #first({ type, minor, more }: Step, isPlain: boolean): Wish {
    return this.#wish(type, undefined, minor, {
      entityId: isPlain ? plainChannelId : channelId,
      testMode: 'EXTERNAL',
      paymentBrand: 'VISA',
      ...card('4200000000000000'),
      ...more,
    })
  }

  #follow({ type, minor, on, more }: Step, last: string, first: string): Wish {
    return this.#wish(type, on === 'first' ? first : last, minor, more ?? {})
  }

  #wish(type: string, on: string | undefined, minor: number | undefined, more: More): Wish {
    this.#wishes += 1
    // Shorter references than eight characters are refused.
    const reference = `${type}-${this.#no}-${String(this.#wishes).padStart(6, '0')}`
    const body = new URLSearchParams({
      paymentType: type,
      merchantTransactionId: reference,
      ...(minor === undefined ? {} : { amount: (minor / 100).toFixed(2), currency: 'EUR' }),
      ...more,
    }).toString()
    return { reference, type, on, body }
  }

  async #twins(wish: Wish): Promise<Answer | undefined> {
    await Promise.all([this.#send(wish), this.#send(wish), this.#send(wish)])
    return this.#insist(wish)
  }

  async #insist(wish: Wish): Promise<Answer | undefined> {
    for (let no = 0; no < this.#mostTries; no += 1) {
      const answer = await this.#send(wish)
      if (isWord(answer)) return answer
      // Growing pauses, as clients use them: simultaneous repeats keep a slow host slow.
      await pause(this.#random.between(10, 250) * 2 ** Math.min(no, mostDoublings))
    }
    return undefined
  }

  async #send({ reference, type, on, body }: Wish): Promise<Answer | undefined> {
    const host = this.#line.any(this.#random.next())
    if (host === undefined) {
      await pause(50)
      return undefined
    }
    const startedMs = Date.now()
    const answer = await ask(host, {
      method: 'POST',
      path: on === undefined ? '/v1/payments' : `/v1/payments/${on}`,
      token: host.token,
      key: reference,
      body,
    })
    const endedMs = Date.now()
    this.#history.add({
      reference,
      type,
      on,
      host: host.name,
      startedMs,
      endedMs,
      asks: 'payment',
      answer,
    })
    return answer
  }

  async #read(id: string): Promise<void> {
    const host = this.#line.any(this.#random.next())
    if (host === undefined) return
    const startedMs = Date.now()
    const answer = await ask(host, { method: 'GET', path: `/v1/payments/${id}`, token: host.token })
    const endedMs = Date.now()
    this.#history.add({
      reference: `read ${id}`,
      type: 'read',
      on: id,
      host: host.name,
      startedMs,
      endedMs,
      asks: 'read',
      answer,
    })
  }

  /** Another merchant of the installation reads a payment and tries to take its money. */
  async #asStranger({ id }: Answer): Promise<void> {
    const host = this.#line.any(this.#random.next())
    if (host === undefined) return
    const token = host.strangerToken
    const path = `/v1/payments/${id}`
    // No blank, because a malformed key would be refused first.
    const reference = `stranger-${id}`
    for (const type of ['read', 'RF'] as const) {
      const startedMs = Date.now()
      const answer = await (type === 'read'
        ? ask(host, { method: 'GET', path, token })
        : ask(host, {
            method: 'POST',
            path,
            token,
            key: reference,
            body: 'paymentType=RF&amount=1.00&currency=EUR',
          }))
      const endedMs = Date.now()
      this.#history.add({
        reference,
        type,
        on: id,
        host: host.name,
        startedMs,
        endedMs,
        asks: 'stranger',
        answer,
      })
    }
  }
}
