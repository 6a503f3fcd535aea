/** One tree of payments in memory, moved by the tables of core as its statements move rows. */

import {
  type Mark,
  moveBetween,
  type Place,
  placeOf,
  type SumName,
  type Sums,
  shares,
  sumNames,
} from '../../../core/payment/balance-rules.ts'
import type { Effect } from '../../../core/payment/operation-kinds.ts'
import type { AttemptState, PaymentState } from '../../../core/payment/types.ts'

export type Balance = {
  readonly kind: 'authorisation' | 'sale' | 'refund'
  readonly sums: Record<SumName, bigint>
  captures: number
  excess: bigint
  readonly marks: Record<Mark, Payment | null>
  chargedBack: bigint
  readonly frozenBy: Set<Entry>
}

export type Payment = {
  readonly no: number
  readonly effect: Effect
  readonly amount: bigint
  readonly isMarked: boolean
  /** The payment whose balance holds the reservation. */
  readonly parent: Payment | null
  readonly referenced: Payment | null
  state: PaymentState
  attempt: AttemptState
  finalBy: string | null
  /** The acquirer took a reversal by key, and has not said how it ended. */
  isReversing: boolean
  /** A late success that can still fail. */
  mayFailLate: boolean
  lateMinor: bigint | null
  approvedMinor: bigint | null
  own: Balance | null
  /** The authorisation of a two-step payment, and the steps taken. */
  chain: { capture: Payment | null; release: Payment | null } | null
  /** The engine's own reversal of a late success. */
  undo: Payment | null
}

export type Entry = {
  readonly kind: 'conflict' | 'return' | 'late-failure' | 'beyond-sums' | 'unreversed'
  readonly about: Payment
  readonly reference: string
  readonly minor: bigint
  isOpen: boolean
}

export class Books {
  readonly payments: Payment[] = []
  readonly entries: Entry[] = []

  add(
    effect: Effect,
    amount: bigint,
    parent: Payment | null,
    referenced: Payment | null,
    isFinal: boolean,
  ): Payment {
    const payment: Payment = {
      no: this.payments.length,
      effect,
      amount,
      isMarked: isFinal || effect === 'replacement',
      parent,
      referenced,
      state: 'processing',
      attempt: 'sending',
      finalBy: null,
      isReversing: false,
      mayFailLate: false,
      lateMinor: null,
      approvedMinor: null,
      own: null,
      chain: null,
      undo: null,
    }
    this.payments.push(payment)
    return payment
  }

  list(kind: Entry['kind'], about: Payment, minor: bigint, reference = ''): Entry | undefined {
    const isKnown = this.entries.some(
      (one) =>
        one.isOpen && one.kind === kind && one.about === about && one.reference === reference,
    )
    if (isKnown) return undefined
    const entry = { kind, about, minor, reference, isOpen: true }
    this.entries.push(entry)
    return entry
  }

  /** Closes an entry, with the waits for it. */
  end(entry: Entry): void {
    entry.isOpen = false
    for (const { own } of this.payments) own?.frozenBy.delete(entry)
  }
}

export const newBalance = (kind: Balance['kind'], name: SumName, minor: bigint): Balance => ({
  kind,
  sums: { ...noSums, [name]: minor },
  captures: 0,
  excess: 0n,
  marks: { capture_final_by: null, refund_final_by: null, reverse_final_by: null, closed_by: null },
  chargedBack: 0n,
  frozenBy: new Set(),
})

const noSums = Object.fromEntries(sumNames.map((name) => [name, 0n])) as Record<SumName, bigint>

/** Whether the payment failed after it was done. */
export const hasFailed = ({ own, state }: Payment): boolean => own !== null && state !== 'approved'

/** The amount by which a balance is exceeded. */
export function excessOf({ kind, sums }: Balance): bigint {
  const used =
    kind === 'authorisation'
      ? sums.captured + sums.capturing + sums.reversed + sums.reversing - sums.authorised
      : kind === 'sale'
        ? sums.refunded + sums.refunding + sums.reversed + sums.reversing - sums.captured
        : 0n
  return used > 0n ? used : 0n
}

