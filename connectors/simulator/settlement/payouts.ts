import { isRecord, type PayoutLine, type RecordLine, signed } from './format.ts'

/** The payouts of a day: what its lines come to in each currency. */
export class Payouts {
  readonly #sums = new Map<string, bigint>()

  add(line: RecordLine | PayoutLine): void {
    const { minor, currency } = isRecord(line) ? line.settled : line.amount
    const isPaid = !isRecord(line) || line.status === 'SUCCESS'
    const fee = isRecord(line) ? line.fee : 0n
    const sum = this.#sums.get(currency) ?? 0n
    this.#sums.set(currency, sum + (isPaid ? signed(line.cashflow, minor) : 0n) - fee)
  }

  /**
   * Opening, payout and closing of every currency. Opening and all other lines, less the fees, are payout and
   * closing. A negative sum is not paid out: the next payout covers it.
   *
   * @param before balances that these payouts have to cover, by currency, in minor units as decimal strings
   */
  lines(before: Readonly<Record<string, string>>): {
    readonly payouts: readonly PayoutLine[]
    readonly carried: Readonly<Record<string, string>>
  } {
    const carried: Record<string, string> = { ...before }
    const payouts = [...this.#sums].flatMap(([currency, sum]) => {
      const opening = BigInt(before[currency] ?? 0n)
      const all = opening + sum
      const closing = all < 0n ? all : 0n
      carried[currency] = String(closing)
      return [
        payoutLine('opening', opening, currency),
        payoutLine('payout', all - closing, currency),
        payoutLine('closing', closing, currency),
      ]
    })
    return { payouts, carried }
  }
}

const payoutLine = (kind: PayoutLine['kind'], minor: bigint, currency: string): PayoutLine => ({
  kind,
  cashflow: minor < 0n ? 'NEG' : 'POS',
  amount: { minor: minor < 0n ? -minor : minor, currency },
})
