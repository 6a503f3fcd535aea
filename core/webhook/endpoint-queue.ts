/**
 * The state of one endpoint in the process that serves it: in memory only, the rows stay in the
 * database.
 */
import { limits } from '@tollgate/schemas'
import { triesInOrder } from './backoff.ts'
import type { Delivery, Endpoint, EndpointKeys, Verdict } from './types.ts'

export type Ready = { readonly endpoint: Endpoint; readonly keys: EndpointKeys | null }

export class EndpointQueue {
  readonly endpointId: string
  /** The merchant of the endpoint, or its entity above merchants. */
  readonly merchant: string
  /** Keys and settings; read again when a delivery carries a newer version. */
  ready: Ready | undefined
  /** Failures in a row, and the time of the first. */
  failures = 0
  failingSince: Date | null = null
  /** No attempt starts before this time. */
  probeAt: Date | null = null
  /** Why the endpoint is to be disabled; a success takes the reason away. */
  verdict: Verdict | undefined
  /** A success ended a time of failures: what waits is due once this is stored. */
  frees = false
  /** Whether the state above differs from what is stored, and its storing. */
  unsaved = false
  saving: Promise<boolean> | undefined
  /** The process has given the endpoint away; another object may serve it. */
  left = false
  /** Monotonic end of the lease. */
  leaseUntilMs = 0
  /** Whether the database may hold deliveries beyond those in memory. */
  more = true
  /** The next time that a failed delivery is due. */
  nextDue: Date | null = null
  reading = false
  /** A request woke the endpoint while this process released its lease. */
  woken = false
  /** No further attempt starts; the running ones finish. */
  ending = false
  idleSinceMs = 0
  readonly #chains = new Map<string, Delivery[]>()
  readonly #running = new Map<string, Delivery>()
  readonly #known = new Set<string>()
  /** During a rotation of the encryption key: whether the receiver last accepted the old key. */
  withOldKey = true
  #window = 2

  constructor(endpointId: string, merchant: string) {
    this.endpointId = endpointId
    this.merchant = merchant
  }

  get running(): number {
    return this.#running.size
  }

  get isDown(): boolean {
    return this.failures >= limits.webhookFailures
  }

  /** No delivery runs, waits or is about to be written, and the state of the endpoint is stored. */
  get isIdle(): boolean {
    const isSaved = !this.unsaved && this.saving === undefined
    return this.#known.size === 0 && !this.reading && isSaved
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

  /** Records when a delivery is due; keeps an earlier time. */
  dueAgain(at: Date | null): void {
    if (at !== null && (this.nextDue === null || at < this.nextDue)) this.nextDue = at
  }

  has(id: string): boolean {
    return this.#known.has(id)
  }

  /** How many attempts may run now: one after a failure, more after each success. */
  get room(): number {
    return (this.failures > 0 ? 1 : this.#window) - this.#running.size
  }

  /**
   * Takes a delivery into memory.
   *
   * @param blockers the number of earlier unfinished deliveries of its resource. When all of them
   * are in memory, the delivery waits behind them here, otherwise in the database.
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
    // A running delivery stays first.
    const at = after === 0 && this.#running.has(delivery.resource) ? 1 : after
    if (at === -1) chain.push(delivery)
    else chain.splice(at, 0, delivery)
  }

  /** The next delivery to send; reserves its resource. */
  next(): Delivery | undefined {
    for (const [resource, chain] of this.#chains) {
      if (this.#running.has(resource)) continue
      const delivery = chain[0]!
      this.#running.set(resource, delivery)
      return delivery
    }
    return undefined
  }

  /**
   * Ends a delivery: the next one of its resource may start, and other resources get their turn.
   */
  delivered(delivery: Delivery): void {
    this.#running.delete(delivery.resource)
    const chain = this.#chains.get(delivery.resource)
    this.#chains.delete(delivery.resource)
    const rest = chain?.filter(({ id }) => id !== delivery.id) ?? []
    if (rest.length > 0) this.#chains.set(delivery.resource, rest)
    this.#window = Math.min(this.#window + 1, limits.webhooksPerEndpoint)
  }

  /** A success: the endpoint is well, whatever was decided about it before, and has no pause. */
  recovers(): void {
    this.frees ||= this.isDown
    this.ending = false
    this.failures = 0
    this.failingSince = null
    this.probeAt = null
    this.verdict = undefined
  }

  /** Ends a failed delivery: later ones of its resource wait in the database. */
  failed(delivery: Delivery): void {
    this.#running.delete(delivery.resource)
    const chain = this.#chains.get(delivery.resource) ?? []
    this.#chains.delete(delivery.resource)
    for (const { id } of chain) if (id !== delivery.id) this.#known.delete(id)
    this.#window = 2
    this.more = true
  }

  /** The result is in the database, which is authoritative from here on. */
  written(delivery: Delivery): void {
    this.#known.delete(delivery.id)
  }

  /** Leaves waiting deliveries to the database. */
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
