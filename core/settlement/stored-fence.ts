/** The check of leases that every commit of a settlement file contains. */
import { type Sql, sql } from '../db/sql.ts'

/** Leases of one run. */
export type Held = { readonly ids: readonly string[]; readonly leases: readonly number[] }

/**
 * Part of a statement: `fence` has one row while this process still holds all leases. It locks the scopes
 * against another process that would take them before the commit, and extends the leases.
 */
export const fence = ({ ids, leases }: Held, forMs: number): Sql => sql`
held as (
  update tollgate.settlement_scope as scope
  set lease_until = now() + ${forMs}::bigint * interval '1 millisecond'
  from unnest(${ids}::uuid[], ${leases}::integer[]) as held (id, lease)
  where scope.id = held.id and scope.lease = held.lease
  returning scope.id),
fence as (
  select
  from held
  having count(*) = cardinality(${ids}::uuid[]))`
