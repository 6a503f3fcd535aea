/**
 * The acquirer's own books: the real operation under each key, whatever was reported. All rules
 * compare with them.
 */
import type { Kind, Money, Operation } from '@tollgate/plugin-kit'
import { type Amount, approving, type Fate } from './fate.ts'

export type State =
  | 'nothing'
  | 'coming'
  | 'pending'
  | 'declined'
  | 'accepted'
  | 'done'
  | 'failed'
  | 'returned'
  | 'taken back'

/** The acquirer's record of one key. */
export type Entry = {
  readonly key: string
  readonly sequence: string
  /** The merchantTransactionId of the operation. */
  readonly reference: string
  readonly kind: Kind
  readonly paymentId: string
  /** The way back of a shopper, who pays at the acquirer's page where the operation is pending. */
  readonly returnUrl: string | undefined
  /** Key of the original operation. */
  readonly original: string | undefined
  readonly asked: Money
  readonly fate: Fate
  state: State
  moved: Money
  /** The number of executions: two when a forgotten key is sent twice. */
  times: number
  sends: number
  hidden: number
  /** Reversed by its key: later arrivals do nothing. */
  isHarmless: boolean
  /** Of a reversal by key that is not carried out at once. */
  reversal: 'none' | 'requested' | 'done' | 'failed'
  /** Whether an accepted operation ever failed. */
  hasFailed: boolean
  /** Releases its late answer. */
  release: (() => void) | undefined
}

/** A chargeback in the acquirer's books. */
export type Dispute = {
  readonly reference: string
  readonly sequence: string
  readonly key: string
  readonly amount: Money
  readonly eventId: string
  reversal: { readonly eventId: string } | undefined
}

/** A shopper who was sent to a page, with the way back. */
export type Away = { readonly sequence: string; readonly returnUrl: string }

/** The issuer's view of a shopper. */
export type Issuer = 'confirms' | 'asks' | 'refuses' | 'is unavailable' | 'cancelled'

/** The reference of an operation: that of the press in a checkout, else the merchant's own. */
export function referenceOf({
  request,
  merchantTransactionId,
}: Pick<Operation, 'request' | 'merchantTransactionId'>): string {
  const own = (request.customParameters as Readonly<Record<string, unknown>> | undefined)?.[
    pressParameter
  ]
  return typeof own === 'string' ? own : (merchantTransactionId ?? '')
}

/** Names the press of the pay button that made a payment. */
export const pressParameter = 'SHOPPER_press'

export class Books {
  readonly #entries = new Map<string, Entry>()
  readonly #bySequence = new Map<string, Entry[]>()
  readonly #fates = new Map<string, Partial<Record<Kind, Fate>>>()
  readonly disputes: Dispute[] = []
  /** Every way back that was given out. */
  readonly away: Away[] = []
  readonly #issuers = new Map<string, Issuer>()

  /** Sets the issuer's view of the shopper who made this press. */
  authenticate(reference: string, issuer: Issuer): void {
    this.#issuers.set(reference, issuer)
  }

  issuerOf(reference: string): Issuer {
    return this.#issuers.get(reference) ?? 'confirms'
  }

  /** Sets the fates of the operations with this merchantTransactionId. */
  tell(reference: string, fates: Partial<Record<Kind, Fate>>): void {
    this.#fates.set(reference, fates)
  }

  find(key: string): Entry | undefined {
    return this.#entries.get(key)
  }

  /** Operations of a sequence of requests, in the order of their first arrival. */
  of(sequence: string): readonly Entry[] {
    return this.#bySequence.get(sequence) ?? []
  }

  get all(): Iterable<Entry> {
    return this.#entries.values()
  }

