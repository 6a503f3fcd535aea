/** SQL of acquirer accounts as operators see and change them. */
import type { Actor } from '../audit/actor.ts'
import { auditRows } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'
import type { AccountRow } from '../entity/store.ts'
import { type ProposalUse, usedProposal } from '../four-eyes/stored-proposal.ts'
import type { Facts } from '../redaction/harmless.ts'

export type StoredAccount = AccountRow & { position: number; created_at: Date }

/** Accounts of an entity and of those below it (null: all), by id. */
export const accountsBelow = (entityId: string | null, after: string | null, limit: number) =>
  sql<StoredAccount>`
  with recursive below as (
    select id from tollgate.entity where id = ${entityId}::uuid
    union all
    select child.id from tollgate.entity as child join below on child.parent_id = below.id)
  select id, channel_id, connector, mode, brands, settings, data_key_id, sealed, active, position, created_at
  from tollgate.merchant_account
  where (${entityId}::uuid is null or channel_id in (select below.id from below))
    and (${after}::uuid is null or id > ${after}::uuid)
  order by id
  limit ${limit}::integer`

export const storedAccount = (id: string) => sql<StoredAccount>`
  select id, channel_id, connector, mode, brands, settings, data_key_id, sealed, active, position, created_at
  from tollgate.merchant_account
  where id = ${id}::uuid`

export const accountCounts = sql<{
  connector: string
  mode: 'EXTERNAL' | 'LIVE'
  enabled: bigint
  disabled: bigint
}>`
  select connector, mode, count(*) filter (where active) as enabled,
    count(*) filter (where not active) as disabled
  from tollgate.merchant_account
  group by connector, mode
  order by connector, mode`

/** The same under a lock, so that two changes at once do not undo each other. */
export const lockedAccount = (id: string) => sql<StoredAccount>`
  select id, channel_id, connector, mode, brands, settings, data_key_id, sealed, active, position, created_at
  from tollgate.merchant_account
  where id = ${id}::uuid
  for update`

export type AccountChange = Pick<
  StoredAccount,
  | 'id'
  | 'channel_id'
  | 'connector'
  | 'brands'
  | 'position'
  | 'settings'
  | 'data_key_id'
  | 'sealed'
  | 'active'
>

export const changeAccount = (
  to: AccountChange,
  by: Actor,
  told: { readonly action: string; readonly before?: Facts; readonly after?: Facts },
  use: ProposalUse | null,
) => sql<{ id: string }>`
with used as (${usedProposal(use)}),
changed as (
  update tollgate.merchant_account
  set brands = ${to.brands}::text[], position = ${to.position}::integer,
    settings = ${JSON.stringify(to.settings)}::jsonb, data_key_id = ${to.data_key_id}::uuid,
    sealed = ${to.sealed}::bytea, active = ${to.active}::boolean
  from used
  where id = ${to.id}::uuid
  returning id),
audited as (${auditRows(
  { actor: by, ...told, entityId: to.channel_id, resource: to.id },
  { from: sql`changed` },
)})
select id from changed`
