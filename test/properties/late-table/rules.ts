/** The rules after every step, and after all open payments and entries have ended. */
import assert from 'node:assert/strict'
import { type SumName, sumNames } from '../../../core/payment/balance-rules.ts'
import { isOpen } from '../../../core/payment/late-word-table.ts'
import { type Books, type Entry, excessOf, type Payment, takes } from './books.ts'
import type { Ledger } from './ledger.ts'

/** The place of a payment by its rows alone: open, done, or counting for nothing. */
function placed(payment: Payment): 'open' | 'done' | 'gone' {
  if (payment.state === 'approved') return 'done'
  const isReversal = payment.effect === 'release' || payment.effect === 'void'
  if (payment.attempt === 'late') return isReversal ? 'done' : 'open'
  return isOpen(payment.state) ? 'open' : 'gone'
}

const names: { readonly [Effect in Payment['effect']]?: readonly [SumName, SumName] } = {
  increase: ['increasing', 'authorised'],
  capture: ['capturing', 'captured'],
  release: ['reversing', 'reversed'],
  void: ['reversing', 'reversed'],
  refund: ['refunding', 'refunded'],
}

const isDone = (payment: Payment | undefined) => payment !== undefined && placed(payment) === 'done'

/** The rules after every step. */
export function checkBooks({ payments }: Books): void {
  checkMarks(payments)
  for (const payment of payments) {
    const { own } = payment
    if (own === null) continue
    const sums = Object.fromEntries(sumNames.map((name) => [name, 0n])) as Record<SumName, bigint>
    let captures = 0
    if (own.kind === 'authorisation') sums.authorised = payment.approvedMinor ?? sumOf(payment)
    else sums.captured = payment.approvedMinor ?? sumOf(payment)
    for (const one of payments) {
      if (one.parent !== payment) continue
      const place = placed(one)
      const name = names[one.effect]
      if (place === 'gone' || name === undefined) continue
      const isCapture = one.effect === 'capture'
      // A reversed capture no longer counts on its authorisation.
      if (
        isCapture &&
        place === 'done' &&
        payments.some(
          (other) => other.effect === 'void' && other.referenced === one && isDone(other),
        )
      )
        continue
      sums[name[place === 'open' ? 0 : 1]] += one.amount
      if (isCapture) captures += 1
    }
    for (const name of sumNames)
      if (sums[name] !== own.sums[name])
        assert.fail(`${name} of ${payment.no} is ${own.sums[name]}, its payments say ${sums[name]}`)
    if (captures !== own.captures) assert.fail(`${own.captures} captures in place of ${captures}`)
    if (own.excess !== excessOf(own)) assert.fail(`excess of ${payment.no} is ${own.excess}`)
    for (const by of Object.values(own.marks))
      if (by !== null && takes(by, payment) === undefined)
        assert.fail(`${by.no} is gone, and its mark on ${payment.no} is not`)
  }
}

/** A done FINAL operation closes its authorisation or sale to others of its kind. */
function checkMarks(payments: readonly Payment[]): void {
  for (const payment of payments) {
    const { parent } = payment
    const name = parent === null ? undefined : takes(payment, parent)
    if (name !== undefined && parent?.own?.marks[name] === null)
      assert.fail(`${payment.no} was the last capture, and ${parent.no} is not closed`)
  }
}

/** The original sum of a failed payment's balance. */
const sumOf = ({ own, amount }: Payment): bigint =>
  own === null ? 0n : own.kind === 'authorisation' ? amount : own.sums.captured

/** The rules when all open payments are decided and all entries closed. */
export function checkEnd({ payments, entries }: Books, ledger: Ledger): void {
  for (const entry of entries) if (entry.isOpen) assert.fail(`${entry.kind} cannot be ended`)
  for (const payment of payments) {
    const { own } = payment
    if (isOpen(payment.state)) assert.fail(`${payment.no} is ${payment.state}`)
    if (payment.attempt === 'late') assert.fail(`${payment.no} is still late`)
    const isListed = entries.some(({ about }) => about === payment)
    const { did } = ledger.of(payment)
    if (did !== (payment.state === 'approved') && !isListed)
      assert.fail(
        `${payment.effect} ${payment.no} is ${payment.state}, done there: ${did}, unlisted`,
      )
    if (own !== null) {
      const { increasing, capturing, reversing, refunding } = own.sums
      if (increasing + capturing + reversing + refunding !== 0n)
        assert.fail(`${payment.no} keeps a reservation`)
      if (own.frozenBy.size > 0) assert.fail(`${payment.no} is frozen for good`)
    }
    const overrun = ledger.overrun(payment, payments)
    if (overrun <= 0n) continue
    const belongs = ({ about: { parent, referenced } }: Entry) =>
      parent === payment || referenced === payment || parent?.parent === payment
    let listed = 0n
    for (const entry of entries)
      if (entry.about === payment || belongs(entry)) listed += entry.minor
    if (listed < overrun)
      assert.fail(`${overrun} went beyond ${payment.effect} ${payment.no}, ${listed} is listed`)
  }
}

/** The visible state of the tree. */
export const fingerprint = ({ payments, entries }: Books): string =>
  JSON.stringify([
    payments.map(({ state, attempt, own }) => [state, attempt, own === null ? 0 : sumsOf(own)]),
    entries.map(({ kind, reference, isOpen: open }) => [kind, reference, open]),
  ])

/** The balances that follow from places and marks. */
export const balancesOf = ({ payments }: Books): string =>
  JSON.stringify(payments.map(({ own }) => (own === null ? 0 : sumsOf(own))))

const sumsOf = ({ sums, captures, excess, marks, frozenBy }: NonNullable<Payment['own']>) => [
  sumNames.map((name) => String(sums[name])).join(),
  captures,
  String(excess),
  Object.values(marks).map((by) => by !== null),
  frozenBy.size,
]
