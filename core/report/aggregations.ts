/** Aggregations: what one payout in one currency consists of. Amounts are positive in favour of the merchant. */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Caller } from '../caller/caller.ts'
import type { Mode } from '../connector/registry.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId, lowestId } from '../ids.ts'
import { wrongCursor } from '../page/by-id.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'
import { type Reader, readerOf } from './readers.ts'
import { reportAmount } from './record-values.ts'
import { refuseWhenManyWait, searchInTurn } from './search-turns.ts'
import {
  accountNames,
  type BatchRow,
  batchById,
  batchesOf,
  discrepanciesOf,
  type LineRow,
  linesOf,
  type SumRow,
  sumsOf,
} from './store-aggregation.ts'

export type AggregationView = {
  readonly id: string
  /** `yyyy-MM-dd` in the zone of the institute. */
  readonly date: string
  readonly valueDate?: string
  readonly payoutId?: string
  readonly clearingInstitute: { readonly name: string; readonly merchantId: string }
  readonly merchantAccount?: { readonly id: string; readonly name?: string }
  readonly testClock?: string
  readonly currency: string
  /** Records. */
  readonly count: number
  /** Amounts of whole payouts are absent for a reader who sees only some of the channels. */
  readonly opening?: string
  readonly gross: string
  readonly refunds: string
  readonly chargebacks: string
  readonly reversals: string
  readonly fees: readonly { readonly kind: string; readonly amount: string }[]
  readonly tax?: string
  readonly reserve?: string
  readonly adjustments?: string
  /** The sum of all amounts before, less the closing balance: what is paid out. */
  readonly net: string
  readonly closing?: string
  /** What the institute says that it pays out. */
  readonly payout?: string
  readonly status?: 'OPEN' | 'BALANCED' | 'UNBALANCED'
  readonly exceptions: readonly { readonly kind: string; readonly count: number }[]
}

export type AggregationPage = {
  readonly aggregations: readonly AggregationView[]
  readonly nextCursor?: string
}

/** @throws GatewayError 400 naming the field; 429 when too many reports of the merchant wait. */
export async function listAggregations(
  engine: Engine,
  caller: Caller,
  fields: RequestFields,
): Promise<AggregationPage> {
  const wanted = wantedOf(engine, fields)
  const reader = await readerOf(engine, caller, textOf(fields, 'entityId'))
  const limit = Number(textOf(fields, 'limit') ?? 500)
  const after = afterOf(textOf(fields, 'cursor'))
  refuseWhenManyWait(engine.lanes, reader.merchant)
  const rows = await searchInTurn(
    engine.lanes,
    reader.merchant,
    batchesOf(reader.own, reader.above, wanted, after, limit + 1),
  )
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return {
    aggregations: await viewsOf(engine, shown, reader),
    ...(last !== undefined && { nextCursor: `${last.day}-${last.id}` }),
  }
}

/** @throws GatewayError 404 when the caller sees none with this id. */
export async function findBatch(
  engine: Engine,
  caller: Caller,
  id: string,
  fields: RequestFields,
): Promise<{ readonly batch: BatchRow; readonly reader: Reader }> {
  const reader = await readerOf(engine, caller, textOf(fields, 'entityId'))
  const [batch] = isId(id) ? await engine.lanes.read(batchById(id, reader.own)) : []
  if (batch !== undefined) return { batch, reader }
  throw new GatewayError('700.400.580', { status: 404 })
}

/** @throws GatewayError 429 when too many reports of the merchant wait. */
export async function aggregationOf(
  engine: Engine,
  batch: BatchRow,
  reader: Reader,
): Promise<AggregationView> {
  refuseWhenManyWait(engine.lanes, reader.merchant)
  const [view] = await viewsOf(engine, [batch], reader)
  return view!
}

