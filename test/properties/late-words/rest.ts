/** The state at rest: the engine's rows beside the acquirer's books. */
import { checkBooks } from '../../rig/books.ts'
import { type Dispute, type Entry, isSale } from './books.ts'
import type { Answer, Merchant } from './merchant.ts'
import type { World } from './world.ts'

export type Row = {
  readonly id: string
  readonly parent: string | null
  readonly referenced: string | null
  readonly key: string
  readonly reference: string | null
  readonly type: string
  readonly effect: string
  readonly state: string
  readonly code: string
  readonly minor: bigint
  readonly approved: bigint | null
  readonly currency: string
  readonly isRetrySafe: boolean
  readonly isTwoSteps: boolean
  /** Closes later operations of its kind. */
  readonly isFinal: boolean
  readonly checkout: string | null
  /** An operator kept the late success. */
  readonly isKept: boolean
}

/** A checkout at rest. */
export type CheckoutRow = {
  readonly id: string
  /** The nonce of each payment, in their order. */
  readonly nonces: readonly string[]
  readonly payments: readonly string[]
  /** As its shopper is told. */
  readonly state: string
}

export type Listed = {
  readonly id: string
  readonly kind: string
  readonly payment: string
  readonly detail: string
  readonly detailed: Readonly<Record<string, unknown>>
}

export type Word = {
  readonly eventId: string
  readonly key: string
  readonly is: string
  readonly minor: string
  readonly currency: string
  readonly receivedAt: Date
  readonly processedAt: Date | null
  readonly verified: boolean
}

/** One sequence at rest. */
export type Rest = {
  readonly merchant: Merchant
  readonly rows: readonly Row[]
  readonly entries: readonly Entry[]
  readonly sales: readonly Entry[]
  readonly listed: readonly Listed[]
  readonly answers: readonly Answer[]
  /** Chargebacks with a delivered, proven message. */
  readonly disputes: readonly Dispute[]
  readonly words: readonly Word[]
  readonly checkouts: readonly CheckoutRow[]
  /** Kinds of events emitted about each payment. */
  readonly told: ReadonlyMap<string, readonly string[]>
  /** Balances that differ from their payments. */
  readonly unbalanced: readonly string[]
  rowOf(key: string): Row | undefined
  entryOf(row: Row): Entry | undefined
  /**
   * An operator decided "not done" before the acquirer completed it without a message, which
   * settlement will show.
   */
  isDecidedUntold(row: Row): boolean
  /** Whether an entry of the operators' list concerns the payment or one linked to it. */
  isListed(row: Row): boolean
}

export async function atRest(world: World, merchants: readonly Merchant[]): Promise<Rest[]> {
  const { run, books } = world
  const rows = await run.sql<Row>(`
    select p.id, p.parent_id as parent, p.referenced_id as referenced, p.attempt_key as key,
      p.merchant_transaction_id as reference, p.payment_type as type, p.effect, p.state,
      p.result_code as code, p.amount_minor as minor, p.approved_minor as approved, p.currency,
      coalesce(p.answer ->> 'retrySafe' = 'true', false) as "isRetrySafe",
      p.chain_id is not null as "isTwoSteps", coalesce(request.request ->> 'sequence' = 'FINAL', false) as "isFinal",
      p.checkout_id as checkout, exists (
        select from tollgate.audit u where u.resource = p.id and u.action = 'payment.kept') as "isKept"
    from tollgate.payment p
    left join tollgate.payment_request request on request.id = p.id
    order by p.id`)
  const words = await run.sql<Word>(`
    select event_id as "eventId", claim ->> 'key' as key, claim -> 'outcome' ->> 'is' as is,
      claim ->> 'minor' as minor, claim ->> 'currency' as currency, received_at as "receivedAt", processed_at as "processedAt",
      coalesce(claim ->> 'verified' = 'true', false) as verified
    from tollgate.inbound_event
    order by received_at`)
  const events = await run.sql<{ resource: string; types: string[] }>(
    'select resource, array_agg(type) as types from tollgate.event group by resource',
  )
  const checkouts = await run.sql<Omit<CheckoutRow, 'state'>>(
    `select id, nonces, array(select replace(payment::text, '-', '') from unnest(earlier || payment_id) as payment) as payments
     from tollgate.checkout`,
  )
  const asked = await Promise.all(
    checkouts.map(async (one) => ({ ...one, ...(await run.gateway.checkouts.state(one.id)) })),
  )
  const checkoutById = new Map(asked.map((one) => [one.id, one]))
  const told = new Map(events.map(({ resource, types }) => [resource, types]))
  const attention = await run.gateway.attention(1_000_000)
  const unbalanced = await balancesOff(world)

  const byId = new Map(rows.map((row) => [row.id, row]))
  const sequenceOf = (row: Row): string => {
    const own = books.find(row.key)?.sequence ?? row.reference?.split('.')[0]
    if (own !== undefined && own !== '') return own
    const above = byId.get(row.referenced ?? row.parent ?? '')
    return above === undefined ? '' : sequenceOf(above)
  }
  const grouped = Map.groupBy(rows, sequenceOf)
  const listedBySequence = Map.groupBy(
    attention.map((entry) => ({
      id: entry.id.replaceAll('-', ''),
      kind: entry.kind,
      payment: entry.payment_id?.replaceAll('-', '') ?? '',
      detail: JSON.stringify(entry.detail),
      detailed: entry.detail,
    })),
    ({ payment }) => {
      const row = byId.get(payment)
      return row === undefined ? '' : sequenceOf(row)
    },
  )
  const wordsByKey = Map.groupBy(words, ({ key }) => key)

  return merchants.map((merchant): Rest => {
    const own = grouped.get(merchant.name) ?? []
    const listed = listedBySequence.get(merchant.name) ?? []
    const entries = books.of(merchant.name)
    const provenIds = new Set(merchant.delivered.map(({ eventId }) => eventId))
    const byKey = new Map(own.map((row) => [row.key, row]))
    return {
      merchant,
      rows: own,
      entries,
      sales: entries.filter(isSale),
      listed,
      answers: merchant.answers,
      disputes: merchant.disputes.filter(({ eventId }) => provenIds.has(eventId)),
      words: own.flatMap(({ key }) => wordsByKey.get(key) ?? []),
      checkouts: merchant.shopper.checkouts.map(({ id }) => checkoutById.get(id)!),
      told,
      unbalanced: unbalanced.filter((id) => own.some((row) => row.id === id)),
      rowOf: (key) => byKey.get(key),
      entryOf: ({ key }) => books.find(key),
      isDecidedUntold: ({ key, code }) =>
        code === '900.100.300' &&
        !(wordsByKey.get(key) ?? []).some(({ is, verified }) => is === 'approved' && verified),
      isListed: (row) => {
        const about = new Set([row.id, row.referenced, row.parent])
        for (const other of own) if (other.referenced === row.id) about.add(other.id)
        return listed.some(({ payment }) => about.has(payment))
      },
    }
  })
}

/** Payments with wrong balances by the checker of all tests. */
async function balancesOff(world: World): Promise<string[]> {
  try {
    await checkBooks(world.run, { quiet: false })
    return []
  } catch (error) {
    const { actual } = error as { actual?: readonly { payment_id?: string; id?: string }[] }
    if (!Array.isArray(actual)) throw error
    return actual.flatMap(({ payment_id, id }) => payment_id ?? id ?? [])
  }
}
