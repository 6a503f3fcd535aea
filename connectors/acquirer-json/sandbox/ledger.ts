/** The books of Example Bank: a payment moves money here or nowhere. No network, no clock. */
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { Money } from '@tollgate/plugin-kit'

export const collections = {
  captures: 'capture',
  refunds: 'refund',
  reversals: 'reversal',
  increments: 'increment',
} as const
export const types = ['authorisation', 'sale', 'payout', 'check'] as const

export type PaymentType = (typeof types)[number]
export type FollowUpType = (typeof collections)[keyof typeof collections]

/** What somebody wants to be done. `decision` comes from the instrument. */
export type Order = {
  readonly key: string
  readonly type: PaymentType | FollowUpType
  readonly amount: Money
  /** On follow-ups: the bank's id of the payment they are about. */
  readonly on?: string
  readonly decision?: Decision
  /** Everything that makes it another order, without the security code. */
  readonly content: string
}
export type Decision = { readonly status: Entry['status']; readonly code: string }

export type Entry = {
  readonly id: string
  readonly key: string
  readonly type: Order['type']
  readonly amount: Money
  readonly on?: Entry
  /** So that a key means one order. Keyed: the content has a card number in it. */
  readonly fingerprint: string
  status: 'approved' | 'submitted' | 'declined' | 'review' | 'confirm'
  code: string
  /** Minor units: what it allows, and what was taken from that. */
  limit: bigint
  taken: bigint
}

/** Said before anything is done. */
export type Refusal = { readonly refused: string }

export type Undone =
  | { readonly result: 'reversed' | 'blocked' }
  | { readonly result: 'refused'; readonly code: string }

export type Ledger = {
  carryOut(order: Order): Entry | Refusal
  /** Ends a payment that is in review or waits for the shopper. */
  end(id: string, decision: Decision): Entry | undefined
  /** Undoes what a key did; the key does nothing any more, whether it came already or comes later. */
  undo(key: string): Undone
  byKey(key: string): Entry | undefined
  entries(): readonly Entry[]
}

export const isDone = ({ status }: Entry): boolean =>
  status === 'approved' || status === 'submitted'

export function openLedger(): Ledger {
  const salt = randomBytes(32)
  const entries = new Map<string, Entry>()
  const blocked = new Set<string>()
  const byId = (id: string | undefined) => [...entries.values()].find((entry) => entry.id === id)

  return {
    carryOut(order) {
      const fingerprint = createHmac('sha256', salt).update(order.content).digest('hex')
      const known = entries.get(order.key)
      if (known !== undefined) {
        return known.fingerprint === fingerprint ? known : { refused: 'key-reused' }
      }
      if (blocked.has(order.key)) return { refused: 'key-blocked' }
      const on = byId(order.on)
      if (order.on !== undefined && on === undefined) return { refused: 'unknown-payment' }
      const { key, type, amount } = order
      const none = { limit: 0n, taken: 0n }
      const entry: Entry = {
        id: randomUUID(),
        key,
        type,
        amount,
        ...(on === undefined ? {} : { on }),
        fingerprint,
        status: 'declined',
        code: 'not-possible',
        ...none,
      }
      Object.assign(entry, order.decision ?? decide(entry))
      entries.set(key, entry)
      if (isDone(entry)) book(entry, 1n)
      return entry
    },
    end(id, decision) {
      const entry = byId(id)
      if (entry === undefined || !['review', 'confirm'].includes(entry.status)) return entry
      Object.assign(entry, decision)
      if (isDone(entry)) book(entry, 1n)
      return entry
    },
    undo(key) {
      const entry = entries.get(key)
      blocked.add(key)
      if (entry === undefined) return { result: 'blocked' }
      if (entry.code === 'key-reversed') return { result: 'reversed' }
      if (entry.status === 'declined') return { result: 'blocked' }
      // Somebody built on it: that has to be undone first.
      if (entry.taken > 0n) return { result: 'refused', code: 'not-possible' }
      if (isDone(entry)) book(entry, -1n)
      Object.assign(entry, declined('key-reversed'))
      return { result: 'reversed' }
    },
    byKey: (key) => entries.get(key),
    entries: () => [...entries.values()],
  }
}

const approved: Decision = { status: 'approved', code: '00' }
const declined = (code: string): Decision => ({ status: 'declined', code })

/** What becomes of a follow-up: the sums decide. */
function decide({ type, amount, on }: Entry): Decision {
  if (on === undefined || !isDone(on) || on.amount.currency !== amount.currency) {
    return declined('not-possible')
  }
  const rest = on.limit - on.taken
  const isAuthorisation = on.type === 'authorisation'
  switch (type) {
    case 'capture':
      if (!isAuthorisation) return declined('not-possible')
      return amount.minor <= rest ? approved : declined('capture-too-high')
    case 'increment':
      return isAuthorisation ? approved : declined('not-possible')
    case 'refund':
      if (on.type !== 'sale' && on.type !== 'capture') return declined('not-possible')
      return amount.minor <= rest ? approved : declined('refund-too-high')
    case 'reversal':
      // What is not an authorisation is reversed whole or, once refunded, not at all.
      if (!isAuthorisation && amount.minor !== on.limit) return declined('not-possible')
      return amount.minor <= rest ? approved : declined('reversal-too-high')
    default:
      return declined('not-possible')
  }
}

/** Writes an entry into the sums; with -1 out of them again. */
function book(entry: Entry, sign: 1n | -1n): void {
  const { type, amount, on } = entry
  if (type === 'increment') on!.limit += sign * amount.minor
  else if (on !== undefined) on.taken += sign * amount.minor
  // The reversal of a capture gives its amount back to the authorisation.
  if (type === 'reversal' && on?.type === 'capture') on.on!.taken -= sign * amount.minor
  if (type !== 'refund' && type !== 'reversal') entry.limit = sign === 1n ? amount.minor : 0n
}
