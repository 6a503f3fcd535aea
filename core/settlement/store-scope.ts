/** SQL of settlement scopes and of the leases under which their files are processed. */
import type { Mode } from '../connector/registry.ts'
import { sql } from '../db/sql.ts'
import type { AccountRow } from '../entity/store.ts'
import type { Held } from './stored-fence.ts'

export type ScopeRow = {
  id: string
  connector: string
  mode: Mode
  merchant_number: string
  clock_id: string | null
  entity_id: string
  /** Null: the scope has none, or several. */
  only_account_id: string | null
}

/** All accounts of a connector, inactive ones too: files name merchants whose account has ended. */
export const allAccountsOf = (connector: string, mode: Mode) => sql<AccountRow>`
  select id, channel_id, connector, mode, brands, settings, data_key_id, sealed, active
  from tollgate.merchant_account
  where connector = ${connector}::text and mode = ${mode}::text
  order by id`

/** Makes a scope, or moves a known one to the entity that its accounts have now. */
export const upsertScope = (row: ScopeRow) => sql<{ id: string }>`
  insert into tollgate.settlement_scope (id, connector, mode, merchant_number, clock_id, entity_id, only_account_id)
  values (${row.id}::uuid, ${row.connector}::text, ${row.mode}::text, ${row.merchant_number}::text,
    ${row.clock_id}::uuid, ${row.entity_id}::uuid, ${row.only_account_id}::uuid)
  on conflict (connector, mode, merchant_number, clock_id) do update set entity_id = excluded.entity_id,
    only_account_id = excluded.only_account_id
  returning id`

export const scopeById = (id: string) => sql<ScopeRow>`
  select id, connector, mode, merchant_number, clock_id, entity_id, only_account_id
  from tollgate.settlement_scope
  where id = ${id}::uuid`

/** Takes free leases of these scopes, all or none. The lease number fences every commit. */
export const takeLeases = (ids: readonly string[], forMs: number) => sql<{
  id: string
  lease: number
}>`
with free as (
  select id
  from tollgate.settlement_scope
  where id = any(${ids}::uuid[]) and (lease_until is null or lease_until < now())
  order by id
  for update)
update tollgate.settlement_scope as scope
set lease = scope.lease + 1, lease_until = now() + ${forMs}::bigint * interval '1 millisecond'
from free
where scope.id = free.id and (select count(*) from free) = cardinality(${ids}::uuid[])
returning scope.id, scope.lease`

/** Extends leases between the commits of a long step. One that has ended meanwhile stays ended. */
export const renewLeases = ({ ids, leases }: Held, forMs: number) => sql`
update tollgate.settlement_scope as scope
set lease_until = now() + ${forMs}::bigint * interval '1 millisecond'
from unnest(${ids}::uuid[], ${leases}::integer[]) as held (id, lease)
where scope.id = held.id and scope.lease = held.lease and scope.lease_until is not null`

export const endLeases = (ids: readonly string[], leases: readonly number[]) => sql`
update tollgate.settlement_scope as scope set lease_until = null
from unnest(${ids}::uuid[], ${leases}::integer[]) as held (id, lease)
where scope.id = held.id and scope.lease = held.lease`

/** Inactive ones too: files arrive after an account has ended. */
export const anyAccount = (id: string) => sql<AccountRow>`
  select id, channel_id, connector, mode, brands, settings, data_key_id, sealed, active
  from tollgate.merchant_account
  where id = ${id}::uuid`

/** Gives accounts of these connectors, inactive ones too, a timer of their next fetch, each at a moment of its own. */
export const planFetches = (connectors: readonly string[], withinMs: number) => sql`
  insert into tollgate.timer (id, due_at, kind, ref)
  select gen_random_uuid(), now() + random() * ${withinMs}::bigint * interval '1 millisecond', 'settlement-fetch',
    replace(id::text, '-', '')
  from tollgate.merchant_account
  where connector = any(${connectors}::text[])
  on conflict (kind, ref) do nothing`

export const cursorOf = (accountId: string) => sql<{ cursor: string }>`
  select cursor
  from tollgate.settlement_cursor
  where account_id = ${accountId}::uuid`

export const saveCursor = (accountId: string, cursor: string) => sql`
  insert into tollgate.settlement_cursor (account_id, cursor)
  values (${accountId}::uuid, ${cursor}::text)
  on conflict (account_id) do update set cursor = excluded.cursor, at = now()`