function wantedOf({ environment }: Engine, fields: RequestFields) {
  const days = groupOf(fields, 'date')
  const from = textOf(days, 'from')!
  const to = textOf(days, 'to')!
  if (to < from) throw refuse('200.300.404', 'date.to', 'must not be before date.from', to)
  const testMode = textOf(fields, 'testMode')
  if (environment === 'live' && testMode !== undefined) {
    throw refuse('200.300.404', 'testMode', 'is only for the test environment: omit it', testMode)
  }
  const mode: Mode = environment === 'live' ? 'LIVE' : ((testMode as Mode) ?? 'INTERNAL')
  return { from, to, currency: textOf(fields, 'currency')!, mode }
}

function afterOf(cursor: string | undefined): { day: string; id: string } {
  if (cursor === undefined) return { day: '0001-01-01', id: lowestId }
  const [, day, id] = /^([0-9]{4}-[0-9]{2}-[0-9]{2})-([0-9a-f]{32})$/.exec(cursor) ?? []
  if (day !== undefined && id !== undefined && isDay(day)) return { day, id }
  throw wrongCursor(cursor)
}

const isDay = (day: string) => new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true

async function viewsOf(
  engine: Engine,
  batches: readonly BatchRow[],
  { own, merchant }: Reader,
): Promise<AggregationView[]> {
  if (batches.length === 0) return []
  const search = <Row>(statement: Sql<Row>) => searchInTurn(engine.lanes, merchant, statement)
  const ids = batches.map(({ id }) => id)
  const totals = await search(sumsOf(ids, own))
  const sums = Map.groupBy(totals, (row) => row.batch_id)
  const odd = totals.filter((row) => row.with_discrepancies > 0n).map((row) => row.batch_id)
  const kinds = odd.length === 0 ? [] : await search(discrepanciesOf(odd, own))
  const discrepancies = Map.groupBy(kinds, (row) => row.batch_id)
  const whole = batches.filter((batch) => batch.is_whole).map(({ id }) => id)
  const rows = whole.length === 0 ? [] : await search(linesOf(whole))
  const lines = Map.groupBy(rows, (row) => row.batch_id)
  const facts = batches.map((batch) => ({
    batch,
    sums: sums.get(batch.id) ?? [],
    discrepancies: discrepancies.get(batch.id) ?? [],
    lines: lines.get(batch.id) ?? [],
  }))
  const accounts = [...new Set(facts.flatMap((fact) => accountOf(fact.sums) ?? []))]
  const named = accounts.length === 0 ? [] : await engine.lanes.read(accountNames(accounts))
  const names = new Map(named.map(({ id, name }) => [id, name]))
  return facts.map((fact) => viewOf(engine, fact, names))
}

type Facts = {
  readonly batch: BatchRow
  readonly sums: readonly SumRow[]
  readonly discrepancies: readonly { readonly kind: string; readonly count: bigint }[]
  readonly lines: readonly LineRow[]
}

/** The one account of all records. */
function accountOf(sums: readonly SumRow[]): string | undefined {
  const all = new Set(
    sums.flatMap(({ first_account, last_account }) => [first_account, last_account]),
  )
  all.delete(null)
  return all.size === 1 ? [...all][0]! : undefined
}

