/**
 * Checks what a connector reads from a settlement file, where it enters. A value of the wrong form makes its
 * line unreadable, and the text says which value and what is expected. Texts are masked before anything is
 * stored: card numbers and IBANs keep their last four characters, and names a digest.
 */
import type {
  BatchLine,
  Money,
  Settlement,
  SettlementItem,
  SettlementRecord,
} from '@tollgate/plugin-kit'
import { zoneNamed } from '../cron/zone.ts'
import { GatewayError } from '../errors.ts'
import { shortNo } from '../ids.ts'
import { type Digest, maskedAccounts, storedReference } from '../redaction/references.ts'
import {
  asItCame,
  day,
  member,
  minor,
  money,
  mostInOrder,
  nameOf,
  needed,
  plainText,
  rate,
  refsOf,
  text,
  Unreadable,
  wallTime,
} from './checked-value.ts'
import { balanceKeyOf, contentOf, keyOf } from './record-key.ts'
import type { CheckedItem, StagedBatchLine, StagedRecord } from './types.ts'

const recordTypes = new Set(['SETTLED', 'CHARGEBACK', 'CHARGEBACK REVERSAL', 'FEE'])
const transactionTypes = new Set([
  'DEBIT',
  'CREDIT',
  'REFUND',
  'BATCH',
  'MONTHLY',
  'SUBMERCHANT',
  'PAYMENT_FACILITATOR',
  'AUTH_FEE',
  'CAPTURE_FEE',
  'CANCEL_FEE',
  'REFUND_FEE',
])
const batchKinds = new Set([
  'payout',
  'opening',
  'closing',
  'reserve-held',
  'reserve-released',
  'adjustment',
  'tax',
  'transfer',
  'fee',
])
/** Kinds that a payout has once: another line of it is a correction. */
const balances = new Set(['payout', 'opening', 'closing'])
const cashflows = new Set(['POS', 'NEG'])
const statuses = new Set(['SUCCESS', 'FAILED'])

const longestWhy = 500
const longestType = 64

/** Checks the elements of one file. */
export class ItemCheck {
  readonly #zone: ReturnType<typeof zoneNamed>
  readonly #digest: Digest

  /** @throws RangeError for an unknown zone. */
  constructor({ zone }: Pick<Settlement, 'zone'>, digest: Digest) {
    this.#zone = zoneNamed(zone)
    this.#digest = digest
  }

  /**
   * An element of the wrong form is `bad`.
   *
   * @throws GatewayError when no digest can be made now; never because of the element.
   */
  checked(given: SettlementItem): CheckedItem {
    let line = 0
    try {
      line = lineOf(given)
      return this.#item(given, line)
    } catch (thrown) {
      if (thrown instanceof GatewayError) throw thrown
      const why = thrown instanceof Unreadable ? thrown.message : 'the element has no known form'
      return { is: 'bad', line, why }
    }
  }

