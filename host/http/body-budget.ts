import { GatewayError } from '@tollgate/core'
import { limits } from '@tollgate/schemas'

/** Overhead of a piece of a body: a client may send each byte as a piece of its own. */
const pieceBytes = 256
/** Bodies up to here are those of ordinary payments. Larger ones leave a quarter of all to them. */
const ordinaryBytes = 64 * 1024
const largeShare = 0.75
/** Once more than this share is held, a body that does not move is not waited for. */
const crowdedShare = 0.5

const full = new GatewayError('800.800.801', {
  status: 503,
  retryAfterSeconds: 1,
  description:
    'payment system is under maintenance: too much is being sent to this process at once, send the request again later',
})
const yoursFull = (bytes: number) =>
  new GatewayError('800.120.100', {
    status: 429,
    retryAfterSeconds: 1,
    description: `too many requests, try again later: one client may have at most ${bytes} bytes of requests under way`,
  })

/** A body that stalled while others had no room. Its sender must not make others wait. */
export class StalledBody extends GatewayError {
  constructor() {
    super('200.100.103', {
      status: 408,
      description:
        'invalid request message: the body stopped coming while the process had little room for others, send the request again in one go',
    })
  }
}

/** The sender of a body; each sender has a count of its own. */
export type Sender = {
  /** Id of the token; undefined without a login. */
  readonly token?: string | undefined
  readonly merchant?: string | undefined
  /** Id of an operator with a session. */
  readonly person?: string | undefined
  /** The address, or the network of it. */
  readonly address: string
}

export type BodyRoom = {
  readonly bytes: number
  /** Per token, per merchant, and without a login per address. */
  readonly clientBytes: number
  /** The share of one merchant and one address in the last quarter. */
  readonly lateBytes: number
}

export type BodyBudgetOptions = {
  readonly payments?: BodyRoom
  /** For requests without a login: nothing of theirs is ever taken from the room for payments. */
  readonly strangers?: BodyRoom
  /** For operators with a session: strangers without one do not keep them out. */
  readonly operators?: BodyRoom
  readonly stalledMs?: number
  readonly nowMs?: () => number
}

/**
 * Memory for the bodies of all requests under way. A client that stalls on many connections reaches
 * its own limit long before others are affected. A client with many tokens and merchants reaches
 * the last quarter, with a small share each. Unknown clients and operators have separate memory.
 */
export class BodyBudget {
  readonly #payments: Room
  readonly #strangers: Room
  readonly #operators: Room

  constructor(options: BodyBudgetOptions = {}) {
    const { stalledMs = limits.stalledBodyMs, nowMs = () => performance.now() } = options
    const ofPayments = options.payments ?? {
      bytes: limits.bodiesBytes,
      clientBytes: limits.clientBodiesBytes,
      lateBytes: limits.lateBodiesBytes,
    }
    const ofStrangers = options.strangers ?? {
      bytes: limits.strangersBodiesBytes,
      clientBytes: limits.strangersBodiesBytes / 4,
      lateBytes: limits.strangersBodiesBytes / 16,
    }
    const ofOperators = options.operators ?? {
      bytes: limits.operatorsBodiesBytes,
      clientBytes: limits.operatorsBodiesBytes / 4,
      lateBytes: limits.operatorsBodiesBytes / 16,
    }
    this.#payments = new Room(ofPayments, stalledMs, nowMs)
    this.#strangers = new Room(ofStrangers, stalledMs, nowMs)
    this.#operators = new Room(ofOperators, stalledMs, nowMs)
  }

  /** Bytes that are held now. */
  get held(): number {
    return this.#payments.held + this.#strangers.held + this.#operators.held
  }

