import { currencyOf } from '@tollgate/schemas'
import type { Money } from '../../outcome.ts'
import type { BatchLine, SettlementItem, SettlementRecord } from '../../settlement.ts'

const recordTypes = ['SETTLED', 'CHARGEBACK', 'CHARGEBACK REVERSAL', 'FEE']
const transactionTypes = [
  ...['DEBIT', 'CREDIT', 'REFUND', 'BATCH', 'MONTHLY', 'SUBMERCHANT', 'PAYMENT_FACILITATOR'],
  ...['AUTH_FEE', 'CAPTURE_FEE', 'CANCEL_FEE', 'REFUND_FEE'],
]
const batchKinds = [
  ...['payout', 'opening', 'closing', 'reserve-held', 'reserve-released', 'adjustment', 'tax'],
  ...['transfer', 'fee'],
]
const texts = {
  settlementId: 64,
  merchantTransactionId: 255,
  merchantInvoiceId: 255,
  key: 255,
  paymentId: 64,
  shortId: 64,
  brand: 16,
  last4: 4,
  holder: 128,
  bankCode: 12,
  descriptor: 128,
  reason: 64,
  reference: 255,
} as const

/** What the engine does with a file: takes it, or refuses all of it. */
export type Reading =
  | { readonly is: 'taken'; readonly items: readonly SettlementItem[] }
  | { readonly is: 'refused'; readonly why: string; readonly items: readonly SettlementItem[] }

/** An engine's reading of the elements of a file. */
export function readingOf(items: readonly SettlementItem[], thrown?: unknown): Reading {
  const why =
    thrown !== undefined ? `parse threw ${nameOf(thrown)}` : (wrongOrder(items) ?? wrongSums(items))
  return why === undefined ? { is: 'taken', items } : { is: 'refused', why, items }
}

const nameOf = (thrown: unknown) =>
  thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)

function wrongOrder(items: readonly SettlementItem[]): string | undefined {
  for (const item of items) {
    const why = wrongIn(item)
    if (why !== undefined) return 'line' in item ? `line ${item.line}: ${why}` : why
  }
  const ends = items.filter(({ is }) => is === 'end').length
  if (ends === 0) return 'the file is cut off: no element is the end'
  if (ends > 1 || items.at(-1)?.is !== 'end') return 'lines follow the end of the file'
  const references = items.filter(({ is }) => is === 'file').length
  return references > 1 ? 'the file has two references' : undefined
}

/** Why an element makes the engine refuse the file. */
export function wrongIn(item: SettlementItem): string | undefined {
  switch (item.is) {
    case 'file':
      return isText(item.reference, 1, 255) ? undefined : 'reference must have 1 to 255 characters'
    case 'record':
      return wrongLine(item) ?? wrongRecord(item)
    case 'batch':
      return wrongLine(item) ?? wrongBatchLine(item)
    case 'other':
      return undefined
    case 'bad':
      return item.why
    case 'end': {
      const { count = 0, totals = [] } = item
      if (!Number.isSafeInteger(count) || count < 0) return 'count must be a whole number'
      const areSums = totals.every((sum) => isCurrency(sum.currency) && isBigint(sum.minor))
      return areSums ? undefined : 'totals must be sums in minor units by currency'
    }
    default:
      return 'the element has no known form'
  }
}

function wrongLine(item: SettlementRecord | BatchLine): string | undefined {
  const { line, text, merchantNumber, batch, date, cashflow, amount } = item
  if (!Number.isSafeInteger(line) || line < 1) return 'line must be a whole number from 1'
  if (typeof text !== 'string') return 'text must be the line as it came'
  if (!isText(merchantNumber, 5, 64)) return 'merchantNumber must have 5 to 64 characters'
  if (batch !== undefined && !isText(batch, 0, 64)) return 'batch must have at most 64 characters'
  if (!isDay(date)) return 'date must be a calendar day such as 2026-03-31'
  if (cashflow !== 'POS' && cashflow !== 'NEG') return 'cashflow must be POS or NEG'
  return isAmount(amount) ? undefined : 'amount must be minor units, never negative, of a currency'
}

function wrongRecord(record: SettlementRecord): string | undefined {
  if (!recordTypes.includes(record.recordType)) return 'there is no such recordType'
  if (!transactionTypes.includes(record.transactionType)) return 'there is no such transactionType'
  if (record.status !== 'SUCCESS' && record.status !== 'FAILED') return 'there is no such status'
  const { settled, fee, fxRate, requestedAt, refs = [] } = record
  if (!isAmount(settled)) return 'settled must be minor units, never negative, of a currency'
  if (fee !== undefined && (!isBigint(fee) || fee < 0n)) return 'fee must be minor units'
  if (fxRate !== undefined && !isRate(fxRate)) return 'fxRate must be a decimal number'
  if (requestedAt !== undefined && !isWallTime(requestedAt)) {
    return 'requestedAt must look like 2026-03-31 14:05:00'
  }
  const areTexts = refs.every((ref) => ref === undefined || isText(ref, 0, 64))
  if (refs.length > 3 || !areTexts) return 'refs must be at most three texts'
  for (const [name, most] of Object.entries(texts)) {
    const value = record[name as keyof typeof texts]
    if (value !== undefined && !isText(value, 0, most)) {
      return `${name} must be a text of at most ${most} characters`
    }
  }
  return undefined
}

function wrongBatchLine({ kind, valueDate }: BatchLine): string | undefined {
  if (!batchKinds.includes(kind)) return 'there is no such kind of batch line'
  return valueDate === undefined || isDay(valueDate) ? undefined : 'valueDate must be a day'
}

function wrongSums(items: readonly SettlementItem[]): string | undefined {
  const end = items.at(-1)
  if (end?.is !== 'end') return undefined
  const lines = items.filter(({ is }) => is === 'record' || is === 'batch').length
  if (end.count !== undefined && end.count !== lines) {
    return `the trailer counts ${end.count} lines, and the file has ${lines}`
  }
  if (end.totals === undefined) return undefined
  const sums = new Map<string, bigint>()
  for (const item of items) {
    if (item.is !== 'record') continue
    const { minor, currency } = item.settled
    const signed = item.cashflow === 'POS' ? minor : -minor
    sums.set(currency, (sums.get(currency) ?? 0n) + signed)
  }
  for (const { currency, minor } of end.totals) {
    sums.set(currency, (sums.get(currency) ?? 0n) - minor)
  }
  const wrong = [...sums].find(([, rest]) => rest !== 0n)
  return wrong === undefined ? undefined : `the records have another sum of ${wrong[0]}`
}

const isBigint = (value: unknown): value is bigint => typeof value === 'bigint'
const isText = (value: unknown, least: number, most: number): boolean =>
  typeof value === 'string' && value.trim().length >= least && [...value.trim()].length <= most
const isCurrency = (code: unknown): boolean =>
  typeof code === 'string' && currencyOf(code)?.exponent != null
const isAmount = (money: Money | undefined): boolean =>
  isBigint(money?.minor) && money.minor >= 0n && isCurrency(money.currency)
const isRate = (rate: unknown): boolean =>
  typeof rate === 'string' && /^[0-9]{1,10}(?:\.[0-9]{1,11})?$/.test(rate) && Number(rate) !== 0

function isDay(day: unknown): boolean {
  if (typeof day !== 'string' || !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(day)) return false
  const at = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 10) === day
}

const isWallTime = (time: unknown): boolean =>
  typeof time === 'string' &&
  isDay(time.slice(0, 10)) &&
  /^ ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$/.test(time.slice(10))
