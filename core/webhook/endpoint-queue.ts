/** What one process holds of one endpoint that it sends to: in memory only, the rows stay in the database. */
import { limits } from '@tollgate/schemas'
import { triesInOrder } from './backoff.ts'
import type { Delivery, Endpoint, EndpointKeys } from './types.ts'

export type Ready = { readonly endpoint: Endpoint; readonly keys: EndpointKeys | null }

export class Lane {
  readonly endpointId: string
  /** How it is sent to; read again when a delivery knows of a newer version. */
  ready: Ready | undefined
  /** Failures in a row, and since when. */
  failures = 0
  failingSince: Date | null = null
  /** Nothing is tried before. */
  probeAt: Date | null = null
  /** Monotonic end of the lease. */
  leaseUntilMs = 0
  /** Whether the database may hold more than memory does. */
  more = true
  /** When something that failed is due again. */
  nextDue: Date | null = null
  reading = false
  /** Somebody asked to try again while this process was giving it back. */
  woken = false
  /** Nothing more is sent; what runs is waited for. */
  ending = false
  idleSinceMs = 0
  readonly #chains = new Map<string, Delivery[]>()
  readonly #running = new Map<string, Delivery>()
  readonly #known = new Set<string>()
  /** While an encryption key is rotated: which of the two the receiver took last, as far as is known. */
  withOldKey = true
  #window = 2

  constructor(endpointId: string) {
    this.endpointId = endpointId
  }

  get running(): number {
    return this.#running.size
  }

  get isDown(): boolean {
    return this.failures >= limits.webhookFailures
  }

  /** Nothing runs, waits or is about to be written. */
  get isIdle(): boolean {
    return this.#known.size === 0 && !this.reading
  }

  get hasWork(): boolean {
    return this.#chains.size > this.#running.size
  }

  /** Ids in memory. */
  get known(): readonly string[] {
    return [...this.#known]
  }

  get size(): number {
    return this.#known.size
  }

  /** Something is due at this moment; what was known to be due earlier stays. */
  dueAgain(at: Date | null): void {
    if (at !== null && (this.nextDue === null || at < this.nextDue)) this.nextDue = at
  }

  has(id: string): boolean {
    return this.#known.has(id)
  }

  /** How many may run now: an endpoint that just failed gets one, one that works gets more each time. */
  get room(): number {
    return (this.failures > 0 ? 1 : this.#window) - this.#running.size
  }

  /**
   * Takes a delivery into memory.
   *
   * @param blockers how many earlier ones of its resource have to be through before. It waits behind
   * them here when all of them are here, else in the database.
   */
  add(delivery: Delivery, blockers: number): void {
    if (this.#known.has(delivery.id)) return
    const chain = this.#chains.get(delivery.resource)
    const before = (chain ?? []).filter(
      (other) => other.seq < delivery.seq && other.attempts <= triesInOrder,
    )
    const isFull =
      this.#known.size >= limits.webhooksWaiting || (this.isDown && this.#known.size > 0)
    if (isFull || before.length < blockers) {
      this.more = true
      return
    }
    if (this.ready !== undefined && delivery.version > this.ready.endpoint.version) {
      this.ready = undefined
    }
    this.#known.add(delivery.id)
    if (chain === undefined) {
      this.#chains.set(delivery.resource, [delivery])
      return
    }
    const after = chain.findIndex((other) => other.seq > delivery.seq)
    // What runs stays first, whatever came late.
    const at = after === 0 && this.#running.has(delivery.resource) ? 1 : after
    if (at === -1) chain.push(delivery)
    else chain.splice(at, 0, delivery)
  }

  /** The next one to send, whose resource is then taken. */
  next(): Delivery | undefined {
    for (const [resource, chain] of this.#chains) {
      if (this.#running.has(resource)) continue
      const delivery = chain[0]!
      this.#running.set(resource, delivery)
      return delivery
    }
    return undefined
  }

  /** One is through: the next of its resource may go, and turns come around. */
  delivered(delivery: Delivery): void {
    this.#running.delete(delivery.resource)
    const chain = this.#chains.get(delivery.resource)
    this.#chains.delete(delivery.resource)
    const rest = chain?.filter(({ id }) => id !== delivery.id) ?? []
    if (rest.length > 0) this.#chains.set(delivery.resource, rest)
    this.#window = Math.min(this.#window + 1, limits.webhooksPerEndpoint)
  }

  /** One is not through: later ones of its resource wait in the database. */
  failed(delivery: Delivery): void {
    this.#running.delete(delivery.resource)
    const chain = this.#chains.get(delivery.resource) ?? []
    this.#chains.delete(delivery.resource)
    for (const { id } of chain) if (id !== delivery.id) this.#known.delete(id)
    this.#window = 2
    this.more = true
  }

  /** Its outcome is in the database: from here on the database tells about it. */
  written(delivery: Delivery): void {
    this.#known.delete(delivery.id)
  }

  /** Leaves what waits to the database. */
  forgetWaiting(): void {
    for (const [resource, chain] of this.#chains) {
      const running = this.#running.get(resource)
      for (const { id } of chain) if (id !== running?.id) this.#known.delete(id)
      if (running === undefined) this.#chains.delete(resource)
      else this.#chains.set(resource, [running])
    }
    this.more = true
  }
}
