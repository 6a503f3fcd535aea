/**
 * The simulator's settlement file: UTF-8, cells separated by semicolons and quoted where needed. The first line names
 * the file, the second its columns, and the last one has the number of lines and the sums.
 */
import type { BatchLineKind, Money, RecordType, TransactionType } from '@tollgate/plugin-kit'
import { currencyOf } from '@tollgate/schemas'

export const columns = [
  ...['Type', 'Transaction', 'Merchant', 'Batch', 'Date', 'Cashflow', 'Status', 'Id', 'Ordered'],
  ...['Amount', 'Currency', 'Settled', 'SettledCurrency', 'Fee', 'Rate', 'Key', 'Reference'],
  ...['Order', 'ShortId', 'Brand', 'Last4', 'Descriptor', 'Reason', 'Dispute', 'ValueDate'],
  ...['Payout', 'Text'],
] as const

export type Cells = { readonly [Column in (typeof columns)[number]]?: string }

type Line = {
  readonly cashflow: 'POS' | 'NEG'
  readonly amount: Money
}

/** A line of the file before it is written. */
export type RecordLine = Line & {
  readonly recordType: RecordType
  readonly transactionType: TransactionType
  readonly status: 'SUCCESS' | 'FAILED'
  readonly settled: Money
  readonly fee: bigint
  readonly rate?: string
  /** Cells that name and describe the payment. */
  readonly about: Cells
}
export type PayoutLine = Line & { readonly kind: BatchLineKind; readonly text?: string }

export const isRecord = (line: RecordLine | PayoutLine): line is RecordLine => 'recordType' in line

export const signed = (cashflow: 'POS' | 'NEG', minor: bigint): bigint =>
  cashflow === 'POS' ? minor : -minor

type Head = { readonly merchant: string; readonly day: string; readonly date: string }

/** The text of a file, line by line. */
export class FileText {
  readonly #head: Head
  readonly #totals = new Map<string, bigint>()
  #lines = 0

  /** @param head the merchant's number, the business day, and the day of settlement */
  constructor(head: Head) {
    this.#head = head
  }

  /** Begins the file. */
  start(): string {
    const { merchant, day } = this.#head
    return `${textOf(['FILE', `${merchant} of ${day}`])}${textOf(columns)}`
  }

  line(line: RecordLine | PayoutLine): string {
    this.#lines += 1
    if (!isRecord(line)) return this.#textOf(payoutCells(this.#head, line))
    const { minor, currency } = line.settled
    const total = (this.#totals.get(currency) ?? 0n) + signed(line.cashflow, minor)
    this.#totals.set(currency, total)
    return this.#textOf(recordCells(this.#head, line, this.#lines))
  }

  /** The last line, with the number of lines and the sums of the records. */
  end(): string {
    const sums = [...this.#totals].map(([currency, minor]) => `${currency}=${minor}`)
    return textOf(['END', String(this.#lines), ...sums])
  }

  #textOf(cells: Cells): string {
    return textOf(columns.map((column) => cells[column] ?? ''))
  }
}

/** A whole file. */
export function fileOf(head: Head, lines: readonly (RecordLine | PayoutLine)[]): string {
  const file = new FileText(head)
  const written = lines.map((line) => file.line(line)).join('')
  return `${file.start()}${written}${file.end()}`
}

const textOf = (cells: readonly string[]): string => `${cells.map(quoted).join(';')}\n`

const recordCells = ({ merchant, day, date }: Head, line: RecordLine, number: number): Cells => ({
  Type: line.recordType,
  Transaction: line.transactionType,
  Merchant: merchant,
  Batch: `${day} ${line.settled.currency}`,
  Date: date,
  Cashflow: line.cashflow,
  Status: line.status,
  // A letter between the digits: sixteen in a row can look like a card number.
  Id: `${day}-L${number}`,
  Amount: decimal(line.amount),
  Currency: line.amount.currency,
  Settled: decimal(line.settled),
  SettledCurrency: line.settled.currency,
  Fee: decimal({ minor: line.fee, currency: line.settled.currency }),
  ...(line.rate === undefined ? {} : { Rate: line.rate }),
  ...line.about,
})

const payoutCells = ({ merchant, day, date }: Head, line: PayoutLine): Cells => ({
  Type: 'BATCH',
  Transaction: line.kind,
  Merchant: merchant,
  Batch: `${day} ${line.amount.currency}`,
  Date: date,
  Cashflow: line.cashflow,
  Amount: decimal(line.amount),
  Currency: line.amount.currency,
  ...(line.kind === 'payout'
    ? { ValueDate: date, Payout: `PAYOUT-${day}-${line.amount.currency}` }
    : {}),
  ...(line.text === undefined ? {} : { Text: line.text }),
})

/** A line break would end the line, so control characters of a merchant's text become spaces. */
function quoted(cell: string): string {
  const text = cell.toWellFormed().replaceAll(/\p{Cc}/gu, ' ')
  return /[;"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Cells of a line; undefined when a quotation mark is left open or followed by text. */
export function cellsOf(line: string): string[] | undefined {
  if (!line.includes('"')) return line.split(';')
  const cells: string[] = []
  let at = 0
  for (;;) {
    const end = line[at] === '"' ? closingQuote(line, at + 1) + 1 : semicolonFrom(line, at)
    if (end === 0) return undefined
    const cell = line.slice(at, end)
    cells.push(line[at] === '"' ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    if (end === line.length) return cells
    if (line[end] !== ';') return undefined
    at = end + 1
  }
}

function semicolonFrom(line: string, at: number): number {
  const found = line.indexOf(';', at)
  return found === -1 ? line.length : found
}

/** The quotation mark that is not doubled; -1 without one. */
function closingQuote(line: string, from: number): number {
  for (let at = line.indexOf('"', from); at !== -1; at = line.indexOf('"', at + 2)) {
    if (line[at + 1] !== '"') return at
  }
  return -1
}

/** `12.34`: never negative, with the decimals of the currency. */
export function decimal({ minor, currency }: Money): string {
  const exponent = currencyOf(currency)?.exponent ?? 2
  const digits = String(minor).padStart(exponent + 1, '0')
  const whole = digits.slice(0, digits.length - exponent)
  return exponent === 0 ? whole : `${whole}.${digits.slice(-exponent)}`
}

/** Reads `12.34`, and `12.340` as the same. Undefined: no amount of the currency. */
export function minorOf(text: string, currency: string): bigint | undefined {
  const parts = /^([0-9]{1,15})(?:\.([0-9]{1,10}))?$/.exec(text)
  const exponent = currencyOf(currency)?.exponent
  if (parts === null || exponent == null) return undefined
  const [, whole = '', decimals = ''] = parts
  if (/[1-9]/.test(decimals.slice(exponent))) return undefined
  return BigInt(whole + decimals.slice(0, exponent).padEnd(exponent, '0'))
}
