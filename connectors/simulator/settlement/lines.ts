/** The lines of one payment or dispute in a settlement file, with the errors that tests ask for. */
import type { Money } from '@tollgate/plugin-kit'
import { currencyOf } from '@tollgate/schemas'
import type { EntryKind } from '../entry.ts'
import type { Effect } from '../rules.ts'
import type { Cells, PayoutLine, RecordLine } from './format.ts'

/** Fees of the institute, in hundredths of a per cent and minor units. */
const saleFee = { parts: 140n, fixed: 10n }
const fixedFees = { credit: 25n, chargeback: 1500n } as const

/** Units of the other currency for one unit of the payment's. */
const otherRate = { text: '1.083412', scaled: 1_083_412n, scale: 1_000_000n }

/** Money that settles on a day. */
export type Settling = Pick<RecordLine, 'recordType' | 'transactionType' | 'about'> & {
  readonly kind: EntryKind
  /** Negative: it goes back to the payer. */
  readonly minor: bigint
  readonly currency: string
  readonly odd: Effect['settlement']
  /** The acquirer's own id of the operation. */
  readonly reference: string
}

/** The first lines of a payment, or those of a dispute. */
export function linesOf(settling: Settling): readonly (RecordLine | PayoutLine)[] {
  const { kind, minor, currency, recordType, transactionType, about } = settling
  const cashflow = minor > 0n ? 'POS' : 'NEG'
  const amount = { minor: minor > 0n ? minor : -minor, currency }
  const plain: RecordLine = {
    recordType,
    transactionType,
    cashflow,
    status: 'SUCCESS',
    amount,
    settled: amount,
    fee: feeOf(kind, amount.minor),
    about,
  }
  switch (settling.odd) {
    case 'amountMinusOne': {
      const less = { minor: amount.minor - 1n, currency }
      return [{ ...plain, amount: less, settled: less }]
    }
    case 'noLine':
      return []
    case 'twoLines':
      return [plain, plain]
    case 'otherCurrency': {
      const settled = exchanged(amount)
      return [{ ...plain, settled, rate: otherRate.text, fee: feeOf(kind, settled.minor) }]
    }
    case 'failed':
      return [{ ...plain, status: 'FAILED', fee: 0n }]
    case 'noReference':
      return [{ ...plain, about: { ...about, ...noIds } }]
    default:
      return [plain]
  }
}

const noIds: Cells = { Id: '', Key: '', Reference: '', Order: '', ShortId: '' }

/** Money of a payment whose line is written. */
export function adjustmentOf({
  minor,
  currency,
  reference,
}: Pick<Settling, 'minor' | 'currency' | 'reference'>): PayoutLine {
  return {
    kind: 'adjustment',
    cashflow: minor > 0n ? 'POS' : 'NEG',
    amount: { minor: minor > 0n ? minor : -minor, currency },
    text: `of ${reference}`,
  }
}

function feeOf(kind: EntryKind, settled: bigint): bigint {
  if (kind === 'debit' || kind === 'capture') {
    return (settled * saleFee.parts + 5_000n) / 10_000n + saleFee.fixed
  }
  return kind === 'credit' || kind === 'chargeback' ? fixedFees[kind] : 0n
}

function exchanged({ minor, currency }: Money): Money {
  const other = currency === 'EUR' ? 'USD' : 'EUR'
  const exponents = [currency, other].map((code) => BigInt(currencyOf(code)?.exponent ?? 2))
  const [from = 2n, to = 2n] = exponents
  const top = minor * otherRate.scaled * 10n ** to
  const bottom = otherRate.scale * 10n ** from
  return { minor: (top * 2n + bottom) / (bottom * 2n), currency: other }
}
