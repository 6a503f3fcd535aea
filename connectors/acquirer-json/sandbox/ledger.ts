/** The books of Example Bank: money moves here or nowhere. No network, no clock. */
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

/** An order to the bank. `decision` comes from the instrument. */
export type Order = {
  readonly key: string
  readonly type: PaymentType | FollowUpType
  readonly amount: Money
  /** On follow-ups: the bank's id of the original payment. */
  readonly on?: string
  readonly decision?: Decision
  /** The content that distinguishes orders, without the security code. */
  readonly content: string
}
export type Decision = {
  readonly status: Entry['status']
  readonly code: string
  /** Its reversal by key is carried out later. */
  readonly isReversedLater?: true
}

export type Entry = {
  readonly id: string
  readonly key: string
  readonly type: Order['type']
  readonly amount: Money
  readonly on?: Entry
  /** Binds a key to one order. Keyed, because the content includes a card number. */
  readonly fingerprint: string
  status: 'approved' | 'submitted' | 'declined' | 'review' | 'confirm'
  code: string
  readonly isReversedLater?: true
  reversal?: 'queued' | 'done' | 'failed'
  /** Minor units: the limit of the payment, and the amount taken from it. */
  limit: bigint
  taken: bigint
}

/** Refused before anything is done. */
export type Refusal = { readonly refused: string }

export type Undone =
  | { readonly result: 'reversed' | 'queued' | 'blocked' }
  | { readonly result: 'refused'; readonly code: string }

export type Ledger = {
  carryOut(order: Order): Entry | Refusal
  /** Ends a payment under review or waiting for the shopper. */
  end(id: string, decision: Decision): Entry | undefined
  /** Undoes the order of a key and closes the key, before or after the order arrives. */
  undo(key: string): Undone
  /** Carries a queued reversal out, or fails to. */
  endReversal(key: string, as: 'done' | 'failed'): void
  /** The bank of the payer gives a direct debit back. */
  giveBack(key: string): void
  byKey(key: string): Entry | undefined
  entries(): readonly Entry[]
}

export const isDone = ({ status }: Entry): boolean =>
  status === 'approved' || status === 'submitted'

/** @param queued types of orders that the bank takes at once and carries out later */
export function openLedger(queued: readonly Order['type'][] = []): Ledger {
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
      const decision = order.decision ?? decide(entry)
      const waits = decision.status === 'approved' && queued.includes(type)
      Object.assign(entry, waits ? { status: 'review', code: '09' } : decision)
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
      // Follow-ups must be undone first.
      if (entry.taken > 0n || entry.reversal === 'failed') {
        return { result: 'refused', code: 'not-possible' }
      }
      if (entry.isReversedLater) {
        entry.reversal = 'queued'
        return { result: 'queued' }
      }
      if (isDone(entry)) book(entry, -1n)
      Object.assign(entry, declined('key-reversed'))
      return { result: 'reversed' }
    },
    endReversal(key, as) {
      const entry = entries.get(key)
      if (entry?.reversal !== 'queued') throw new Error('no reversal of this key is queued')
      entry.reversal = as
      if (as === 'failed') return
      if (isDone(entry)) book(entry, -1n)
      Object.assign(entry, declined('key-reversed'))
    },
    giveBack(key) {
      const entry = entries.get(key)
      if (entry?.status !== 'submitted') throw new Error('only a submitted payment is given back')
      book(entry, -1n)
      Object.assign(entry, declined('AC04'))
    },
    byKey: (key) => entries.get(key),
    entries: () => [...entries.values()],
  }
}

const approved: Decision = { status: 'approved', code: '00' }
const declined = (code: string): Decision => ({ status: 'declined', code })

/** The sums decide a follow-up. */
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
      // Payments other than authorisations are reversed as a whole and, once refunded, not at all.
      if (!isAuthorisation && amount.minor !== on.limit) return declined('not-possible')
      return amount.minor <= rest ? approved : declined('reversal-too-high')
    default:
      return declined('not-possible')
  }
}

/** Adds an entry to the sums; removes it with -1. */
function book(entry: Entry, sign: 1n | -1n): void {
  const { type, amount, on } = entry
  if (type === 'increment') on!.limit += sign * amount.minor
  else if (on !== undefined) on.taken += sign * amount.minor
  // The reversal of a capture returns its amount to the authorisation.
  if (type === 'reversal' && on?.type === 'capture') on.on!.taken -= sign * amount.minor
  if (type !== 'refund' && type !== 'reversal') entry.limit = sign === 1n ? amount.minor : 0n
}
