/** Settlement files of Acme Bank in the words of the contract suite. */
import { currencyOf, type Money } from '@tollgate/plugin-kit'
import type { SettlementSandbox } from '@tollgate/plugin-kit/testing'

const columns = 'Type;Merchant;Date;Ordered;Id;Amount;Fee;Currency;Last4'

function decimal({ minor, currency }: Money): string {
  const exponent = currencyOf(currency)?.exponent ?? 2
  const digits = String(minor).padStart(exponent + 1, '0')
  return exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`
}

/** Changes the lines of a file, counted from 0. */
const changed =
  (change: (line: string, at: number) => string) =>
  (file: Uint8Array): Uint8Array => {
    const lines = Buffer.from(file).toString().split('\n')
    return Buffer.from(lines.map((line, at) => (line === '' ? line : change(line, at))).join('\n'))
  }

export const files: SettlementSandbox = {
  account: { user: 'shop-1' },
  write(payments) {
    const totals = new Map<string, bigint>()
    const lines = payments.map(
      ({ amount, cashflow, fee, reference, date, requestedAt, cardNumber }) => {
        const { minor, currency } = amount
        totals.set(currency, (totals.get(currency) ?? 0n) + (cashflow === 'POS' ? minor : -minor))
        return [
          cashflow === 'POS' ? 'SALE' : 'REFUND',
          'shop-1',
          date,
          requestedAt,
          reference,
          decimal(amount),
          decimal({ minor: fee, currency }),
          currency,
          cardNumber.slice(-4),
        ].join(';')
      },
    )
    const sums = [...totals].map(([currency, minor]) => `${currency}=${minor}`)
    const end = ['END', lines.length, ...sums].join(';')
    return Buffer.from(['FILE;shop-1 of 2026-03-30', columns, ...lines, end, ''].join('\n'))
  },
  damage: {
    amount: changed((line, at) => (at === 2 ? line.replace(/[0-9]+\.[0-9]+/, '9z.00') : line)),
    type: changed((line, at) => (at === 2 ? line.replace(/^[A-Z]+/, 'LOAN') : line)),
    column: changed((line, at) => {
      if (at === 0 || line.startsWith('END')) return line
      return `${at === 1 ? 'New' : 'new'};${line}`
    }),
    count: changed((line) =>
      line.replace(/^END;([0-9]+)/, (_, count) => `END;${Number(count) + 1}`),
    ),
    total: changed((line) => line.replace(/^(END;.*=)/, '$11')),
  },
}
