/**
 * Merchants: they post forms with an Idempotency-Key, repeat unanswered ones, and record every
 * request and answer.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { cardOf } from '../payment-request.ts'
import { channelId } from './installation.ts'

/** A client's access to a host. */
export type Address = { readonly name: string; readonly url: string; readonly token: string }

/** A payment or follow-up that a merchant wants once, however often it is sent. */
export type Wish = {
  /** Idempotency-Key and merchantTransactionId. */
  readonly reference: string
  readonly type: string
  /** Id of the payment that is followed up. */
  readonly on?: string
  readonly minor: number | undefined
  readonly fields: Readonly<Record<string, string>>
  readonly tries: Try[]
}

/** One sending of a wish. */
export type Try = {
  readonly host: string
  readonly startedMs: number
  endedMs: number
  /** Absent while it runs and after a broken connection. */
  answer?: Answer
}

export type Answer = {
  readonly status: number
  readonly id: string
  readonly code: string
  /** The payment type, in an answer about a payment. */
  readonly type?: string
  readonly amount?: string
  readonly replayed: boolean
}

export const isApproved = (code: string) => /^(000\.000\.|000\.100\.1|000\.[36])/.test(code)
export const isPending = (code: string) => code.startsWith('000.200.')

/** An answer with an outcome of the wish; others ask the client to send it again. */
export const isWord = (answer: Answer | undefined): answer is Answer =>
  answer !== undefined && answer.status < 500 && answer.status !== 429

const tryWithinMs = 30_000
const mostTries = 200
const betweenTriesMs = 25

export class Client {
  /** Every wish of this client with all its attempts. */
  readonly history: Wish[] = []

  /** A first payment of that many cents by an approved card by default. */
  first(type: string, minor: number, more: Readonly<Record<string, string>> = {}): Wish {
    return this.#wish(type, undefined, minor, {
      entityId: channelId,
      testMode: 'EXTERNAL',
      paymentBrand: 'VISA',
      ...card('4200000000000000'),
      ...more,
    })
  }

  /** A follow-up; without an amount it covers the whole rest. */
  followUp(type: string, on: string, minor?: number, more: Readonly<Record<string, string>> = {}) {
    return this.#wish(type, on, minor, more)
  }

  #wish(
    type: string,
    on: string | undefined,
    minor: number | undefined,
    more: Readonly<Record<string, string>>,
  ): Wish {
    const reference = `${type}-${randomUUID()}`
    const wish: Wish = {
      reference,
      type,
      ...(on === undefined ? {} : { on }),
      minor,
      fields: {
        paymentType: type,
        merchantTransactionId: reference,
        ...(minor === undefined ? {} : { amount: (minor / 100).toFixed(2), currency: 'EUR' }),
        ...more,
      },
      tries: [],
    }
    this.history.push(wish)
    return wish
  }

  /** Sends a wish once. Undefined when no answer arrived. */
  async send(wish: Wish, host: Address): Promise<Answer | undefined> {
    const made: Try = { host: host.name, startedMs: performance.now(), endedMs: Infinity }
    wish.tries.push(made)
    try {
      const response = await fetch(
        `${host.url}/v1/payments${wish.on === undefined ? '' : `/${wish.on}`}`,
        {
          method: 'POST',
          headers: {
            authorization: `Bearer ${host.token}`,
            'idempotency-key': wish.reference,
            'content-type': 'application/x-www-form-urlencoded',
          },
          body: new URLSearchParams(wish.fields).toString(),
          signal: AbortSignal.timeout(tryWithinMs),
        },
      )
      made.answer = read(response, (await response.json()) as Body)
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') {
        throw new Error(`${host.name} did not answer ${wish.reference}`)
      }
    } finally {
      made.endedMs = performance.now()
    }
    return made.answer
  }

  /** Sends a wish to one host after the other until an answer states its outcome. */
  async insist(wish: Wish, hosts: readonly Address[]): Promise<Answer> {
    for (let no = 0; no < mostTries; no += 1) {
      const answer = await this.send(wish, hosts[no % hosts.length]!)
      if (isWord(answer)) return answer
      await pause(betweenTriesMs)
    }
    throw new Error(`no host states an outcome of ${wish.reference}`)
  }

  /** An approved first payment, for follow-ups. */
  async approved(
    type: string,
    minor: number,
    hosts: readonly Address[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const answer = await this.insist(this.first(type, minor, more), hosts)
    if (isApproved(answer.code)) return answer.id
    throw new Error(`a ${type} for follow-ups was answered ${answer.code}`)
  }
}

/** Fields of a card. */
export function card(number: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(cardOf(number)).map(([name, value]) => [`card.${name}`, value]),
  )
}

type Body = {
  id: string
  result: { code: string }
  paymentType?: string
  amount?: string
}

function read(response: Response, body: Body): Answer {
  return {
    status: response.status,
    id: body.id,
    code: body.result.code,
    ...(body.paymentType === undefined ? {} : { type: body.paymentType }),
    ...(body.amount === undefined ? {} : { amount: body.amount }),
    replayed: response.headers.get('idempotent-replayed') === 'true',
  }
}
