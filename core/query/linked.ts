/** Transactions linked by references, and records of their registrations. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { isId } from '../ids.ts'
import { portionsOf } from '../page/portions.ts'
import { paymentsById, toPayment } from '../payment/store-read.ts'
import type { Payment } from '../payment/types.ts'
import { weightOfPayment } from './page-weight.ts'
import type { Channels } from './scope.ts'
import { followUpsOf, type RecordRow, recordsById, recordsOf } from './store.ts'

export type Transactions = {
  readonly payments: ReadonlyMap<string, Payment>
  readonly records: ReadonlyMap<string, RecordRow>
}

/** Maximum number of linked transactions in a response. */
const most = 5000

export type Linked = Transactions & {
  /** The linked transactions exceed the size of a response. */
  readonly isFull: boolean
}

/** Payments by id, on the caller's channels. */
export async function loadPayments(
  engine: Engine,
  ids: readonly string[],
  visible: readonly string[] | null,
): Promise<Payment[]> {
  const valid = ids.filter(isId)
  if (valid.length === 0) return []
  const rows = await engine.lanes.read(paymentsById(valid))
  const seen = visible === null ? null : new Set(visible)
  return rows.map(toPayment).filter(({ channelId }) => seen === null || seen.has(channelId))
}

/**
 * Adds all linked transactions: the chain that a transaction refers to, up to its root, everything that
 * refers to the chain, and the records of registrations that these payments created and of schedules on
 * them. Payments made with a registration are not linked.
 */
export async function withLinked(
  engine: Engine,
  found: Transactions,
  visible: readonly string[] | null,
  channels: Channels,
): Promise<Linked> {
  const payments = new Map(found.payments)
  const records = new Map(found.records)
  let bytes = [...payments.values()].reduce((sum, payment) => sum + weightOfPayment(payment), 0)
  const isFull = () => bytes > limits.pageBytes
  const add = async (ids: readonly string[]) => {
    const room = most - payments.size
    const missing = [...new Set(ids)].filter((id) => !payments.has(id)).slice(0, Math.max(0, room))
    const added: Payment[] = []
    for (const portion of await portionsOf(engine, missing, (id) => [id])) {
      if (isFull()) break
      for (const payment of await loadPayments(engine, portion, visible)) {
        bytes += weightOfPayment(payment)
        payments.set(payment.id, payment)
        added.push(payment)
      }
    }
    return added
  }
  // Up: chains are short. The chargeback of a refund of a capture is among the longest.
  await add([...records.values()].map((record) => record.origin_id))
  for (let last = [...payments.values()]; last.length > 0; ) {
    last = await add(last.flatMap(({ referencedId }) => referencedId ?? []))
  }
  // Down, one generation after the other.
  for (let last = [...payments.keys()]; last.length > 0; ) {
    const followUps = await engine.lanes.read(followUpsOf(last, channels))
    last = (await add(followUps.map(({ id }) => id))).map(({ id }) => id)
  }
  const makers = [...payments.values()].filter(({ registrationId }) => registrationId !== null)
  if (makers.length > 0) {
    const ids = await engine.lanes.read(
      recordsOf(
        makers.map(({ id }) => id),
        makers.map(({ registrationId }) => registrationId!),
        channels,
      ),
    )
    const missing = ids.map(({ id }) => id).filter((id) => !records.has(id))
    for (const record of await engine.lanes.read(recordsById(missing.slice(0, most), channels))) {
      records.set(record.id, record)
    }
  }
  return { payments, records, isFull: isFull() }
}
