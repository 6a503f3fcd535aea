/**
 * The engine's treatment of requests, answers and late words by the tables of core, like late-word-apply.ts
 * and settle.ts.
 */
import { cannotBeUndone, type Place } from '../../../core/payment/balance-rules.ts'
import {
  isOpen,
  isOver,
  standingOf,
  type Told,
  type Treatment,
  treatmentOf,
  wordOf,
} from '../../../core/payment/late-word-table.ts'
import type { Effect } from '../../../core/payment/operation-kinds.ts'
import { Books, hasFailed, newBalance, type Payment, placeNow, shift } from './books.ts'

/** A word about a payment; `minor` when its amount differs from the requested one. */
export type Said = {
  readonly is:
    | 'approved'
    | 'accepted'
    | 'declined'
    | 'pending'
    | 'unknown'
    | 'reversed'
    | 'notReversed'
  readonly minor?: bigint
}

export type Note = ((what: string, payment: Payment) => void) | undefined

export class Engine {
  readonly books = new Books()
  /** Records the steps of an inspected life. */
  readonly #note: Note

  constructor(note: Note) {
    this.#note = note
  }

  /**
   * First commit of a follow-up: the reservation as the statements grant it. Undefined: refused.
   */
  begin(
    effect: Effect,
    amount: bigint,
    referenced: Payment | null,
    isFinal: boolean,
  ): Payment | undefined {
    if (referenced === null) return this.books.add(effect, amount, null, null, isFinal)
    if (referenced.state !== 'approved') return undefined
    const parent = referenced.effect === 'increase' ? referenced.parent! : referenced
    if (parent.own === null || hasFailed(parent) || !grants(parent, effect, amount))
      return undefined
    const payment = this.books.add(effect, amount, parent, referenced, isFinal)
    this.#note?.(`is asked for, ${amount}${isFinal ? ' FINAL' : ''}`, payment)
    this.#reserve(payment, parent)
    return payment
  }

