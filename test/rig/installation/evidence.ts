/**
 * All records after a fault test: the merchants' answers, the acquirer's books, the stored rows.
 */
import { checkBooks } from '../books.ts'
import type { Acquirer, LedgerEntry } from './acquirer.ts'
import type { Wish } from './client.ts'
import type { Sql } from './ground.ts'

export type PaymentRow = {
  readonly id: string
  readonly reference: string | null
  readonly type: string
  readonly effect: string
  readonly state: 'processing' | 'pending' | 'approved' | 'declined' | 'unknown' | 'expired'
  readonly code: string
  readonly minor: bigint
  readonly approvedMinor: bigint | null
  readonly rootId: string
  readonly parentId: string | null
  readonly referencedId: string | null
  /** For the authorisation of two steps, the present or future id of its capture. */
  readonly chainId: string | null
  readonly attemptKey: string
  readonly seq: number
  readonly hasRequest: boolean
}

export type AttemptRow = {
  readonly key: string
  readonly paymentId: string
  readonly state: string
  readonly enquiries: number
  readonly leased: boolean
}

export type EventRow = {
  readonly resource: string
  readonly seq: number
  readonly type: string
  readonly code: string
}

export type BalanceRow = {
  readonly paymentId: string
  readonly reserved: bigint
}

export type AttentionRow = {
  readonly paymentId: string
  readonly kind: string
  readonly open: boolean
}

export type Evidence = {
  readonly history: readonly Wish[]
  readonly ledger: readonly LedgerEntry[]
  readonly payments: readonly PaymentRow[]
  readonly attempts: readonly AttemptRow[]
  readonly events: readonly EventRow[]
  readonly balances: readonly BalanceRow[]
  readonly attention: readonly AttentionRow[]
  /** Differences between balances and their payments. */
  readonly books: readonly string[]
}

export async function gather(
  history: readonly Wish[],
  acquirer: Pick<Acquirer, 'ledger'>,
  sql: Sql,
): Promise<Evidence> {
  return {
    history,
    ledger: await acquirer.ledger(),
    payments: await sql<PaymentRow>(
      `select p.id, p.merchant_transaction_id as reference, p.payment_type as type, p.effect, p.state,
         p.result_code as code, p.amount_minor as minor, p.approved_minor as "approvedMinor",
         p.root_id as "rootId", p.parent_id as "parentId", p.referenced_id as "referencedId", p.chain_id as "chainId",
         p.attempt_key as "attemptKey", p.seq, q.id is not null as "hasRequest"
       from tollgate.payment p
       left join tollgate.payment_request q on q.id = p.id`,
    ),
    attempts: await sql<AttemptRow>(
      `select key, payment_id as "paymentId", state, enquiries + questions as enquiries,
         lease_until is not null and lease_until > now() as leased
       from tollgate.attempt`,
    ),
    events: await sql<EventRow>(
      `select resource, seq, type, data ->> 'code' as code from tollgate.event order by resource, seq`,
    ),
    balances: await sql<BalanceRow>(
      `select payment_id as "paymentId", capturing + reversing + refunding + increasing as reserved
       from tollgate.payment_balance`,
    ),
    attention: await sql<AttentionRow>(
      `select payment_id as "paymentId", kind, resolved_at is null as open from tollgate.attention`,
    ),
    books: await booksOf(sql),
  }
}

async function booksOf(sql: Sql): Promise<string[]> {
  try {
    await checkBooks({ sql }, { quiet: false })
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}
