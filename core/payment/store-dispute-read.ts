/** SQL that reads chargebacks, their reversals and their open amounts. */
import { type Sql, sql } from '../db/sql.ts'
import type { Effect } from './operation-kinds.ts'
import { membersOf } from './stored-members.ts'
import type { PaymentState } from './types.ts'

export type FactKind = 'chargeback' | 'reversal'

export type ChargebackRow = {
  reference: string
  /**
   * The acquirer's name of a fact that had none: of a reversal that an operator recorded by hand, or
   * of a fact that a message and a settlement line told, one of them without a reference.
   */
  told_as: string | null
  is_named: boolean
  /** Id of the first message. */
  source: string | null
  /** The institute's number of the settlement line that told it. */
  settlement_id: string | null
  record_id: string
  payment_id: string
  balance_id: string | null
  minor: bigint
  currency: string
  counted: bigint
  reversed: bigint
  /** The returned amount of a chargeback, including amounts outside of the sums. */
  given_back: bigint
}

const columns = sql`reference, told_as, is_named, source, settlement_id, record_id, payment_id, balance_id, minor,
  currency, counted, reversed, given_back`

/** Marks the name of a fact without a reference: behind the id of its message. */
export const unnamedMark = '\nunnamed'

/**
 * A fact by the acquirer's reference, including facts that an operator recorded first. A message and a settlement
 * line can spell one reference in two ways, and ids of messages differ by their case alone.
 */
export const factByReference = (
  connector: string,
  account: string,
  kind: FactKind,
  reference: string,
) => {
  const isCalled = (column: Sql) =>
    reference.includes(unnamedMark)
      ? sql`${column} = ${reference}::text`
      : sql`lower(btrim(${column})) = lower(btrim(${reference}::text))`
  return sql<ChargebackRow>`
  select ${columns}
  from tollgate.chargeback
  where connector = ${connector}::text and account = ${account}::text and kind = ${kind}::text
    and (${isCalled(sql`reference`)} or ${isCalled(sql`told_as`)})
  -- Facts of earlier times can have both spellings.
  order by coalesce(${reference}::text in (reference, told_as), false) desc, at, record_id
  limit 1`
}

/** Sources of settlement lines begin with this; ids of messages never contain a space. */
export const lineSource = 'line '

/** Chargebacks of payments and of their captures, oldest first. */
export const chargebacksOf = (paymentIds: readonly string[]) => sql<ChargebackRow>`
  select ${columns}
  from tollgate.chargeback
  where payment_id = any(${paymentIds}::uuid[]) and kind = 'chargeback'
  order by at, record_id`

/** The number of reported chargebacks of a payment and its captures. */
export const placesOf = (family: string) => sql<{ places: number }>`
  select coalesce(max(place), 0) as places
  from tollgate.chargeback
  where family = ${family}::uuid`

/**
 * The open amounts of chargebacks by currency, including chargebacks outside of the sums. A late
 * success has no sums, yet its money is gone. Empty: no chargeback is open. Of a capture or an authorisation,
 * chargebacks by a key of the chain count, which stay at that authorisation while no capture has them.
 */
export const standingOf = (paymentId: string | null) => sql<{
  currency: string
  minor: bigint
}>`
with recursive ${membersOf(sql`id = (
    select case effect when 'capture' then parent_id else id end from tollgate.payment where id = ${paymentId}::uuid)`)},
subject as (
  select ${paymentId}::uuid as id
  union
  select id from member where effect in ('authorisation', 'replacement', 'increase'))
select currency, sum(minor - given_back)::bigint as minor
from tollgate.chargeback
where payment_id in (select id from subject) and kind = 'chargeback' and given_back < minor
group by currency`

/** Chargebacks by their payment records. */
export const chargebacksByRecord = (recordIds: readonly string[]) => sql<ChargebackRow>`
  select ${columns}
  from tollgate.chargeback
  where record_id = any(${recordIds}::uuid[]) and kind = 'chargeback'`

/** Captures of the chain of an authorisation, including failed captures. */
export const capturesOf = (authorisationId: string | null) => sql<{
  id: string
  state: PaymentState
  attempt_key: string
  /** A late success took money, too. */
  has_taken: boolean
}>`
  with recursive ${membersOf(sql`id = ${authorisationId}::uuid`)}
  select capture.id, capture.state, capture.attempt_key, capture.state = 'approved' or exists (
    select from tollgate.attempt where key = capture.attempt_key and attempt.state = 'late') as has_taken
  from member
  cross join lateral (
    select id, state, attempt_key
    from tollgate.payment
    where referenced_id = member.id and effect = 'capture'
    offset 0) as capture
  order by capture.id`

/** The authorisations of a chain, the oldest first, and the sums of those that ever stood and count for themselves. */
export const chainOf = (authorisationId: string) => sql<ChainRow>`
  with recursive ${membersOf(sql`id = ${authorisationId}::uuid`)}
  select member.id, member.state, member.effect, balance.captures, balance.captured, balance.capturing,
    balance.closed_by, balance.payment_id is not null as has_stood
  from member
  left join lateral (
    select payment_id, captures, captured, capturing, closed_by
    from tollgate.payment_balance
    where payment_balance.payment_id = member.id
    offset 0) as balance on true
  order by member.id`

export type ChainRow = {
  id: string
  state: PaymentState
  effect: Effect
  has_stood: boolean
  captures: number | null
  captured: bigint | null
  capturing: bigint | null
  closed_by: string | null
}