  /** The reservation is the move from nowhere to open. */
  #reserve(payment: Payment, parent: Payment): void {
    const more = shift(payment, 'gone', 'open', this.books.payments)
    if (more > 0n) throw new Error(`a request went beyond the limit of ${parent.no}`)
  }

  /** The second commit: an open payment under a lease. */
  settle(payment: Payment, said: Said): void {
    if (!isOpen(payment.state)) throw new Error('only open payments are settled')
    this.#note?.(`answered ${said.is}`, payment)
    const { state } = payment
    switch (said.is) {
      case 'approved':
      case 'accepted':
        payment.finalBy = said.is === 'accepted' ? 'event' : null
        this.#decide(payment, 'approved', 'approved', 'done')
        this.#stand(payment, said.minor ?? payment.amount)
        break
      case 'declined':
      case 'reversed':
        this.#decide(payment, 'declined', 'declined', 'gone')
        break
      case 'notReversed':
        this.#decide(payment, 'declined', 'declined', 'gone')
        payment.mayFailLate = true
        payment.lateMinor = payment.amount
        this.#late(payment, cannotBeUndone.has(payment.effect) ? 'done' : 'open', 'late')
        this.books.list('conflict', payment, payment.amount)
        break
      default:
        if (state === 'processing' || said.is === 'pending') {
          payment.state = said.is
          payment.attempt = said.is
        }
    }
    this.#goOn(payment)
  }

  /** The acquirer takes the reversal of an open payment, and will say later how it ended. */
  requestBack(payment: Payment): void {
    this.#note?.('is to be taken back', payment)
    payment.isReversing = true
    payment.state = 'unknown'
    payment.attempt = 'unknown'
  }

  /** The payment's time ends. */
  expire(payment: Payment): void {
    this.#note?.('expires', payment)
    this.#decide(payment, 'expired', 'expired', 'gone')
    this.#goOn(payment)
  }

  #decide(payment: Payment, state: Payment['state'], attempt: Payment['attempt'], to: Place): void {
    shift(payment, 'open', to, this.books.payments)
    payment.isReversing = false
    payment.state = state
    payment.attempt = attempt
  }

  /** Opens the balance of an approved payment. */
  #stand(payment: Payment, minor: bigint): void {
    payment.approvedMinor = minor
    switch (payment.effect) {
      case 'authorisation':
      case 'replacement':
        payment.own ??= newBalance('authorisation', 'authorised', minor)
        break
      case 'sale':
      case 'capture':
        payment.own ??= newBalance('sale', 'captured', minor)
        break
      case 'refund':
        payment.own ??= newBalance('refund', 'captured', minor)
    }
  }

  treatment(payment: Payment, said: Said): Treatment {
    const isAsAsked = said.minor === undefined || said.minor === payment.amount
    const answer = payment.isReversing ? { reversal: { code: '900.100.400' } as const } : {}
    const standing = standingOf({ ...payment, answer }, payment.attempt)
    const treatment = treatmentOf(payment.effect, standing, wordOf(outcomeOf(said), isAsAsked))
    return treatment === 'end-late' && !payment.mayFailLate ? 'known' : treatment
  }

  /** A report about a decided payment. */
  hear(payment: Payment, said: Said): void {
    const treatment = this.treatment(payment, said)
    this.#note?.(`told ${said.is}: ${treatment}`, payment)
    switch (treatment) {
      case 'known':
        return
      case 'list':
        this.books.list('conflict', payment, payment.amount, `${said.is} ${said.minor ?? ''}`)
        return
      case 'return': {
        const entry = this.books.list('return', payment, payment.approvedMinor ?? payment.amount)
        if (entry === undefined) return
        payment.own?.frozenBy.add(entry)
        payment.parent?.own?.frozenBy.add(entry)
        return
      }
      case 'confirm':
        payment.finalBy = null
        return
      case 'fail':
        this.#fail(payment)
        return
      case 'take-back':
      case 'count':
        payment.mayFailLate = said.is === 'accepted'
        payment.lateMinor = said.minor ?? payment.amount
        this.#late(payment, treatment === 'count' ? 'done' : 'open', 'late')
        this.books.list('conflict', payment, payment.lateMinor)
        return
      case 'end-late':
        this.endLate(payment)
        return
      case 'undone':
        // The engine's own reversal took it back as well: a second way must not start.
        if (payment.undo === null) this.endLate(payment)
        else this.books.list('conflict', payment, payment.amount, said.is)
        return
      case 'count-standing':
        payment.mayFailLate = true
        payment.lateMinor = said.minor ?? payment.amount
        this.#late(payment, cannotBeUndone.has(payment.effect) ? 'done' : 'open', 'late')
        this.books.list('conflict', payment, payment.lateMinor)
        return
      case 'stand':
        this.books.list('conflict', payment, payment.lateMinor ?? payment.amount)
        return
      default:
        throw new Error(`${treatment} of a payment that is ${payment.state}`)
    }
  }

  #fail(payment: Payment): void {
    const { own } = payment
    const more = this.#late(payment, 'gone', 'declined')
    payment.state = 'declined'
    payment.finalBy = null
    payment.approvedMinor = null
    const used =
      own === null
        ? 0n
        : own.kind === 'authorisation'
          ? own.sums.captured + own.sums.capturing
          : own.sums.refunded + own.sums.refunding
    const chargedBack = own?.chargedBack ?? 0n
    if (more + used > 0n || chargedBack > 0n)
      this.books.list('late-failure', payment, more + used + chargedBack)
    this.#goOn(payment)
  }

  #late(payment: Payment, to: Place, attempt: Payment['attempt']): bigint {
    const more = shift(payment, placeNow(payment), to, this.books.payments)
    payment.attempt = attempt
    return more
  }

  /** A late success that no longer counts. */
  endLate(payment: Payment): void {
    this.#note?.('ends as a late success', payment)
    this.#late(payment, 'gone', payment.state === 'expired' ? 'expired' : 'declined')
    this.#resolve(payment)
  }

  /** An operator keeps the money of a late success. */
  keepLate(payment: Payment): void {
    this.#note?.('is kept', payment)
    const minor = payment.parent === null ? (payment.lateMinor ?? payment.amount) : payment.amount
    this.#late(payment, 'done', 'approved')
    payment.state = 'approved'
    this.#stand(payment, minor)
    this.#resolve(payment)
    this.#goOn(payment)
  }

  #resolve(payment: Payment): void {
    for (const entry of this.books.entries) {
      const isIt = entry.kind === 'conflict' && entry.about === payment && entry.reference === ''
      if (isIt && entry.isOpen) this.books.end(entry)
    }
  }

  /** Continues a two-step payment after a change of one of its steps. */
  #goOn(payment: Payment): void {
    const first = payment.chain !== null ? payment : payment.referenced
    if (first?.chain == null || first.state !== 'approved') return
    const { chain } = first
    if (chain.capture === null) {
      chain.capture = this.begin('capture', first.approvedMinor!, first, false) ?? null
      return
    }
    if (chain.capture === payment && isOver(payment.state) && chain.release === null) {
      const rest = first.own!.sums.authorised - first.own!.sums.captured - first.own!.sums.reversed
      chain.release = this.begin('release', rest, first, false) ?? null
    }
  }

  /** A fact, which is never refused. */
  chargeBack(payment: Payment, minor: bigint): void {
    this.#note?.(`is charged back, ${minor}`, payment)
    const { own } = payment
    if (payment.state !== 'approved' || own === null) {
      this.books.list('beyond-sums', payment, minor, `${this.books.entries.length}`)
      return
    }
    own.chargedBack += minor
    const { sums } = own
    const left =
      sums.captured -
      sums.refunded -
      sums.refunding -
      sums.reversed -
      sums.reversing -
      own.chargedBack
    if (left < 0n) this.books.list('beyond-sums', payment, -left, `${this.books.entries.length}`)
  }

  reverseChargeback(payment: Payment, minor: bigint): void {
    const { own } = payment
    if (own === null) return
    const counts = minor < own.chargedBack ? minor : own.chargedBack
    own.chargedBack -= counts
    if (counts < minor)
      this.books.list('beyond-sums', payment, minor - counts, `${this.books.entries.length}`)
  }
}

