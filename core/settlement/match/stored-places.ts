/**
 * The parts of statements that keep a line within its merchant: a file may name any payment, and only
 * payments of the scope's own accounts are candidates.
 */
import type { Mode } from '../../connector/registry.ts'
import { type Sql, sql } from '../../db/sql.ts'
import { inWindow, type Lines } from './stored-window.ts'

/** An account of a scope; of an INTERNAL scope, its channel and test clock. */
export type Place = {
  readonly scopeId: string
  readonly accountId: string | null
  readonly channelId: string | null
  readonly clockId: string | null
}

export type Places = {
  readonly mode: Mode
  readonly connector: string
  readonly of: readonly Place[]
}

/** Part of a statement: `place` has a row for every account of every scope. */
export const placesOf = ({ of }: Places): Sql => sql`
place as materialized (
  select scope_id, account_id, channel_id, clock_id
  from unnest(${of.map(({ scopeId }) => scopeId)}::uuid[], ${of.map(({ accountId }) => accountId)}::uuid[],
    ${of.map(({ channelId }) => channelId)}::uuid[], ${of.map(({ clockId }) => clockId)}::uuid[])
    as given (scope_id, account_id, channel_id, clock_id))`

/** Condition: `payment` belongs to `place`. */
export const isPaymentOfPlace = ({ mode, connector }: Places): Sql =>
  mode === 'INTERNAL'
    ? sql`(payment.channel_id = place.channel_id and payment.mode = 'INTERNAL'
    and payment.connector = ${connector}::text and payment.clock_id is not distinct from place.clock_id)`
    : sql`payment.account_id = place.account_id`

/** The columns of `payment` that candidates are judged by. */
export const paymentColumns = sql`payment.id, payment.account_id, payment.channel_id, payment.clock_id,
    payment.mode, payment.connector, payment.attempt_key, payment.payment_type, payment.state, payment.final_by,
    payment.referenced_id, payment.currency, payment.created_at,
    coalesce(payment.approved_minor, payment.amount_minor) as minor`

/** Columns that every insert of candidates fills, in the order of `judged`. */
export const candidateColumns = sql`run_id, line, scope_id, tier, payment_id, is_named, account_id, channel_id,
  payment_type, state, final_by, referenced_id, minor, currency, created_at, fits, is_eligible, is_doubtful`

/** Part of a statement: the balance of `payment`, which exists once a payment was approved. */
export const withBalance = sql`
left join lateral (
  select payment_balance.reversed
  from tollgate.payment_balance
  where payment_balance.payment_id = payment.id and payment_balance.kind <> 'authorisation'
  offset 0) as balance on true`

/**
 * Values of a candidate from `payment`, `balance` and `work`. Payments that were approved once, or are
 * open, can be settled; wholly reversed ones never. A late success took money, so it can be disputed. A fee is charged in any state. One payment of a crowd stands
 * for all of it, whatever it is.
 */
export const judgedBy = (
  fits: Sql,
  isDoubtful = sql`false`,
  isCrowd = sql`false`,
): Sql => sql`payment.account_id, payment.channel_id, payment.payment_type,
  payment.state, payment.final_by, payment.referenced_id, payment.minor - coalesce(balance.reversed, 0),
  payment.currency, payment.created_at, ${fits},
  ${isCrowd} or ${fits} and (work.purpose = 'fee' or (
    (payment.state in ('approved', 'processing', 'pending', 'unknown') or balance.reversed is not null
      or (work.purpose = 'dispute' and exists (
        select from tollgate.attempt where attempt.key = payment.attempt_key and attempt.state = 'late')))
    and (coalesce(balance.reversed, 0) = 0 or balance.reversed < payment.minor))), ${isDoubtful}`

/** The last tier of names that are the payment's own: its id, its key and the acquirer's references. */
export const lastOwnName = 2

/**
 * A dispute that names an authorisation is about it, as a message with its key: its report finds the captures of the
 * whole chain.
 */
const isWanted = (
  tier: Sql,
) => sql`(payment.payment_type = any(work.wanted) or (work.purpose = 'dispute'
    and payment.payment_type = 'PA' and ${tier} <= ${lastOwnName}::integer))`

/** Of a payment that a line names by its id or key, or that has its amount, card and brand. */
export const judged = (tier: 1 | 5) => judgedBy(isWanted(sql`${tier}::integer`))

/** Names of the acquirer's references, in the order of the records. */
export type Refs = readonly [string, string, string]

/**
 * The same by any tier. A merchant uses an order number for operations that were made elsewhere, too: where the
 * order number or the short id leads to a payment, and the acquirer's references of the payment are others than
 * those of the line (`stage`), the line is about another operation. With one in common, the line was found by it.
 * A reference that an operator gave may be mistyped, and yields to the line's, with a doubt.
 */
export const judgedWithRefs = (tier: Sql, refs: Refs, isCrowd?: Sql): Sql => {
  const own = [sql`stage.ref1`, sql`stage.ref2`, sql`stage.ref3`] as const
  const isOther = (no: 0 | 1 | 2) =>
    sql`lower(btrim(${own[no]})) <> lower(btrim(payment.answer -> 'refs' ->> ${refs[no]}::text))`
  const isAcquirers = (no: 0 | 1 | 2) =>
    sql`(${isOther(no)} and payment.answer -> 'refs' ->> ${refs[no]}::text is distinct from
        payment.answer -> 'byOperator' ->> ${refs[no]}::text)`
  return judgedBy(
    sql`(${isWanted(tier)} and (work.purpose = 'fee' or ${tier} < 3 or not coalesce(
    ${isAcquirers(0)} or ${isAcquirers(1)} or ${isAcquirers(2)}, false)))`,
    sql`${tier} >= 3 and coalesce(${isOther(0)} or ${isOther(1)} or ${isOther(2)}, false)`,
    isCrowd,
  )
}

/** Part of a statement: the line of `work`, for `judgedWithRefs`. */
export const withLine = (lines: Lines): Sql => sql`
join tollgate.settlement_stage as stage on stage.file_id = work.run_id and ${inWindow(sql`stage`, lines)}
  and stage.line = work.line`

/** Condition: a tier so far has an eligible payment for the line of `work`, which is in the window. */
export const hasEligible = (lines: Lines): Sql => sql`exists (
    select
    from tollgate.settlement_candidate as eligible
    where eligible.run_id = work.run_id and ${inWindow(sql`eligible`, lines)} and eligible.line = work.line
      and eligible.is_eligible)`

export const isOpen = (lines: Lines): Sql => sql`not ${hasEligible(lines)}`
