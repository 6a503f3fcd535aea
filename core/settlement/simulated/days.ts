/**
 * Settles the business days of one channel and test clock with `testMode=INTERNAL`, whose institute the connector
 * simulates. One commit enters everything that settles on a day; then the file follows from the entries
 * alone. A process that dies in between leaves a day that the next one finishes with the same bytes, which are
 * recognised. Payments that are approved later settle with the next day.
 */
import type { DayEnd, DayEntry, DayPayment } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { businessNow } from '../../business-time/time.ts'
import type { Engine } from '../../engine.ts'
import { faultPoint } from '../../fault-point.ts'
import { newId, shortId } from '../../ids.ts'
import { removeTimer } from '../../timer/store.ts'
import { EmptyFile, type Received, receive } from '../receive.ts'
import { finishScope } from '../work.ts'
import { safeId, type WritingSettlement, writingOf } from './plan.ts'
import {
  type BookRow,
  beforeEntries,
  bookOf,
  carriedBefore,
  disputesOf,
  type EntryPosition,
  type EntryRow,
  endDay,
  enterDay,
  entriesOf,
  nextDay,
  openDay,
} from './store-day.ts'
import { moveBook } from './store-plan.ts'

/** @param ref connector, channel, and the test clock if there is one */
export async function settleDays(engine: Engine, ref: string): Promise<void> {
  const { lanes } = engine
  const [connector = '', channelId = '', clockId = null] = ref.split(' ')
  const settlement = writingOf(engine, connector)
  if (settlement !== undefined) {
    const [book] = await lanes.single(bookOf(newId(), connector, channelId, clockId))
    await settleBook(engine, settlement, book!)
  }
  await lanes.single(removeTimer('settlement-day', ref))
}

async function settleBook(
  engine: Engine,
  settlement: WritingSettlement,
  book: BookRow,
): Promise<void> {
  const { lanes } = engine
  const isOnClock = book.clock_id !== null
  const now = await businessNow(engine, book.channel_id, book.clock_id)
  for (;;) {
    const [open] = await lanes.upkeep(openDay(book.id))
    if (open !== undefined) {
      await writeDay(engine, settlement, book, open.day)
      continue
    }
    const [next] = await lanes.upkeep(nextDay(book.id, isOnClock, settlement.zone, now))
    if (next === undefined) break
    await lanes.bulk((client) =>
      lanes.database.query(client, enterDay(book.id, isOnClock, settlement.zone, next)),
    )
    await faultPoint('settlement-day-entered', book.id)
  }
  await lanes.upkeep(moveBook(book.id, isOnClock, safeId(engine)))
}

async function writeDay(
  engine: Engine,
  settlement: WritingSettlement,
  book: BookRow,
  day: string,
): Promise<void> {
  const { lanes } = engine
  const [before] = await lanes.upkeep(carriedBefore(book.id, day))
  const of = { merchantNumber: book.channel_id, day, carried: before?.carried ?? {} }
  const written: { end?: DayEnd } = {}
  async function* bytes() {
    written.end = yield* settlement.writeDay(of, entries(engine, book.id, day))
  }
  const received = await storeFile(engine, book, day, bytes())
  const { carried, disputes } = written.end!
  const due = disputes.map(({ is, paymentId, amount, reference, reason, day: dueDay }) => ({
    kind: is,
    reference,
    payment_id: paymentId,
    minor: String(amount.minor),
    currency: amount.currency,
    reason,
    day: dueDay,
  }))
  await lanes.single(endDay(book.id, day, received?.fileId ?? null, carried, due))
  await faultPoint('settlement-day-ended', book.id)
  // On a test clock, the file is read before the clock moves on.
  if (book.clock_id !== null && received !== undefined) await finishScope(engine, received.scopeId)
}

/** Undefined: the day has no file. */
async function storeFile(
  engine: Engine,
  { connector, channel_id: channelId, clock_id: clockId }: BookRow,
  day: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<Received | undefined> {
  const arrival = {
    connector,
    mode: 'INTERNAL',
    accountId: null,
    merchant: { merchantNumber: channelId, channelIds: [channelId], accountIds: [] },
    clockId,
    entityId: channelId,
    name: `${connector}-${day}`,
    source: 'simulator',
  } as const
  try {
    return await receive(engine, arrival, bytes)
  } catch (thrown) {
    if (thrown instanceof EmptyFile) return undefined
    throw thrown
  }
}

async function* entries(
  { lanes }: Pick<Engine, 'lanes'>,
  bookId: string,
  day: string,
): AsyncGenerator<DayEntry> {
  for (let after: EntryPosition | undefined = beforeEntries; after !== undefined; ) {
    const limit = limits.settlementCopyLines
    const rows: EntryRow[] = await lanes.upkeep(entriesOf(bookId, day, after, limit))
    // A payment that went back on its day has no line.
    for (const row of rows) if (row.minor > 0n) yield entryOf(row)
    const last = rows.at(-1)
    after =
      last === undefined || rows.length < limit
        ? undefined
        : { subjectId: last.subject_id, paymentId: last.payment_id }
  }
  for (const row of await lanes.upkeep(disputesOf(bookId, day))) yield entryOf(row)
}

const kinds: Readonly<Record<string, DayPayment['kind']>> = {
  DB: 'debit',
  RB: 'debit',
  CP: 'capture',
  RC: 'capture',
  CD: 'credit',
  RF: 'refund',
}

function entryOf(row: EntryRow): DayEntry {
  const { kind, minor, currency, reference, reason, brand, bin, last4, descriptor } = row
  return {
    is: kind,
    amount: { minor, currency },
    payment: {
      id: row.subject_id,
      key: row.attempt_key,
      shortId: shortId(row.short_no),
      kind: kinds[row.payment_type] ?? 'debit',
      requestedAt: row.created_at,
      ...given({
        brand,
        bin,
        last4,
        merchantTransactionId: row.merchant_transaction_id,
        descriptor,
      }),
    },
    ...given({ reference, reason }),
  }
}

const given = <Name extends string>(values: Record<Name, string | null>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as {
    [N in Name]?: string
  }
