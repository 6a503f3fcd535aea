import { type Sql, sql } from '../db/sql.ts'

/**
 * A part of a recursive statement, `member`: all authorisations of one chain. These are an authorisation, its increases,
 * those that it replaced or that replaced it, and theirs. An acquirer can name the money of a capture by the key of any
 * of them, because a reauthorisation goes on with the same money. So captures of each of them are captures of the chain.
 *
 * @param isOne Condition of one of them, or of a payment that is its own chain, such as a sale.
 */
export const membersOf = (isOne: Sql) => sql`
member as (
  select id, attempt_key, state, effect, referenced_id
  from tollgate.payment
  where ${isOne}
  -- Without repeats: each one is found from both of its sides.
  union
  select other.id, other.attempt_key, other.state, other.effect, other.referenced_id
  from member
  -- Lookups for each member (offset 0): by their estimated number, the planner would read all payments.
  cross join lateral (
    select id, attempt_key, state, effect, referenced_id
    from tollgate.payment
    where referenced_id = member.id and effect in ('increase', 'replacement')
    union all
    select id, attempt_key, state, effect, referenced_id
    from tollgate.payment
    where id = member.referenced_id and member.effect in ('increase', 'replacement')
    offset 0) as other)`