  /** The entry of an operation, created at its first arrival. */
  entry(operation: Operation): Entry {
    const known = this.#entries.get(operation.key)
    if (known !== undefined) return known
    const reference = referenceOf(operation)
    const isPress = reference !== (operation.merchantTransactionId ?? '')
    const original = operation.original?.key
    const entry: Entry = {
      key: operation.key,
      sequence: reference.split('.')[0] || (this.#entries.get(original ?? '')?.sequence ?? ''),
      reference,
      kind: operation.kind,
      paymentId: operation.paymentId,
      returnUrl: isPress ? operation.returnUrl : undefined,
      original,
      asked: operation.amount,
      fate: this.#fates.get(reference)?.[operation.kind] ?? approving,
      state: 'nothing',
      moved: operation.amount,
      times: 0,
      sends: 0,
      hidden: 0,
      isHarmless: false,
      reversal: 'none',
      hasFailed: false,
      release: undefined,
    }
    this.#entries.set(entry.key, entry)
    if (entry.returnUrl !== undefined) {
      this.away.push({ sequence: entry.sequence, returnUrl: entry.returnUrl })
    }
    const list = this.#bySequence.get(entry.sequence)
    if (list === undefined) this.#bySequence.set(entry.sequence, [entry])
    else list.push(entry)
    return entry
  }

  /** The valid operations that refer to a key. */
  upon(key: string): Entry[] {
    const { sequence } = this.#entries.get(key)!
    return this.of(sequence).filter((entry) => entry.original === key && stands(entry))
  }
}

/** Whether the operation counts at the acquirer now. */
export const stands = (entry: Entry): boolean =>
  entry.state === 'done' || entry.state === 'accepted'

/** Whether the operation has the requested amount and currency. */
export const isAsAsked = ({ moved, asked }: Entry): boolean =>
  moved.minor === asked.minor && moved.currency === asked.currency

/** The amount that still counts, in the operation's own currency. */
export const counted = (entry: Entry): bigint =>
  stands(entry) ? entry.moved.minor * BigInt(entry.times) : 0n

/** A delayed request arrives, unless its key was closed meanwhile. */
export function arrive(entry: Entry): void {
  if (entry.state !== 'coming') return
  if (entry.isHarmless) entry.state = 'declined'
  else carryOut(entry, entry.fate.amount, 'done')
  entry.release?.()
}

/** Executes the operation, again if it was executed before. */
export function carryOut(entry: Entry, amount: Amount, as: 'done' | 'accepted'): void {
  // A failed or returned operation counts for nothing, and a late success counts once.
  if (!stands(entry)) entry.times = 0
  entry.state = as
  entry.times += 1
  entry.moved = amountAs(entry.asked, amount)
}

export function amountAs(asked: Money, amount: Amount): Money {
  switch (amount) {
    case 'same':
      return asked
    case 'less':
      return { ...asked, minor: asked.minor / 2n + 1n }
    case 'more':
      return { ...asked, minor: asked.minor * 2n }
    case 'other currency':
      return { ...asked, currency: asked.currency === 'USD' ? 'EUR' : 'USD' }
  }
}

const sales = new Set<Kind>(['debit', 'capture'])
export const isSale = (entry: Entry): boolean => sales.has(entry.kind)

/** The amounts charged by a sale and returned from it, in the sale's currency. */
export function ofSale(books: Books, sale: Entry): { came: bigint; went: bigint } {
  const came = sale.moved.currency === sale.asked.currency ? counted(sale) : 0n
  let refunded = 0n
  let reversed = 0n
  for (const entry of books.upon(sale.key)) {
    if (entry.moved.currency !== sale.asked.currency) continue
    if (entry.kind === 'refund') refunded += counted(entry)
    if (entry.kind === 'reverse') reversed += counted(entry)
  }
  // Reversing a failed or returned sale moves nothing.
  return { came, went: refunded + (came === 0n ? 0n : reversed) }
}

/** The amount allowed by an authorisation, and the amount captured or released, in its currency. */
export function ofAuthorisation(books: Books, root: Entry): { allowed: bigint; used: bigint } {
  let allowed = counted(root)
  let used = 0n
  for (const entry of books.upon(root.key)) {
    if (entry.moved.currency !== root.asked.currency) continue
    if (entry.kind === 'increment') allowed += counted(entry)
    // A failed or reversed authorisation has nothing left to release.
    if (entry.kind === 'reverse' && stands(root)) used += counted(entry)
    if (entry.kind !== 'capture') continue
    const reversals = books.upon(entry.key).filter(({ kind }) => kind === 'reverse')
    const reversed = reversals.reduce((sum, reversal) => sum + counted(reversal), 0n)
    const rest = counted(entry) - reversed
    used += rest > 0n ? rest : 0n
  }
  return { allowed, used }
}
