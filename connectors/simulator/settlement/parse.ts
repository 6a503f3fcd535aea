import { linesIn, type SettlementItem, wrongSeparator } from '@tollgate/plugin-kit'
import { type Cells, cellsOf, minorOf } from './format.ts'

const recordTypes = new Set(['SETTLED', 'CHARGEBACK', 'CHARGEBACK REVERSAL', 'FEE'])

/** Reads a settlement file of the simulator. */
export async function* parse(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<SettlementItem> {
  let columns: readonly string[] | undefined
  let line = 0
  for await (const text of linesIn(bytes)) {
    line += 1
    const cells = cellsOf(text)
    if (cells === undefined) yield { is: 'bad', line, why: 'a quotation mark is not closed' }
    else if (line === 1) yield fileOf(cells)
    else if (columns === undefined) columns = cells
    else if (cells[0] === 'END') yield endOf(cells, line)
    else if (cells.length !== columns.length) {
      const why = `the line has ${cells.length} cells, and the file has ${columns.length} columns`
      yield { is: 'bad', line, why }
    } else yield itemOf(valuesOf(columns, cells), line, text)
  }
}

function fileOf([mark = '', reference = '']: readonly string[]): SettlementItem {
  if (mark === 'FILE' && reference !== '') return { is: 'file', reference }
  const why = 'the first line must be FILE with the reference of the file'
  return { is: 'bad', line: 1, why: wrongSeparator(mark, ';') ?? why }
}

function endOf([, count = '', ...totals]: readonly string[], line: number): SettlementItem {
  const sums = totals.map((total) => /^([A-Z]{3})=(-?[0-9]{1,18})$/.exec(total))
  if (!/^[0-9]{1,9}$/.test(count) || sums.includes(null)) {
    return { is: 'bad', line, why: 'END must have the number of lines, and sums such as EUR=1234' }
  }
  return {
    is: 'end',
    count: Number(count),
    totals: sums.map((sum) => ({ currency: sum![1]!, minor: BigInt(sum![2]!) })),
  }
}

/** By the name of the column, so that new columns change nothing. */
function valuesOf(columns: readonly string[], cells: readonly string[]): Cells {
  const values: Record<string, string> = {}
  for (const [at, column] of columns.entries()) {
    if (cells[at] !== '') values[column] = cells[at]!
  }
  return values
}

function itemOf(cells: Cells, line: number, text: string): SettlementItem {
  const { Type: type = '', Currency: currency = '', Merchant: merchantNumber = '' } = cells
  const isBatch = type === 'BATCH'
  if (!recordTypes.has(type) && !isBatch) {
    return { is: 'other', line, text, type, merchantNumber }
  }
  const amounts = amountsOf(cells)
  if (typeof amounts === 'string') {
    return { is: 'bad', line, why: `${amounts} must be a decimal number such as 12.34` }
  }
  const common = {
    line,
    text,
    merchantNumber,
    ...given({ batch: cells.Batch }),
    date: cells.Date ?? '',
    cashflow: cells.Cashflow as 'POS',
    amount: { minor: amounts.amount, currency },
  }
  if (isBatch) {
    return {
      ...common,
      is: 'batch',
      kind: cells.Transaction as 'payout',
      ...given({ valueDate: cells.ValueDate, payoutId: cells.Payout, description: cells.Text }),
    }
  }
  return {
    ...common,
    is: 'record',
    recordType: type as 'SETTLED',
    transactionType: cells.Transaction as 'DEBIT',
    status: cells.Status as 'SUCCESS',
    settled: { minor: amounts.settled, currency: cells.SettledCurrency ?? '' },
    fee: amounts.fee,
    refs: [cells.Reference],
    ...given({
      settlementId: cells.Id,
      requestedAt: cells.Ordered,
      fxRate: cells.Rate,
      key: cells.Key,
      merchantTransactionId: cells.Order,
      shortId: cells.ShortId,
      brand: cells.Brand,
      last4: cells.Last4,
      descriptor: cells.Descriptor,
      reason: cells.Reason,
      reference: cells.Dispute,
    }),
  }
}

/** The amounts of a line in minor units, or the name of the column that has none. */
function amountsOf(cells: Cells) {
  const { Currency: currency = '', SettledCurrency: settledCurrency = '' } = cells
  const amount = minorOf(cells.Amount ?? '', currency)
  if (amount === undefined) return 'Amount'
  if (cells.Type === 'BATCH') return { amount, settled: amount, fee: 0n }
  const settled = minorOf(cells.Settled ?? '', settledCurrency)
  if (settled === undefined) return 'Settled'
  const fee = minorOf(cells.Fee ?? '0', settledCurrency)
  return fee === undefined ? 'Fee' : { amount, settled, fee }
}

const given = <Name extends string>(values: Record<Name, string | undefined>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [N in Name]?: string
  }
