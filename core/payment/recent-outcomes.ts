/**
 * Outcomes that this process wrote and answered lately. A failover to a standby that lagged behind loses
 * commits that clients saw; this process then writes them again from memory.
 */
import { deserialize, serialize } from 'node:v8'
import type { Outcome } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import type { Settling } from './settle-row.ts'
import type { Source, StoredRequest } from './types.ts'
import type { Begun } from './write-again.ts'

export type RecentOutcome = {
  readonly work: Settling
  readonly outcome: Outcome
  readonly source: Source
  /** Of the commit that told it: written again, it is the same event for readers. */
  readonly eventId: string
}

type Kept = {
  readonly merchant: string
  /** Everything but the request. */
  readonly rest: Buffer
  /** JSON. Kept once, although the payment and its row both have it, and with one byte per ASCII character. */
  readonly request: Buffer
}

/**
 * The last outcomes, up to a number and a size, as bytes. Commits hold no clear account data, but a string can
 * be a part of the request's body for V8, and would keep the whole body in memory.
 */
export class RecentOutcomes {
  /** Oldest first. */
  readonly #kept = new Set<Kept>()
  readonly #ofMerchants = new Map<string, { readonly kept: Set<Kept>; bytes: number }>()
  #bytes = 0

  /** The memory of all that is kept. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Keeps an outcome instead of older ones. Where the size is the limit, those go of the merchant that has most:
   * nobody pushes out the outcomes of a merchant with less.
   */
  keep(
    { payment, lease, begun, returns }: Settling,
    outcome: Outcome,
    source: Source,
    merchant: string,
    eventId: string,
  ): void {
    const work = {
      payment: { ...payment, request: {} },
      lease,
      begun: begun && withRequest(begun, '', {}),
      returns,
    }
    let rest: Buffer
    try {
      rest = exact(serialize({ work, outcome, source, eventId } satisfies RecentOutcome))
    } catch {
      // A connector put something into its outcome that has no bytes, a function say.
      return
    }
    this.#add({ merchant, rest, request: exact(Buffer.from(JSON.stringify(payment.request))) })
    this.#makeRoom(merchant)
  }

  #add(one: Kept): void {
    const mine = this.#ofMerchants.get(one.merchant) ?? { kept: new Set(), bytes: 0 }
    this.#ofMerchants.set(one.merchant, mine)
    this.#kept.add(one)
    mine.kept.add(one)
    mine.bytes += sizeOf(one)
    this.#bytes += sizeOf(one)
  }

  #makeRoom(merchant: string): void {
    const { recentOutcomes, recentOutcomeBytes, recentOutcomeBytesPerMerchant } = limits
    if (this.#kept.size > recentOutcomes) this.#forget(first(this.#kept))
    const mine = this.#ofMerchants.get(merchant)
    while (mine !== undefined && mine.bytes > recentOutcomeBytesPerMerchant) {
      this.#forget(first(mine.kept))
    }
    while (this.#bytes > recentOutcomeBytes) {
      const all = [...this.#ofMerchants.values()]
      this.#forget(first(all.reduce((most, one) => (one.bytes > most.bytes ? one : most)).kept))
    }
  }

  #forget(one: Kept): void {
    const mine = this.#ofMerchants.get(one.merchant)!
    this.#kept.delete(one)
    mine.kept.delete(one)
    mine.bytes -= sizeOf(one)
    this.#bytes -= sizeOf(one)
    if (mine.kept.size === 0) this.#ofMerchants.delete(one.merchant)
  }

  /** Oldest first. */
  all(): readonly RecentOutcome[] {
    return [...this.#kept].map(({ rest, request }) => {
      const { work, ...said } = deserialize(rest) as RecentOutcome
      const text = request.toString()
      const asked = JSON.parse(text) as StoredRequest
      const begun = work.begun && withRequest(work.begun, text, asked)
      return { ...said, work: { ...work, payment: { ...work.payment, request: asked }, begun } }
    })
  }
}

/** The rows of a first commit with this request. */
const withRequest = (begun: Begun, text: string, request: StoredRequest): Begun =>
  begun.is === 'first'
    ? { is: 'first', row: { ...begun.row, request: text } }
    : { ...begun, row: { ...begun.row, payment: { ...begun.row.payment, request } } }

/** A copy without the room that its maker left for more. */
function exact(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

const sizeOf = ({ rest, request }: Kept): number =>
  rest.buffer.byteLength + request.buffer.byteLength

/** The oldest one. */
const first = (kept: ReadonlySet<Kept>): Kept => kept.values().next().value!

const ofEngines = new WeakMap<Engine, RecentOutcomes>()

/** The recent outcomes of this engine. */
export function recentOutcomesOf(engine: Engine): RecentOutcomes {
  const known = ofEngines.get(engine)
  if (known !== undefined) return known
  const made = new RecentOutcomes()
  ofEngines.set(engine, made)
  return made
}

/** Keeps what a process writes or answers now. */
export function keepRecent(
  engine: Engine,
  work: Settling,
  given: Outcome,
  source: Source,
  eventId: string,
): void {
  const { channelId } = work.payment
  // The entity above a channel is its merchant.
  const merchant = engine.directory.knownPath(channelId)?.[1] ?? channelId
  recentOutcomesOf(engine).keep(work, given, source, merchant, eventId)
}
