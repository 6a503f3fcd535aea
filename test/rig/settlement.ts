/** An acquirer with settlement files: a small CSV format, written and read here. */
import { createHash } from 'node:crypto'
import {
  type Context,
  defineConnector,
  definePlugin,
  linesIn,
  type RemoteFile,
  type Settlement,
  type SettlementItem,
  settings,
} from '@tollgate/plugin-kit'
import { currencyOf } from '@tollgate/schemas'
import { type ScriptedAcquirer, scriptedAcquirer, scriptedName } from './acquirer.ts'
import { startGateway, type TestGateway, type TestGatewayOptions, until } from './gateway.ts'

/** Columns of a record, by header name. `settled` and `amount` look like `12.34`. */
export const recordColumns = [
  ...['type', 'transaction', 'merchant', 'batch', 'date', 'cashflow', 'status', 'id', 'requested'],
  ...['amount', 'currency', 'settled', 'settledCurrency', 'fee', 'rate', 'paymentId', 'key'],
  ...['ref1', 'ref2', 'ref3', 'mtid', 'invoice', 'shortId', 'brand', 'last4', 'holder', 'bank'],
  ...['descriptor', 'reason', 'reference', 'valueDate', 'payout', 'description'],
] as const

export type Cells = { readonly [Column in (typeof recordColumns)[number]]?: string }

/** A settled sale of 92.00 EUR. */
export const settled = (more: Cells = {}): Cells => ({
  type: 'SETTLED',
  transaction: 'DEBIT',
  merchant: 'MID-00001',
  date: '2026-03-31',
  cashflow: 'POS',
  status: 'SUCCESS',
  amount: '92.00',
  currency: 'EUR',
  ...more,
})

/** A line about a payout; `transaction` is its kind. */
export const batchLine = (transaction: string, amount: string, more: Cells = {}): Cells => ({
  type: 'BATCH',
  transaction,
  merchant: 'MID-00001',
  date: '2026-03-31',
  cashflow: 'NEG',
  amount,
  currency: 'EUR',
  ...more,
})

export type FileOptions = {
  readonly reference?: string
  /** Replaces the trailer; null: the file is cut off. */
  readonly trailer?: string | null
}

/** A file of the format, with a trailer that counts its lines and sums its records up. */
export function settlementFile(lines: readonly Cells[], options: FileOptions = {}): Buffer {
  const { reference, trailer = trailerOf(lines) } = options
  return Buffer.from(
    [
      ...(reference === undefined ? [] : [`FILE;${reference}`]),
      recordColumns.join(';'),
      ...lines.map(lineOf),
      ...(trailer === null ? [] : [trailer]),
      '',
    ].join('\n'),
  )
}

export const lineOf = (cells: Cells): string =>
  recordColumns.map((column) => cells[column] ?? '').join(';')

function trailerOf(lines: readonly Cells[]): string {
  const totals = new Map<string, bigint>()
  const known = lines.filter(({ type = '' }) => recordTypes.has(type))
  for (const cells of known) {
    const currency = cells.settledCurrency ?? cells.currency ?? ''
    const minor = minorOf(cells.settled ?? cells.amount ?? '', currency) ?? 0n
    const signed = cells.cashflow === 'NEG' ? -minor : minor
    totals.set(currency, (totals.get(currency) ?? 0n) + signed)
  }
  const count = known.length + lines.filter(({ type }) => type === 'BATCH').length
  return ['END', count, ...[...totals].map(([code, minor]) => `${code}=${minor}`)].join(';')
}

const recordTypes = new Set(['SETTLED', 'CHARGEBACK', 'CHARGEBACK REVERSAL', 'FEE'])

/** Undefined: no amount. */
function minorOf(amount: string, currency: string): bigint | undefined {
  const parts = /^([0-9]+)(?:\.([0-9]+))?$/.exec(amount)
  const exponent = currencyOf(currency)?.exponent
  if (parts === null || exponent == null) return undefined
  const [, whole = '', decimals = ''] = parts
  if (/[1-9]/.test(decimals.slice(exponent))) return undefined
  return BigInt(whole + decimals.slice(0, exponent).padEnd(exponent, '0'))
}