  /** The share of one request, released after its response. */
  share(sender: Sender): BodyShare {
    const { token, person } = sender
    if (token !== undefined) return this.#payments.share(sender)
    return (person === undefined ? this.#strangers : this.#operators).share(sender)
  }

  /** Ends bodies that do not move where little room is left. Happens by itself once a second. */
  endStalled(): void {
    this.#payments.endStalled()
    this.#strangers.endStalled()
    this.#operators.endStalled()
  }
}

export type BodyShare = {
  /** @throws GatewayError 429 when the client holds too much, 503 when all do. */
  take(bytes: number): void
  letGo(): void
  /** The body is being read: `end` is called when it is not to be waited for any more. */
  reading(end: (stalled: StalledBody) => void): void
  /** The body is complete. */
  read(): void
}

type Reading = { movedMs: number; readonly end: (stalled: StalledBody) => void }

class Room {
  held = 0
  readonly #room: BodyRoom
  readonly #stalledMs: number
  readonly #nowMs: () => number
  readonly #ofClient = new Map<string, number>()
  readonly #late = new Map<string, number>()
  readonly #reading = new Set<Reading>()
  #timer: NodeJS.Timeout | undefined

  constructor(room: BodyRoom, stalledMs: number, nowMs: () => number) {
    this.#room = room
    this.#stalledMs = stalledMs
    this.#nowMs = nowMs
  }

  share({ token, merchant, person, address }: Sender): BodyShare {
    const by = (kind: string, id: string | undefined) => (id === undefined ? [] : [`${kind} ${id}`])
    const ofMerchant = by('merchant', merchant)
    const ofPerson = by('person', person)
    const ofAddress = by('address', address)
    const named = [...by('token', token), ...ofMerchant, ...ofPerson]
    const clients = named.length === 0 ? ofAddress : named
    const few = [...ofMerchant, ...(person === undefined ? ofAddress : ofPerson)]
    let own = 0
    let late = 0
    let reading: Reading | undefined
    const read = () => {
      if (reading !== undefined) this.#reading.delete(reading)
      reading = undefined
    }
    return {
      take: (bytes) => {
        const cost = bytes + pieceBytes
        const isLate = this.#refuseBeyond(clients, few, own, cost)
        own += cost
        this.held += cost
        add(this.#ofClient, clients, cost)
        if (isLate) {
          late += cost
          add(this.#late, few, cost)
        }
        if (reading !== undefined) reading.movedMs = this.#nowMs()
        if (this.#isCrowded) this.#watch()
      },
      letGo: () => {
        read()
        if (own === 0) return
        this.held -= own
        add(this.#ofClient, clients, -own)
        if (late > 0) add(this.#late, few, -late)
        own = 0
        late = 0
      },
      reading: (end) => {
        reading = { movedMs: this.#nowMs(), end }
        this.#reading.add(reading)
      },
      read,
    }
  }

  /** @returns whether it is of the last quarter. */
  #refuseBeyond(
    clients: readonly string[],
    few: readonly string[],
    own: number,
    cost: number,
  ): boolean {
    const { bytes, clientBytes, lateBytes } = this.#room
    const isMore = (held: ReadonlyMap<string, number>, most: number) => (name: string) =>
      (held.get(name) ?? 0) + cost > most
    if (clients.some(isMore(this.#ofClient, clientBytes))) throw yoursFull(clientBytes)
    const isLate = this.held + cost > bytes * largeShare
    if (!isLate) return false
    if (own + cost > Math.min(ordinaryBytes, lateBytes) || this.held + cost > bytes) throw full
    if (few.some(isMore(this.#late, lateBytes))) throw full
    return true
  }

  get #isCrowded(): boolean {
    return this.held > this.#room.bytes * crowdedShare
  }

  endStalled(): void {
    if (!this.#isCrowded) return
    const beforeMs = this.#nowMs() - this.#stalledMs
    for (const reading of this.#reading) {
      if (reading.movedMs > beforeMs) continue
      this.#reading.delete(reading)
      reading.end(new StalledBody())
    }
  }

  #watch(): void {
    this.#timer ??= setInterval(() => {
      this.endStalled()
      if (this.#isCrowded) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }, this.#stalledMs / 5).unref()
  }
}

function add(counts: Map<string, number>, names: readonly string[], bytes: number): void {
  for (const name of names) {
    const left = (counts.get(name) ?? 0) + bytes
    if (left > 0) counts.set(name, left)
    else counts.delete(name)
  }
}
