/** SQL of entries about the words of an acquirer that an undecided payment could not take. */
import { sql } from '../db/sql.ts'

/** Prefix of the references of entries about another amount; the amount follows. */
export const otherAmount = 'other-amount'

/** Reference of entries about an approval during a reversal. */
export const toldApproval = 'approved'

/** Whether the acquirer has told of a success of an undecided payment. */
export const toldSuccess = (paymentId: string) => sql<{ id: string }>`
  select id
  from tollgate.attention
  where payment_id = ${paymentId}::uuid and kind = 'undecided' and resolved_at is null
    and (reference = ${toldApproval}::text or reference like ${`${otherAmount}%`}::text)
  limit 1`

/** Whether operators were told that money of a payment went back, also where they have closed the entry since. */
export const toldReturn = (paymentId: string) => sql<{ id: string }>`
  select id from tollgate.attention
  where payment_id = ${paymentId}::uuid and kind = 'return'
  limit 1`

/** Prefix of the references of entries about a reversal of an unknown amount; the amount follows. */
export const otherReversal = 'reversed'

/** Amounts of open entries about an undecided payment. */
const amountsOf = (paymentId: string, prefix: string) => sql<{
  detail: { readonly outcome?: string; readonly minor?: string; readonly currency?: string }
}>`
  select detail
  from tollgate.attention
  where payment_id = ${paymentId}::uuid and kind = 'undecided'
    and reference like ${`${prefix} %`}::text and resolved_at is null
  order by at, id`

/** Amounts that the acquirer moved instead of the requested one, until a decision. */
export const otherAmountsOf = (paymentId: string) => amountsOf(paymentId, otherAmount)

/** Amounts that the acquirer took back instead of a known one, until a decision. */
export const otherReversalsOf = (paymentId: string) => amountsOf(paymentId, otherReversal)