/** The conditions under which the statements of core reserve. */
function grants(parent: Payment, effect: Effect, amount: bigint): boolean {
  const { sums, marks, chargedBack, frozenBy, captures, kind } = parent.own!
  if (chargedBack > 0n || marks.closed_by !== null) return false
  const rest = sums.authorised - sums.captured - sums.reversed
  const isReleased = sums.reversed > 0n && rest <= 0n
  switch (effect) {
    case 'capture':
      return (
        kind === 'authorisation' &&
        sums.reversing === 0n &&
        marks.capture_final_by === null &&
        captures < 1000 &&
        amount + sums.capturing <= rest
      )
    case 'release':
      return (
        kind === 'authorisation' &&
        sums.capturing + sums.reversing + sums.increasing + sums.refunding === 0n &&
        frozenBy.size === 0 &&
        marks.reverse_final_by === null &&
        rest > 0n &&
        amount > 0n &&
        amount <= rest
      )
    case 'void':
      return (
        kind === 'sale' &&
        sums.refunding + sums.refunded + sums.reversing + sums.reversed === 0n &&
        frozenBy.size === 0 &&
        marks.reverse_final_by === null &&
        sums.captured > 0n &&
        amount === sums.captured
      )
    case 'refund':
      return (
        kind === 'sale' &&
        sums.reversing + sums.reversed === 0n &&
        frozenBy.size === 0 &&
        marks.refund_final_by === null &&
        sums.refunded + sums.refunding + amount <= sums.captured
      )
    case 'increase':
      return (
        kind === 'authorisation' &&
        sums.reversing === 0n &&
        marks.capture_final_by === null &&
        !isReleased
      )
    case 'replacement':
      return (
        kind === 'authorisation' &&
        sums.capturing + sums.reversing + sums.increasing === 0n &&
        marks.capture_final_by === null &&
        !isReleased
      )
    default:
      return false
  }
}

const outcomeOf = ({ is, minor }: Said): Told =>
  is === 'approved' && minor !== undefined
    ? { is, refs: {}, amount: { minor, currency: 'EUR' } }
    : ({ is, refs: {} } as Told)
