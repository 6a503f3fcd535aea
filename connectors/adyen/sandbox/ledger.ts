/** The books of the sandbox: money moves here or nowhere. No network, no clock. */
import { randomBytes } from 'node:crypto'

export type Amount = { readonly value: number; readonly currency: string }

export type Payment = {
  readonly pspReference: string
  /** The merchant's reference: the key of the operation. */
  readonly reference: string
  readonly amount: Amount
  readonly isCapturedAtOnce: boolean
  state: 'authorised' | 'refused' | 'away' | 'pending' | 'failed'
  refusal?: { readonly code: string; readonly reason: string }
  /** Authorised in all, captured and refunded, in units of the amount. */
  authorised: number
  captured: number
  refunded: number
  isCancelled: boolean
  /** Undone by its reference or by a reversal that `undo` asked for: no booking is left. */
  isUndone: boolean
}

export type ModificationKind = 'capture' | 'refund' | 'cancel' | 'reversal' | 'update'

export type Modification = {
  readonly pspReference: string
  readonly reference: string
  readonly kind: ModificationKind
  readonly payment: Payment
  readonly amount: Amount
  /** What the books gained by it. */
  readonly booked: number
  success: boolean
  reason: string
  /** What the acquirer told last: its own event, or a later failure. */
  told: 'first' | 'failed' | 'reversed'
  /** How often that changed: a change has a later date. */
  changes: number
}

/** A reversal by our reference, or one of a payment that a reversal by key asks for: it ends when a test says so. */
export type Undo = {
  readonly pspReference: string
  readonly reference: string
  /** The reference of the payment. */
  readonly of: string
  readonly by: 'reference' | 'payment'
  /** Whether the payment was there when its reversal was asked for. */
  readonly hadPayment: boolean
  state: 'asked' | 'done' | 'failed'
}

export type Ledger = ReturnType<typeof openLedger>

const letters = 'BCDFGHJKLMNPQRSTVWXZ23456789'

/** Sixteen characters, as Adyen's references are. */
export const newReference = (): string =>
  [...randomBytes(16)].map((byte) => letters[byte % letters.length]).join('')

export function openLedger() {
  const payments: Payment[] = []
  const modifications: Modification[] = []
  const undos: Undo[] = []

  const ledger = {
    payments: payments as readonly Payment[],
    modifications: modifications as readonly Modification[],
    undos: undos as readonly Undo[],
    add(payment: Payment): Payment {
      payments.push(payment)
      return payment
    },
    payment: (pspReference: string) =>
      payments.find((payment) => payment.pspReference === pspReference),
    byReference: (reference: string) =>
      payments.findLast((payment) => payment.reference === reference),
    authorise(payment: Payment): void {
      payment.state = 'authorised'
      payment.authorised = payment.amount.value
      if (payment.isCapturedAtOnce) payment.captured = payment.amount.value
    },
    /** Takes what is done to a payment, and carries it out if the sums allow it. */
    modify(
      kind: ModificationKind,
      payment: Payment,
      reference: string,
      asked?: Amount,
    ): Modification {
      const amount = asked ?? { ...payment.amount, value: payment.authorised }
      const reason = refusalOf(kind, payment, amount)
      const booked = kind === 'update' ? amount.value - payment.authorised : amount.value
      if (reason === '') book(kind, payment, amount.value)
      const modification: Modification = {
        pspReference: newReference(),
        reference,
        kind,
        payment,
        amount,
        booked,
        success: reason === '',
        reason,
        told: 'first',
        changes: 0,
      }
      modifications.push(modification)
      return modification
    },
    /** A capture or a refund that was carried out fails later. */
    fail(modification: Modification, as: 'failed' | 'reversed' = 'failed'): void {
      const { kind, payment, amount } = modification
      if (kind === 'capture') payment.captured -= amount.value
      if (kind === 'refund') payment.refunded -= amount.value
      modification.success = false
      modification.told = as
      modification.changes += 1
    },
    /** Adyen captures again what failed. */
    recapture(modification: Modification): void {
      modification.payment.captured += modification.amount.value
      modification.success = true
      modification.told = 'first'
      modification.changes += 1
    },
    undo(of: string, by: Undo['by'], reference: string): Undo {
      const hadPayment = ledger.byReference(of) !== undefined
      const pspReference = newReference()
      const undo: Undo = { pspReference, reference, of, by, hadPayment, state: 'asked' }
      undos.push(undo)
      return undo
    },
    undoOf: (of: string) => undos.findLast((undo) => undo.of === of),
    /** `by itself`: a technical cancellation works for what is authorised and not captured, a reversal for all. */
    endUndo(of: string, as: 'done' | 'failed' | 'by itself'): Undo {
      const undo = ledger.undoOf(of)
      if (undo?.state !== 'asked') throw new Error('no reversal of this payment is under way')
      const payment = ledger.byReference(of)
      const isThere = payment?.state === 'authorised' && !payment.isCancelled && !payment.isUndone
      const works = isThere && (undo.by === 'payment' || payment.captured === 0)
      undo.state = as === 'by itself' ? (works ? 'done' : 'failed') : as
      if (undo.state === 'done' && payment !== undefined) payment.isUndone = true
      return undo
    },
  }
  return ledger
}

function refusalOf(kind: ModificationKind, payment: Payment, { value, currency }: Amount): string {
  const { state, authorised, captured, refunded, isCancelled, isUndone, amount } = payment
  if (state !== 'authorised' || isUndone) return 'Transaction is not authorised'
  if (currency !== amount.currency) return 'Currency differs'
  switch (kind) {
    case 'capture':
      if (isCancelled) return 'Transaction was cancelled'
      return captured + value <= authorised ? '' : 'Insufficient balance on payment'
    case 'refund':
      if (captured === 0) return "Transaction hasn't been captured, refund not possible"
      return refunded + value <= captured ? '' : 'Insufficient balance on payment'
    case 'cancel':
      return captured === 0 && !isCancelled ? '' : 'Transaction not in correct state'
    case 'reversal':
      return isCancelled || refunded > 0 ? 'Transaction not in correct state' : ''
    case 'update':
      return isCancelled || value < captured ? 'Transaction not in correct state' : ''
  }
}

function book(kind: ModificationKind, payment: Payment, value: number): void {
  if (kind === 'capture') payment.captured += value
  if (kind === 'refund') payment.refunded += value
  if (kind === 'update') payment.authorised = value
  if (kind === 'cancel') payment.isCancelled = true
  if (kind !== 'reversal') return
  if (payment.captured === 0) payment.isCancelled = true
  else payment.refunded = payment.captured
}