  #item(given: SettlementItem, line: number): CheckedItem {
    switch (given.is) {
      case 'file':
        return { is: 'file', reference: this.#fileReference(given.reference) }
      case 'record':
        return { is: 'record', record: this.#record(given, line) }
      case 'batch':
        return { is: 'batch', batchLine: batchLineOf(given, line, this.#digest) }
      case 'other': {
        const type = maskedAccounts(String(given.type).trim()).slice(0, longestType)
        const why = `the connector does not know lines of type ${type === '' ? '(none)' : type}`
        return { is: 'exception', exception: { line, kind: 'UNKNOWN_TYPE', why } }
      }
      case 'bad':
        return { is: 'bad', line, why: maskedAccounts(String(given.why)).slice(0, longestWhy) }
      case 'end':
        return { is: 'end', count: countOf(given.count), totals: totalsOf(given.totals) }
      default:
        throw new Unreadable('the element has no known form')
    }
  }

  #record(given: SettlementRecord, line: number): StagedRecord {
    const amount = money('amount', given.amount)
    const settled = money('settled', given.settled)
    const settlementDate = day('date', given.date)
    const digest = this.#digest
    const batch = nameOf('batch', given.batch, 64, digest) ?? settlementDate
    const requestedAt = given.requestedAt === undefined ? null : wallTime(given.requestedAt)
    const order = (name: string, value: unknown) => asItCame(name, value, mostInOrder, digest)
    const [ref1 = null, ref2 = null, ref3 = null] = refsOf(given.refs, digest)
    const record = {
      merchantNumber: merchantNumberOf(given.merchantNumber),
      recordType: member('recordType', given.recordType, recordTypes),
      transactionType: member('transactionType', given.transactionType, transactionTypes),
      cashflow: member('cashflow', given.cashflow, cashflows),
      status: member('status', given.status, statuses),
      settlementId: asItCame('settlementId', given.settlementId, 64, digest),
      batch,
      settlementDate,
      requestedAt,
      amountMinor: amount.minor,
      currency: amount.currency,
      settledMinor: settled.minor,
      settledCurrency: settled.currency,
      feeMinor: given.fee === undefined ? null : minor('fee', given.fee),
      fxRate: rate(given.fxRate),
      namedPayment: paymentId(given.paymentId),
      namedKey: text('key', given.key, 1, 255),
      refs: [ref1, ref2, ref3],
      merchantTransactionId: order('merchantTransactionId', given.merchantTransactionId),
      merchantInvoiceId: order('merchantInvoiceId', given.merchantInvoiceId),
      shortNo: shortNumber(given.shortId),
      brand: text('brand', given.brand, 1, 16),
      last4: lastFour(given.last4),
      holder: text('holder', given.holder, 1, 128),
      bankCode: text('bankCode', given.bankCode, 1, 12),
      descriptor: text('descriptor', given.descriptor, 1, 128),
      reason: text('reason', given.reason, 1, 64),
      reference: this.#referenceOf(given.reference),
    } as const
    const { recordType, transactionType, cashflow, status } = record
    const kind = [recordType, transactionType, cashflow, status]
    const id = record.settlementId === null ? null : (given.settlementId ?? null)
    return {
      ...record,
      line: numbered(line),
      requested: requestedAt === null ? null : this.#instantOf(requestedAt),
      key: keyOf({
        kind,
        merchantNumber: given.merchantNumber,
        id,
        batch: named(given.batch, settlementDate),
        text: rawText(given.text),
      }),
      content: contentOf(Object.values(record).flat()),
    }
  }

  #fileReference(given: unknown): string {
    const reference = nameOf('reference', given, 255, this.#digest)
    if (reference === null) throw new Unreadable('reference is missing')
    return reference
  }

  #referenceOf(given: unknown): string | null {
    const reference = plainText('reference', given, 1, 255)
    return reference === null ? null : storedReference(reference, this.#digest)
  }

  #instantOf(wall: string): Date {
    const seconds = Date.parse(`${wall.replace(' ', 'T')}Z`) / 1000
    return new Date(this.#zone.instantOf(seconds) * 1000)
  }
}

function batchLineOf(given: BatchLine, line: number, digest: Digest): StagedBatchLine {
  const amount = money('amount', given.amount)
  const settlementDate = day('date', given.date)
  const batchLine = {
    merchantNumber: merchantNumberOf(given.merchantNumber),
    kind: member('kind', given.kind, batchKinds),
    cashflow: member('cashflow', given.cashflow, cashflows),
    batch: nameOf('batch', given.batch, 64, digest) ?? settlementDate,
    settlementDate,
    valueDate: given.valueDate === undefined ? null : day('valueDate', given.valueDate),
    payoutId: nameOf('payoutId', given.payoutId, 64, digest),
    minor: amount.minor,
    currency: amount.currency,
    description: text('description', given.description, 1, 255),
  } as const
  const { kind, cashflow, merchantNumber, batch, ...rest } = batchLine
  return {
    ...batchLine,
    line: numbered(line),
    key: batchKeyOf(given, settlementDate),
    content: contentOf([kind, cashflow, merchantNumber, batch, ...Object.values(rest)]),
  }
}

function batchKeyOf(given: BatchLine, settlementDate: string): Buffer {
  const { kind, cashflow, merchantNumber, payoutId } = given
  const { currency } = given.amount
  const batch = named(given.batch, settlementDate)
  const rest = rawText(given.text)
  return balances.has(kind)
    ? balanceKeyOf({
        ...{ kind, merchantNumber, batch, currency },
        payoutId: plainText('payoutId', payoutId, 1, 64),
      })
    : keyOf({
        kind: ['batch', kind, cashflow, currency],
        merchantNumber,
        id: null,
        batch,
        text: rest,
      })
}

/** Not masked: it names an account, and one in ten long numbers has the check digit of a card number. */
function merchantNumberOf(given: string): string {
  needed('merchantNumber', given, 5, 64)
  return given.trim()
}

function lineOf(given: SettlementItem): number {
  const line = 'line' in given ? given.line : 0
  return Number.isSafeInteger(line) && line >= 0 && line < 2 ** 31 ? line : 0
}

/** The batch as it came, unmasked: two masked batches can be equal. */
const named = (batch: string | undefined, date: string): string =>
  batch === undefined || batch.trim() === '' ? date : batch

function numbered(line: number): number {
  if (line < 1) throw new Unreadable('line must be a whole number from 1')
  return line
}

function rawText(given: unknown): string {
  if (typeof given !== 'string') throw new Unreadable('text must be the line as it came')
  return given
}

/** An id of another form names no payment of the engine; the record has other names. */
function paymentId(given: unknown): string | null {
  const id = text('paymentId', given, 1, 64)
  return id !== null && /^[0-9a-f]{32}$/i.test(id) ? id.toLowerCase() : null
}

function shortNumber(given: unknown): bigint | null {
  const id = text('shortId', given, 1, 64)
  const no = id === null ? undefined : shortNo(id)
  return no === undefined ? null : BigInt(no)
}

function lastFour(given: unknown): string | null {
  const digits = text('last4', given, 1, 64)
  if (digits !== null && digits.length > 4) {
    throw new Unreadable('last4 must have at most four characters, and never a whole number')
  }
  return digits
}

function countOf(given: unknown): number | null {
  if (given === undefined) return null
  if (!Number.isSafeInteger(given) || (given as number) < 0) {
    throw new Unreadable('count must be a whole number')
  }
  return given as number
}

/** Signed sums, so they may be negative. */
function totalsOf(given: readonly Money[] | undefined): ReadonlyMap<string, bigint> | null {
  if (given === undefined) return null
  return new Map(
    given.map((total): [string, bigint] => {
      const isNegative = typeof total?.minor === 'bigint' && total.minor < 0n
      const size = money('totals', isNegative ? { ...total, minor: -total.minor } : total)
      return [size.currency, isNegative ? -size.minor : size.minor]
    }),
  )
}
