import { type Sql, sql } from '../db/sql.ts'

/**
 * A part of a recursive statement, `member`: an authorisation, all its increases, and theirs. Captures of each of them
 * are captures of the authorisation.
 *
 * @param isRoot Condition of the authorisation.
 */
export const membersOf = (isRoot: Sql) => sql`
member as (
  select id, attempt_key
  from tollgate.payment
  where ${isRoot}
  union all
  select increase.id, increase.attempt_key
  from member
  -- A lookup for each member (offset 0): by their estimated number, the planner would read all payments.
  cross join lateral (
    select id, attempt_key
    from tollgate.payment
    where referenced_id = member.id and effect = 'increase'
    offset 0) as increase)`
