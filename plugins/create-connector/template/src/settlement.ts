/** The settlement files of Acme Bank: CSV with the names of its columns in the second line. */
import {
  currencyOf,
  linesIn,
  type Money,
  type Settlement,
  type SettlementItem,
  wrongSeparator,
} from '@tollgate/plugin-kit'

// DECIDE(files): the zone of the institute, its numbers of merchants, and a `fetch` if it has a server.
export const settlement: Settlement<
  Readonly<Record<string, unknown>>,
  { readonly user: string }
> = {
  format: 'ACME-BANK-CSV',
  institute: 'Acme Bank',
  zone: 'Europe/Berlin',
  refs: ['id'],
  merchantOf: ({ user }) => user,
  parse,
}

async function* parse(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<SettlementItem> {
  let columns: readonly string[] | undefined
  let line = 0
  for await (const text of linesIn(bytes)) {
    line += 1
    const cells = text.split(';')
    if (line === 1) yield fileIn(cells)
    else if (columns === undefined) columns = cells
    else if (cells[0] === 'END') yield endIn(cells, line)
    else if (cells.length !== columns.length) {
      yield { is: 'bad', line, why: `the line has ${cells.length} cells` }
    } else {
      yield recordIn(Object.fromEntries(columns.map((name, at) => [name, cells[at]])), line, text)
    }
  }
}

function fileIn([mark = '', reference = '']: readonly string[]): SettlementItem {
  if (mark === 'FILE' && reference !== '') return { is: 'file', reference }
  const why = 'the first line must be FILE with the name of the file'
  return { is: 'bad', line: 1, why: wrongSeparator(mark, ';') ?? why }
}

// DECIDE(trailer): what proves that a file is complete?
function endIn([, count = '', ...sums]: readonly string[], line: number): SettlementItem {
  const totals = sums.map((sum) => /^([A-Z]{3})=(-?[0-9]{1,18})$/.exec(sum))
  if (!/^[0-9]{1,9}$/.test(count) || totals.includes(null)) {
    return { is: 'bad', line, why: 'END must have the number of lines, and sums such as EUR=1234' }
  }
  return {
    is: 'end',
    count: Number(count),
    totals: totals.map((total) => ({ currency: total![1]!, minor: BigInt(total![2]!) })),
  }
}

type Cells = Readonly<Record<string, string | undefined>>

// DECIDE(lines): the types of lines, the names of columns, and gross or net amounts.
function recordIn(cells: Cells, line: number, text: string): SettlementItem {
  const { Type: type = '', Merchant: merchantNumber = '', Currency: currency = '' } = cells
  if (type !== 'SALE' && type !== 'REFUND') return { is: 'other', line, text, type, merchantNumber }
  const amount = moneyOf(cells.Amount, currency)
  const fee = moneyOf(cells.Fee, currency)
  if (amount === undefined || fee === undefined) {
    return { is: 'bad', line, why: 'Amount and Fee must be decimal numbers such as 12.34' }
  }
  return {
    is: 'record',
    line,
    text,
    merchantNumber,
    date: cells.Date ?? '',
    recordType: 'SETTLED',
    transactionType: type === 'SALE' ? 'DEBIT' : 'REFUND',
    cashflow: type === 'SALE' ? 'POS' : 'NEG',
    status: 'SUCCESS',
    amount,
    settled: amount,
    fee: fee.minor,
    refs: [cells.Id],
    ...(cells.Ordered === undefined ? {} : { requestedAt: cells.Ordered }),
    ...(cells.Last4 === undefined ? {} : { last4: cells.Last4 }),
  }
}

/** `12.34` in the currency's own decimals. */
function moneyOf(text = '', currency: string): Money | undefined {
  const exponent = currencyOf(currency)?.exponent
  const [, whole = '', decimals = ''] = /^([0-9]{1,12})(?:\.([0-9]{1,4}))?$/.exec(text) ?? []
  if (exponent == null || whole === '' || decimals.length !== exponent) return undefined
  return { minor: BigInt(whole + decimals), currency }
}
