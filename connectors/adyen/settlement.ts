/**
 * Settlement details reports: CSV in UTF-8 with a line of column names. A report belongs to one batch, and ends with
 * the payout or with the balance that goes on to the next batch.
 */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  type BatchLineKind,
  currencyOf,
  type Money,
  type RecordType,
  type SettlementItem,
  type TransactionType,
  textIn,
  wrongSeparator,
} from '@tollgate/plugin-kit'
import { parse as csvReader } from 'csv-parse'
import { disputeReference } from './dispute.ts'
import { readReference } from './references.ts'

type Cells = Readonly<Record<string, string>>

/** Lines about one payment. */
const records: Readonly<Record<string, readonly [RecordType, TransactionType]>> = {
  Settled: ['SETTLED', 'DEBIT'],
  SettledInInstallments: ['SETTLED', 'DEBIT'],
  Refunded: ['SETTLED', 'REFUND'],
  Chargeback: ['CHARGEBACK', 'DEBIT'],
  SecondChargeback: ['CHARGEBACK', 'DEBIT'],
  ChargebackReversed: ['CHARGEBACK REVERSAL', 'DEBIT'],
}

/** Lines about the batch, and money that comes or goes without a payment of ours: `[for a debit, for a credit]`. */
const batchLines: Readonly<Record<string, readonly [BatchLineKind, BatchLineKind]>> = {
  Fee: ['fee', 'fee'],
  MiscCosts: ['fee', 'fee'],
  PaymentCost: ['fee', 'fee'],
  InvoiceDeduction: ['fee', 'fee'],
  MerchantPayout: ['payout', 'payout'],
  DepositCorrection: ['reserve-held', 'reserve-released'],
  Balancetransfer: ['transfer', 'transfer'],
  RefundedReversed: ['adjustment', 'adjustment'],
  SettledReversed: ['adjustment', 'adjustment'],
  ManualCorrected: ['adjustment', 'adjustment'],
  MatchedStatement: ['adjustment', 'adjustment'],
  BankInstructionReturned: ['adjustment', 'adjustment'],
  EpaPaid: ['adjustment', 'adjustment'],
  PaidOut: ['adjustment', 'adjustment'],
  PaidOutReversed: ['adjustment', 'adjustment'],
}

const lastTypes: ReadonlySet<string> = new Set(['MerchantPayout', 'Balancetransfer'])

const brands: Readonly<Record<string, string>> = {
  visa: 'VISA',
  mc: 'MASTER',
  amex: 'AMEX',
  diners: 'DINERS',
  discover: 'DISCOVER',
  jcb: 'JCB',
  cup: 'UNIONPAY',
  maestro: 'MAESTRO',
}

/** Whether the last line of a report has arrived, with its end. */
export function endsWithPayout(body: Buffer): boolean {
  const tail = body.subarray(-longestLine).toString('utf8')
  if (!/[\r\n]$/.test(tail)) return false
  const line =
    tail
      .trimEnd()
      .split(/[\r\n]/)
      .at(-1) ?? ''
  return line.split(',').some((cell) => lastTypes.has(cell.replaceAll('"', '')))
}

/** No line of a report comes near. A file without line breaks must not fill the memory. */
const longestLine = 65_536

type Read = { readonly raw: string; readonly record: readonly string[] }

