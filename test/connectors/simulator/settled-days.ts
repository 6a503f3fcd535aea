/** The days that the simulated acquirer settled for a merchant: their files and what is in them. */
import assert from 'node:assert/strict'
import type {
  BatchLine,
  Operation,
  RemoteFile,
  SettlementItem,
  SettlementRecord,
} from '@tollgate/plugin-kit'
import { parse } from '../../../connectors/simulator/settlement/parse.ts'
import { collected, type Merchant } from './support.ts'

export const dayMs = 24 * 60 * 60_000
export const settlementOf = (merchant: Merchant) => merchant.connector.settlement!

export async function filesOf(merchant: Merchant, cursor?: string): Promise<RemoteFile[]> {
  return collected(settlementOf(merchant).fetch!(cursor, merchant.context()))
}

export async function bytesOf(file: RemoteFile): Promise<Buffer> {
  return Buffer.concat(await collected(await file.open()))
}

async function* streamed(bytes: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

export const itemsIn = (bytes: Uint8Array, size?: number): Promise<SettlementItem[]> =>
  collected(parse(streamed(bytes, size)))

export const recordsIn = (items: readonly SettlementItem[]): SettlementRecord[] =>
  items.filter((item) => item.is === 'record')
const batchLinesIn = (items: readonly SettlementItem[]): BatchLine[] =>
  items.filter((item) => item.is === 'batch')

/** Opening + signed gross − fees + other lines = payout + closing, for every batch; and the trailer. */
export function mustAddUp(items: readonly SettlementItem[]): void {
  const sums = new Map<string, bigint>()
  const totals = new Map<string, bigint>()
  const add = (to: Map<string, bigint>, name: string, minor: bigint) =>
    to.set(name, (to.get(name) ?? 0n) + minor)
  const signed = (line: SettlementRecord | BatchLine, minor: bigint) =>
    line.cashflow === 'POS' ? minor : -minor
  for (const record of recordsIn(items)) {
    const minor = signed(record, record.settled.minor)
    // A record that failed is not paid out.
    add(sums, record.batch!, (record.status === 'FAILED' ? 0n : minor) - (record.fee ?? 0n))
    add(totals, record.settled.currency, minor)
  }
  for (const line of batchLinesIn(items)) {
    const minor = signed(line, line.amount.minor)
    add(sums, line.batch!, line.kind === 'payout' || line.kind === 'closing' ? -minor : minor)
  }
  for (const [batch, sum] of sums) assert.equal(sum, 0n, `${batch} adds up`)
  const end = items.at(-1)
  assert.ok(end?.is === 'end')
  assert.equal(end.count, recordsIn(items).length + batchLinesIn(items).length)
  const given = new Map(end.totals?.map(({ currency, minor }) => [currency, minor]))
  assert.deepEqual(given, totals)
}

/** The records of the payments of a day, and its file. */
export async function settledDay(merchant: Merchant, cursor?: string) {
  merchant.clock.ms += dayMs
  const files = await filesOf(merchant, cursor)
  const items = await itemsIn(await bytesOf(files.at(-1)!))
  mustAddUp(items)
  return { files, items, records: recordsIn(items), batchLines: batchLinesIn(items) }
}

export async function pay(merchant: Merchant, ...operations: Operation[]): Promise<void> {
  for (const operation of operations) {
    const outcome = await merchant.run(operation)
    assert.equal(
      outcome.is,
      'approved',
      JSON.stringify(outcome, (_, v) => (typeof v === 'bigint' ? String(v) : v)),
    )
  }
}

export const shown = ({ recordType, transactionType, cashflow, amount, fee }: SettlementRecord) => [
  recordType,
  transactionType,
  cashflow,
  amount.minor,
  fee,
]
export const amountsOf = (lines: readonly BatchLine[]) =>
  lines.map(({ kind, cashflow, amount: { minor, currency } }) => [
    kind,
    cashflow === 'POS' ? minor : -minor,
    currency,
  ])