/** The constraints of the table: a violation is a mistake of the caller. */
function check(balance: Balance): void {
  for (const name of sumNames) {
    if (balance.sums[name] < 0n) throw new Error(`${name} is ${balance.sums[name]}`)
  }
  if (balance.captures < 0) throw new Error(`${balance.captures} captures`)
  if (excessOf(balance) > balance.excess) throw new Error('used beyond what there is')
}

function add(balance: Balance, sums: Sums): void {
  for (const name of sumNames) balance.sums[name] += sums[name]
  balance.captures += sums.captures
}

/** The present place of a payment. */
export const placeNow = ({ effect, state, attempt }: Payment): Place =>
  placeOf(effect, state, attempt)

/** The authorisation that gets a reversed capture's amount back. */
const returnsTo = ({ effect, referenced }: Payment): Payment | null =>
  effect === 'void' && referenced?.effect === 'capture' ? referenced.parent : null

/**
 * Moves a payment's contribution to balances from one place to another.
 *
 * @returns the additional excess over the limits.
 */
export function shift(payment: Payment, from: Place, to: Place, all: readonly Payment[]): bigint {
  const { parent } = payment
  if (parent?.own == null) return 0n
  const { effect, amount, isMarked } = payment
  const move = moveBetween(effect, amount, from, to, isMarked)
  // A reversed capture counts for nothing on its authorisation, even when it is done.
  const real = (place: Place) => (isReversed(payment) && place === 'done' ? 'gone' : place)
  const { own, mark: taken } = moveBetween(effect, amount, real(from), real(to), isMarked)
  const more = change(parent.own, () => {
    add(parent.own!, own)
    mark(payment, parent.own!, taken, all)
  })
  const authorisation = returnsTo(payment)
  // The amount returns once, however often it is reversed.
  const others = parent.own.sums.reversed - (to === 'done' ? payment.amount : 0n)
  if (authorisation?.own == null || hasFailed(parent) || others !== 0n) return more
  const returned = authorisation.own
  const isForNothing = move.returned.captured > 0n && hasFailed(authorisation)
  return (
    more +
    (isForNothing ? move.returned.captured : 0n) +
    change(returned, () => {
      add(returned, move.returned)
      // The mark of a capture returns with its amount.
      if (!parent.isMarked || move.returned.captures === 0) return
      const is = move.returned.captures < 0 ? 'released' : 'taken'
      mark(parent, returned, { name: 'capture_final_by', is }, all)
    })
  )
}

function change(balance: Balance, how: () => void): bigint {
  const before = balance.excess
  how()
  balance.excess = excessOf(balance)
  check(balance)
  return positive(balance.excess - before)
}

/** A capture that was reversed. */
const isReversed = ({ own, effect }: Payment): boolean =>
  effect === 'capture' && own !== null && own.sums.reversed > 0n

function mark(
  payment: Payment,
  { marks }: Balance,
  change: { readonly name: Mark; readonly is: 'taken' | 'released' } | null,
  all: readonly Payment[],
): void {
  if (change === null) return
  const { name, is } = change
  if (is === 'taken') marks[name] ??= payment
  else if (marks[name] === payment) {
    // Another final operation closes it as well.
    const heir = all.find((one) => one !== payment && takes(one, payment.parent!) === name)
    marks[name] = heir ?? null
  }
}

/** The mark that a done payment has on a balance. */
export function takes(payment: Payment, parent: Payment): Mark | undefined {
  const { mark: name } = shares[payment.effect]
  if (payment.parent !== parent || !payment.isMarked) return undefined
  const place = placeNow(payment)
  return place === 'open' || (place === 'done' && !isReversed(payment)) ? name : undefined
}

export const positive = (minor: bigint): bigint => (minor > 0n ? minor : 0n)