async function* parse(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<SettlementItem> {
  let columns: readonly string[] | undefined
  let line = 0
  for await (const text of linesIn(bytes)) {
    line += 1
    const cells = text.split(';')
    const [first = ''] = cells
    if (first === 'FILE') yield { is: 'file', reference: cells[1] ?? '' }
    else if (first === 'END') yield endOf(cells)
    else if (columns === undefined) columns = cells
    else if (text !== '') {
      const values: Record<string, string> = {}
      for (const [at, column] of columns.entries()) {
        if (cells[at] !== undefined && cells[at] !== '') values[column] = cells[at]
      }
      yield itemOf(values as Cells, line, text)
    }
  }
}

function endOf([, count = '', ...totals]: readonly string[]): SettlementItem {
  return {
    is: 'end',
    count: Number(count),
    totals: totals.map((total) => {
      const [currency = '', minor = ''] = total.split('=')
      return { currency, minor: BigInt(minor) }
    }),
  }
}

function itemOf(cells: Cells, line: number, text: string): SettlementItem {
  const { type = '' } = cells
  if (!recordTypes.has(type) && type !== 'BATCH') return { is: 'other', line, text, type }
  const { currency = '', settledCurrency = currency } = cells
  const minor = minorOf(cells.amount ?? '', currency)
  const settledMinor = minorOf(cells.settled ?? cells.amount ?? '', settledCurrency)
  const fee = cells.fee === undefined ? null : minorOf(cells.fee, settledCurrency)
  if (minor === undefined || settledMinor === undefined || fee === undefined) {
    return { is: 'bad', line, why: `an amount is no decimal number: ${cells.amount ?? ''}` }
  }
  const common = {
    ...{ line, text },
    merchantNumber: cells.merchant ?? '',
    ...(cells.batch !== undefined && { batch: cells.batch }),
    date: cells.date ?? '',
    cashflow: cells.cashflow as 'POS',
    amount: { minor, currency },
  }
  if (type === 'BATCH') {
    return {
      ...common,
      is: 'batch',
      kind: cells.transaction as 'payout',
      ...given({
        valueDate: cells.valueDate,
        payoutId: cells.payout,
        description: cells.description,
      }),
    }
  }
  return {
    ...common,
    is: 'record',
    recordType: type as 'SETTLED',
    transactionType: cells.transaction as 'DEBIT',
    status: cells.status as 'SUCCESS',
    settled: { minor: settledMinor, currency: settledCurrency },
    ...(fee !== null && { fee }),
    refs: [cells.ref1, cells.ref2, cells.ref3],
    ...given({
      settlementId: cells.id,
      requestedAt: cells.requested,
      fxRate: cells.rate,
      paymentId: cells.paymentId,
      key: cells.key,
      merchantTransactionId: cells.mtid,
      merchantInvoiceId: cells.invoice,
      shortId: cells.shortId,
      brand: cells.brand,
      last4: cells.last4,
      holder: cells.holder,
      bankCode: cells.bank,
      descriptor: cells.descriptor,
      reason: cells.reason,
      reference: cells.reference,
    }),
  }
}

const given = (values: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

export const sampleSettlement: Settlement = {
  format: 'SAMPLE-CSV',
  institute: 'Sample Clearing',
  zone: 'Europe/Berlin',
  merchantOf: ({ merchantNumber }) => String(merchantNumber),
  refs: ['reference'],
  parse,
}

export type Fetch = (cursor: string | undefined, context: Context) => AsyncIterable<RemoteFile>

/** The scripted acquirer with accounts of a merchant number, and settlement files. */
export function settlingAcquirer(
  more: Partial<Settlement> & { readonly fetch?: Fetch } = {},
): ScriptedAcquirer {
  const acquirer = scriptedAcquirer()
  const [connector] = acquirer.plugin.connectors!
  const settling = defineConnector({
    ...connector!,
    account: settings('Sample account', [
      ['merchantNumber', { kind: 'text', min: 1, max: 64 }, 'R', 'request', 'none', 'Number.'],
    ]),
    settlement: { ...sampleSettlement, ...more } as never,
  })
  return {
    ...acquirer,
    plugin: definePlugin({ name: scriptedName, contract: 1, connectors: [settling as never] }),
  }
}

export type FileState = { id: string; state: string; refused_why: string | null }

export type SettlingRun = TestGateway & {
  readonly acquirer: ScriptedAcquirer
  /** Of the first channel, with the number MID-00001. */
  readonly account: string
  /** Another channel with an account of this number. */
  addAccount(merchantNumber: string): Promise<{ channel: string; account: string }>
  /** Imports a file and waits until its lines are decided. */
  taken(bytes: Uint8Array, more?: { skipBadLines?: boolean; account?: string }): Promise<string>
  /** The state of a file, once it has no next step. */
  read(id: string): Promise<FileState>
}

/** Bytes as a stream, in chunks of a size. */
export async function* streamed(bytes: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

export const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

export async function startSettling(
  options: TestGatewayOptions & { readonly acquirer?: ScriptedAcquirer } = {},
): Promise<SettlingRun> {
  const { acquirer = settlingAcquirer(), ...more } = options
  const run = await startGateway({ ...more, plugins: [acquirer.plugin] })
  const accountAt = (channelId: string, merchantNumber: string) =>
    run.gateway.entities.createAccount({
      channelId,
      connector: scriptedName,
      mode: 'EXTERNAL',
      settings: { merchantNumber },
    })
  const account = await accountAt(run.channel, 'MID-00001')
  const read = (id: string) =>
    until(async () => {
      const [row] = await run.sql<FileState>(
        `select id, state, refused_why from tollgate.settlement_file
         where id = $1 and state in ('done', 'refused', 'repeated')`,
        [id],
      )
      return row
    })
  return {
    ...run,
    acquirer,
    account,
    async addAccount(merchantNumber) {
      const channel = await run.gateway.entities.create({
        kind: 'channel',
        name: `at ${sha256(Buffer.from(merchantNumber)).toString('hex', 0, 4)}`,
        parentId: run.merchant,
      })
      return { channel, account: await accountAt(channel, merchantNumber) }
    },
    read,
    async taken(bytes, { skipBadLines = false, account: accountId = account } = {}) {
      const { id } = await run.gateway.settlement.import(streamed(bytes), {
        accountId,
        skipBadLines,
      })
      await read(id)
      return id
    },
  }
}