function viewOf(
  { registry }: Engine,
  { batch, sums, discrepancies, lines }: Facts,
  names: ReadonlyMap<string, string>,
): AggregationView {
  const { currency, is_whole: isWhole } = batch
  const shown = (minor: bigint) => reportAmount(minor, currency)
  const line = lineSums(lines)
  const records = recordSums(sums)
  const fees = feesOf(sums, line('fee'))
  const parts = {
    opening: line('opening'),
    ...records,
    fees: fees.reduce((sum, { minor }) => sum + minor, 0n),
    tax: line('tax'),
    reserve: line('reserve-held') + line('reserve-released'),
    adjustments: line('adjustment') + line('transfer'),
  }
  const closing = line('closing')
  const net = Object.values(parts).reduce((sum, minor) => sum + minor, -closing)
  const payout = lines.find(({ kind }) => kind === 'payout')
  const account = accountOf(sums)
  const name = account === undefined ? undefined : names.get(account)
  const ofWhole = <T extends object>(values: T) => (isWhole ? values : {})
  return {
    id: batch.id,
    date: batch.day,
    ...(payout?.value_day != null && { valueDate: payout.value_day }),
    ...(payout?.payout_id != null && { payoutId: payout.payout_id }),
    clearingInstitute: {
      name: registry.get(batch.connector)?.connector.settlement?.institute ?? batch.connector,
      merchantId: sums[0]?.merchant_number ?? batch.merchant_number,
    },
    ...(account !== undefined && {
      merchantAccount: { id: account, ...(name !== undefined && { name }) },
    }),
    ...(batch.clock_id !== null && { testClock: batch.clock_id }),
    currency,
    count: sums.reduce((sum, { count }) => sum + Number(count), 0),
    ...ofWhole({ opening: shown(parts.opening) }),
    gross: shown(parts.gross),
    refunds: shown(parts.refunds),
    chargebacks: shown(parts.chargebacks),
    reversals: shown(parts.reversals),
    fees: fees.map(({ kind, minor }) => ({ kind, amount: shown(minor) })),
    ...ofWhole({
      tax: shown(parts.tax),
      reserve: shown(parts.reserve),
      adjustments: shown(parts.adjustments),
    }),
    net: shown(net),
    ...ofWhole({ closing: shown(closing) }),
    ...(payout !== undefined && { payout: shown(payout.minor) }),
    ...ofWhole({ status: statusOf(batch) }),
    exceptions: exceptionsOf(batch, sums, discrepancies),
  }
}

const lineSums =
  (lines: readonly LineRow[]) =>
  (wanted: string): bigint =>
    lines.reduce((sum, { kind, minor }) => (kind === wanted ? sum + minor : sum), 0n)

/** Amounts of records by what happened. Payments to shoppers (CREDIT) lower the gross amount. */
function recordSums(sums: readonly SumRow[]) {
  const sumOf = (fits: (row: SumRow) => boolean) =>
    sums.filter(fits).reduce((sum, { settled }) => sum + settled, 0n)
  const isSettled = ({ record_type: type }: SumRow) => type === 'SETTLED'
  const isRefund = (row: SumRow) => isSettled(row) && row.transaction_type === 'REFUND'
  return {
    gross: sumOf((row) => isSettled(row) && !isRefund(row)),
    refunds: sumOf(isRefund),
    chargebacks: sumOf(({ record_type: type }) => type === 'CHARGEBACK'),
    reversals: sumOf(({ record_type: type }) => type === 'CHARGEBACK REVERSAL'),
  }
}

/** Fees that records and lines of their own name, those kept from single records, and those of payout lines. */
function feesOf(sums: readonly SumRow[], ofLines: bigint): { kind: string; minor: bigint }[] {
  const fees = new Map<string, bigint>()
  const add = (kind: string, minor: bigint) => {
    if (minor !== 0n) fees.set(kind, (fees.get(kind) ?? 0n) + minor)
  }
  for (const row of sums) {
    if (row.record_type === 'FEE') add(row.transaction_type, row.settled)
    add('SETTLEMENT_FEE', -row.fee)
  }
  add('PAYOUT_FEE', ofLines)
  return [...fees]
    .map(([kind, minor]) => ({ kind, minor }))
    .sort((a, b) => (a.kind < b.kind ? -1 : 1))
}

const statusOf = ({ is_balanced: isBalanced }: BatchRow) =>
  isBalanced === null ? 'OPEN' : isBalanced ? 'BALANCED' : 'UNBALANCED'

function exceptionsOf(
  batch: BatchRow,
  sums: readonly SumRow[],
  discrepancies: Facts['discrepancies'],
): { kind: string; count: number }[] {
  const total = (countOf: (row: SumRow) => bigint) =>
    sums.reduce((sum, row) => sum + Number(countOf(row)), 0)
  return [
    { kind: 'NOT_MATCHED', count: total((row) => row.not_matched) },
    { kind: 'MULTIPLE_MATCHES', count: total((row) => row.several_matches) },
    { kind: 'CONTROL', count: batch.is_whole && batch.is_balanced === false ? 1 : 0 },
    ...discrepancies.map(({ kind, count }) => ({ kind, count: Number(count) })),
  ]
    .filter(({ count }) => count > 0)
    .sort((one, other) => (one.kind < other.kind ? -1 : 1))
}
