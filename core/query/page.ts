/** The transactions of a page, as many as fit into a response. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { fitting, portionsOf } from '../page/portions.ts'
import type { Payment } from '../payment/types.ts'
import { loadPayments, type Transactions, withLinked } from './linked.ts'
import { weightOfPayment, weightOfRecord } from './page-weight.ts'
import type { Channels } from './scope.ts'
import { type RecordRow, recordsById } from './store.ts'
import type { Found } from './time-window.ts'

export type Reader = {
  readonly engine: Engine
  readonly visible: readonly string[] | null
  readonly channels: Channels
}

export type Gathered = Transactions & {
  /** Number of places on the page. */
  readonly count: number
}

const paymentOf = ({ kind, id }: Found) => (kind === 'payment' ? [id] : [])

/** Reads the transactions at these places until the page is full: at least the first. */
export async function gather(reader: Reader, places: readonly Found[]): Promise<Gathered> {
  const payments = new Map<string, Payment>()
  const records = new Map<string, RecordRow>()
  let bytes = 0
  let count = 0
  for (const portion of await portionsOf(reader.engine, places, paymentOf)) {
    const read = await readPlaces(reader, portion)
    const weights = portion.map(({ id }) => {
      const payment = read.payments.get(id)
      return payment === undefined ? weightOfRecord : weightOfPayment(payment)
    })
    const fit = fitting(weights, bytes)
    for (const { id } of portion.slice(0, fit)) {
      const [payment, record] = [read.payments.get(id), read.records.get(id)]
      if (payment !== undefined) payments.set(id, payment)
      if (record !== undefined) records.set(id, record)
    }
    count += fit
    if (fit < portion.length) break
    bytes += weights.reduce((sum, weight) => sum + weight, 0)
    if (bytes > limits.pageBytes) break
  }
  return { payments, records, count }
}

/**
 * The same with all linked transactions. A single transaction with too many links gets the nearest
 * ones.
 */
export async function gatherLinked(reader: Reader, places: readonly Found[]): Promise<Gathered> {
  const { engine, visible, channels } = reader
  const payments = new Map<string, Payment>()
  const records = new Map<string, RecordRow>()
  let bytes = 0
  let count = 0
  for (let size = places.length; count < places.length; ) {
    const { count: fit, ...found } = await gather(reader, places.slice(count, count + size))
    const linked = await withLinked(engine, found, visible, channels)
    if (linked.isFull && fit > 1) {
      size = Math.ceil(fit / 2)
      continue
    }
    const fresh = [...linked.payments.values()].filter(({ id }) => !payments.has(id))
    bytes += fresh.reduce((sum, payment) => sum + weightOfPayment(payment), 0)
    if (bytes > limits.pageBytes && count > 0) break
    for (const payment of fresh) payments.set(payment.id, payment)
    for (const [id, record] of linked.records) records.set(id, record)
    count += fit
  }
  return { payments, records, count }
}

async function readPlaces(
  { engine, visible, channels }: Reader,
  places: readonly Found[],
): Promise<Transactions> {
  const idsOf = (kind: Found['kind']) =>
    places.filter((place) => place.kind === kind).map(({ id }) => id)
  const recordIds = idsOf('record')
  const [payments, records] = await Promise.all([
    loadPayments(engine, idsOf('payment'), visible),
    recordIds.length === 0 ? [] : engine.lanes.read(recordsById(recordIds, channels)),
  ])
  return {
    payments: new Map(payments.map((payment) => [payment.id, payment])),
    records: new Map(records.map((record) => [record.id, record])),
  }
}