/** Reads a settlement details report. */
export async function* parse(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<SettlementItem> {
  const reader = csvReader({
    raw: true,
    relax_column_count: true,
    max_record_size: longestLine,
  })
  let isEnded = false
  const texts = (async function* () {
    for await (const text of textIn(bytes)) {
      isEnded = text.endsWith('\n')
      yield text
    }
  })()
  const reading = pipeline(Readable.from(texts), reader)
  reading.catch(() => {})
  let columns: readonly string[] | undefined
  let line = 1
  let last = ''
  /** Of the last cells of the last two lines. */
  let lengths: readonly [number, number] = [-1, -1]
  let isNamed = false
  for await (const { raw, record } of reader as AsyncIterable<Read>) {
    const at = line
    line += raw.split('\n').length - 1
    if (columns === undefined) {
      columns = record
      const missing = needed.filter((name) => !record.includes(name))
      const why = `the column ${missing.join(', ')} is missing`
      if (missing.length > 0) yield bad(at, wrongSeparator(raw, ',') ?? why)
      continue
    }
    if (record.length !== columns.length) {
      yield bad(
        at,
        `the line has ${record.length} cells, and the file has ${columns.length} columns`,
      )
      continue
    }
    const cells = Object.fromEntries(columns.map((name, no) => [name, record[no] ?? '']))
    last = cells.Type ?? ''
    lengths = [lengths[1], record.at(-1)!.length]
    if (!isNamed && cells['Batch Number']) {
      isNamed = true
      yield { is: 'file', reference: `${cells['Merchant Account']} batch ${cells['Batch Number']}` }
    }
    yield* itemsOf(cells, at, raw.replace(/\n$/, ''))
  }
  await reading
  // The last cells, such as dates, are alike in all lines: one without a line end is whole if it is as long as the other.
  if (lastTypes.has(last) && (isEnded || lengths[0] === lengths[1])) yield { is: 'end' }
}

const needed = [
  ...['Merchant Account', 'Psp Reference', 'Merchant Reference', 'Creation Date', 'Type'],
  ...['Modification Reference', 'Gross Currency', 'Gross Debit (GC)', 'Gross Credit (GC)'],
  ...['Net Currency', 'Net Debit (NC)', 'Net Credit (NC)'],
]

const bad = (line: number, why: string): SettlementItem => ({ is: 'bad', line, why })

function itemsOf(cells: Cells, line: number, text: string): readonly SettlementItem[] {
  const type = cells.Type ?? ''
  const merchantNumber = cells['Merchant Account'] ?? ''
  // Names of every object, such as `constructor`, are types of nothing.
  const record = Object.hasOwn(records, type) ? records[type] : undefined
  const kinds = Object.hasOwn(batchLines, type) ? batchLines[type] : undefined
  if (record === undefined && kinds === undefined) {
    return [{ is: 'other', line, text, type, merchantNumber }]
  }
  const date = (cells['Booking Date'] || cells['Creation Date'] || '').slice(0, 10)
  const common = { line, text, merchantNumber, date, ...given({ batch: cells['Batch Number'] }) }
  if (kinds !== undefined) return batchItem(cells, kinds, common)
  return recordItems(cells, record!, common)
}

type Common = {
  readonly line: number
  readonly text: string
  readonly merchantNumber: string
  readonly date: string
  readonly batch?: string
}

function batchItem(
  cells: Cells,
  [debit, credit]: readonly [BatchLineKind, BatchLineKind],
  common: Common,
): readonly SettlementItem[] {
  const net = signedOf(cells, 'Net Debit (NC)', 'Net Credit (NC)', cells['Net Currency'])
  if (typeof net === 'string') return [bad(common.line, net)]
  const kind = net.minor < 0n ? debit : credit
  // A payout leaves the batch, and reaches the merchant.
  const isIncoming = kind === 'payout' ? net.minor <= 0n : net.minor >= 0n
  return [
    {
      ...common,
      is: 'batch',
      kind,
      cashflow: isIncoming ? 'POS' : 'NEG',
      amount: absolute(net),
      ...(kind === 'payout' ? given({ payoutId: cells['Modification Reference'] }) : {}),
      ...given({ description: descriptionOf(cells) }),
    },
  ]
}

/** What a line without a payment of ours is about. */
const descriptionOf = (cells: Cells): string =>
  [cells.Type, cells['Modification Reference'], cells['Psp Reference']].filter(Boolean).join(' ')

function recordItems(
  cells: Cells,
  [recordType, transactionType]: readonly [RecordType, TransactionType],
  common: Common,
): readonly SettlementItem[] {
  const gross = signedOf(cells, 'Gross Debit (GC)', 'Gross Credit (GC)', cells['Gross Currency'])
  const net = signedOf(cells, 'Net Debit (NC)', 'Net Credit (NC)', cells['Net Currency'])
  const costs = costsOf(cells)
  for (const value of [gross, net, costs]) {
    if (typeof value === 'string') return [bad(common.line, value)]
  }
  const [amount, paid, fee] = [gross as Money, net as Money, costs as bigint]
  const cashflow = amount.minor < 0n ? 'NEG' : 'POS'
  // The report has net amounts: the costs are added again.
  const settled = absolute({ minor: paid.minor + fee, currency: paid.currency })
  const record: SettlementItem = {
    ...common,
    is: 'record',
    recordType,
    transactionType,
    cashflow,
    status: 'SUCCESS',
    amount: absolute(amount),
    settled,
    fee: fee < 0n ? 0n : fee,
    refs: [cells['Psp Reference'] || undefined, cells['Modification Reference'] || undefined],
    ...namesOf(cells, recordType),
    ...given({
      requestedAt: wallTimeOf(cells['Creation Date']),
      fxRate: rateOf(cells['Exchange Rate']),
      brand: brandOf(cells['Payment Method']),
    }),
  }
  if (fee >= 0n) return [record]
  // Costs that Adyen gives back.
  const back = { minor: -fee, currency: paid.currency }
  return [record, { ...common, is: 'batch', kind: 'fee', cashflow: 'POS', amount: back }]
}

const brandOf = (method = ''): string | undefined =>
  Object.hasOwn(brands, method) ? brands[method] : undefined

/**
 * By which names the payment is found. Adyen calls each payment of Tollgate by its key: another reference, such as the
 * order number of a payment link, is that of a payment that was not made here, even if one here has the same number.
 */
function namesOf(cells: Cells, recordType: RecordType): Readonly<Record<string, string>> {
  const type = cells.Type ?? ''
  const modification = cells['Modification Reference'] ?? ''
  const own = cells['Modification Merchant Reference'] ?? ''
  const merchant = cells['Merchant Reference'] ?? ''
  const isDispute = recordType !== 'SETTLED'
  // A dispute is about the payment, whatever was done to it before.
  const named = (isDispute ? undefined : readReference(own)) ?? readReference(merchant)
  return given({
    key: named?.key,
    settlementId: modification === '' ? undefined : `${type}.${modification}`.slice(0, 64),
    reference:
      isDispute && modification !== ''
        ? disputeReference(modification, type === 'SecondChargeback')
        : undefined,
  })
}

const costColumns = ['Commission (NC)', 'Markup (NC)', 'Scheme Fees (NC)', 'Interchange (NC)']

/** The costs of a line. Their sum is rounded, since each of them can have parts of the smallest unit. */
function costsOf(cells: Cells): bigint | string {
  const exponent = currencyOf(cells['Net Currency'] ?? '')?.exponent
  let sum = 0n
  for (const column of costColumns) {
    const parts = decimalIn(cells[column] || '0')
    if (parts === undefined || exponent == null) {
      return `${column} must be a decimal number such as 0.12`
    }
    sum += signed(parts, BigInt(parts.whole + parts.decimals.padEnd(mostDecimals, '0')))
  }
  const unit = 10n ** BigInt(mostDecimals - (exponent ?? 0))
  return (sum + (sum < 0n ? -unit : unit) / 2n) / unit
}

/** The credit less the debit of a line, or what is wrong with them. */
function signedOf(
  cells: Cells,
  debitColumn: string,
  creditColumn: string,
  currency = '',
): Money | string {
  const debit = minorOf(cells[debitColumn] || '0', currency)
  const credit = minorOf(cells[creditColumn] || '0', currency)
  if (debit === undefined) return `${debitColumn} must be a decimal number such as 12.34`
  if (credit === undefined) return `${creditColumn} must be a decimal number such as 12.34`
  return { minor: credit - debit, currency }
}

const absolute = ({ minor, currency }: Money): Money => ({
  minor: minor < 0n ? -minor : minor,
  currency,
})

const mostDecimals = 10

type Decimal = { readonly sign: string; readonly whole: string; readonly decimals: string }

function decimalIn(text: string): Decimal | undefined {
  const parts = /^(-?)([0-9]{1,15})(?:\.([0-9]{1,10}))?$/.exec(text)
  if (parts === null) return undefined
  const [, sign = '', whole = '', decimals = ''] = parts
  return { sign, whole, decimals }
}

const signed = ({ sign }: Decimal, value: bigint): bigint => (sign === '-' ? -value : value)

/** Reads `12.34`, and `-0.5`. Undefined: no amount of the currency. */
function minorOf(text: string, currency: string): bigint | undefined {
  const parts = decimalIn(text)
  const exponent = currencyOf(currency)?.exponent
  if (parts === undefined || exponent == null) return undefined
  const { whole, decimals } = parts
  if (/[1-9]/.test(decimals.slice(exponent))) return undefined
  return signed(parts, BigInt(whole + decimals.slice(0, exponent).padEnd(exponent, '0')))
}

const wallTimeOf = (time = ''): string | undefined =>
  /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/.test(time) ? time : undefined

const rateOf = (rate = ''): string | undefined => {
  const digits = /^\d{1,10}(?:\.\d{1,11})?/.exec(rate)?.[0]
  return digits === undefined || Number(digits) === 0 ? undefined : digits
}

const given = <Name extends string>(values: Readonly<Record<Name, string | undefined>>) =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  ) as { [N in Name]?: string }
