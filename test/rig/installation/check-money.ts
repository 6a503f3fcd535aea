/** Compares the acquirer's books with the requests and the stored rows. */
import type { LedgerEntry } from './acquirer.ts'
import type { Evidence, PaymentRow } from './evidence.ts'

type Net = { readonly held: bigint; readonly charged: bigint }

/** The rest of an entry's movements: a reversed operation has none. */
function netOf({ movements }: LedgerEntry): Net {
  const sum = (on: 'held' | 'charged') =>
    movements.filter((move) => move.on === on).reduce((all, { minor }) => all + BigInt(minor), 0n)
  return { held: sum('held'), charged: sum('charged') }
}

const moved = (entry: LedgerEntry): boolean => {
  const { held, charged } = netOf(entry)
  return held !== 0n || charged !== 0n
}

/** The effect of carrying an operation out once on the payer's money. */
function once(entry: LedgerEntry, original: LedgerEntry | undefined): Net {
  const minor = BigInt(entry.amount.minor)
  switch (entry.kind) {
    case 'authorize':
    case 'increment':
      return { held: minor, charged: 0n }
    case 'debit':
      return { held: 0n, charged: minor }
    case 'capture':
      return { held: -minor, charged: minor }
    case 'credit':
    case 'refund':
      return { held: 0n, charged: -minor }
    case 'reverse':
      if (original?.kind === 'authorize') return { held: -minor, charged: 0n }
      // A reversed capture is held again by its authorisation.
      return { held: original?.kind === 'capture' ? minor : 0n, charged: -minor }
    default:
      return { held: 0n, charged: 0n }
  }
}

const shown = ({ key, kind, paymentId }: LedgerEntry) => `${kind} ${key} (payment ${paymentId})`
const netText = ({ held, charged }: Net) => `held ${held}, charged ${charged}`

export function moneyOnce({ ledger }: Evidence): string[] {
  const byKey = new Map(ledger.map((entry) => [entry.key, entry]))
  return ledger.flatMap((entry) => {
    const net = netOf(entry)
    const right = once(entry, byKey.get(entry.original ?? ''))
    const isNothing = net.held === 0n && net.charged === 0n
    const isOnce = net.held === right.held && net.charged === right.charged
    return isNothing || isOnce ? [] : [`${shown(entry)} moved ${netText(net)}`]
  })
}

export function moneyHasRow({ ledger, payments }: Evidence): string[] {
  const known = new Set(payments.map(({ attemptKey }) => attemptKey))
  return ledger
    .filter((entry) => moved(entry) && !known.has(entry.key))
    .map((entry) => `${shown(entry)} moved ${netText(netOf(entry))} without a payment`)
}

/**
 * Answers of an acquirer that was asked for more than the sums allow, or for another operation
 * under one key.
 */
const refusals = new Set([
  'over-capture',
  'over-refund',
  'over-reversal',
  'key-reused',
  'original-open',
  'wrong-original',
  'nothing-to-reverse',
])

export function nothingAskedTwice({ ledger, payments }: Evidence): string[] {
  const told = payments.filter(({ code }) => code === '700.400.100' || code === '700.400.200')
  return [
    ...ledger
      .filter(({ code }) => refusals.has(code))
      .map((entry) => `${shown(entry)} was refused: ${entry.code}`),
    ...told.map(({ id, type, code }) => `${type} ${id} was stored as refused: ${code}`),
  ]
}

export function ledgerAgrees({ ledger, payments }: Evidence): string[] {
  const byKey = new Map(ledger.map((entry) => [entry.key, entry]))
  return payments.flatMap((payment) => disagreement(payment, byKey.get(payment.attemptKey)))
}

function disagreement(payment: PaymentRow, entry: LedgerEntry | undefined): string[] {
  const { id, type, state } = payment
  const isMoved = entry !== undefined && moved(entry)
  if (state === 'approved') {
    if (!isMoved) return [`${type} ${id} is approved, and the acquirer moved nothing`]
    const minor = payment.approvedMinor ?? payment.minor
    return BigInt(entry.amount.minor) === minor
      ? []
      : [`${type} ${id} is approved for ${minor}, the acquirer moved ${entry.amount.minor}`]
  }
  if (state !== 'declined' && state !== 'expired') return []
  return isMoved ? [`${type} ${id} is ${state}, and the acquirer moved money for it`] : []
}
