import type { Actor } from '../audit/actor.ts'
import type { Facts } from '../audit/harmless.ts'
import { auditRows } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'

export type EntityKind = 'psp' | 'division' | 'merchant' | 'channel'
export type EntityRow = {
  id: string
  parent_id: string | null
  kind: EntityKind
  name: string
  closed: boolean
  settings: Record<string, unknown>
}
export type TokenRow = {
  id: string
  entity_id: string
  environment: string
  revoked_at: Date | null
}
export type AccountRow = {
  id: string
  channel_id: string
  connector: string
  mode: 'EXTERNAL' | 'LIVE'
  brands: string[] | null
  settings: Record<string, unknown>
  data_key_id: string | null
  sealed: Buffer | null
}

export const entityById = (id: string) => sql<EntityRow>`
  select id, parent_id, kind, name, closed, settings
  from tollgate.entity
  where id = ${id}`

/** One step of the way from an entity up to the top. `of` is the entity it begins with. */
export type PathRow = EntityRow & { readonly of: string }

/**
 * Each of these entities and all above it, itself first: a channel has three nodes above it. Looked up one by
 * one (offset 0 keeps them apart), because joining many of them at once reads the whole table.
 */
export const ancestries = (ids: readonly string[]) => sql<PathRow>`
  select a.of, n.id, n.parent_id, n.kind, n.name, n.closed, n.settings
  from unnest(${ids}::uuid[]) as a(of)
  cross join lateral (
    select id, parent_id, kind, name, closed, settings from tollgate.entity where id = a.of offset 0) e1
  left join lateral (
    select id, parent_id, kind, name, closed, settings from tollgate.entity where id = e1.parent_id offset 0) e2 on true
  left join lateral (
    select id, parent_id, kind, name, closed, settings from tollgate.entity where id = e2.parent_id offset 0) e3 on true
  left join lateral (
    select id, parent_id, kind, name, closed, settings from tollgate.entity where id = e3.parent_id offset 0) e4 on true
  cross join lateral (values
    (1, e1.id, e1.parent_id, e1.kind, e1.name, e1.closed, e1.settings),
    (2, e2.id, e2.parent_id, e2.kind, e2.name, e2.closed, e2.settings),
    (3, e3.id, e3.parent_id, e3.kind, e3.name, e3.closed, e3.settings),
    (4, e4.id, e4.parent_id, e4.kind, e4.name, e4.closed, e4.settings))
    as n(depth, id, parent_id, kind, name, closed, settings)
  where n.id is not null
  order by a.of, n.depth`

/** Changes with every change of entities and accounts. */
export const configurationVersion = sql<{ version: string }>`
  select version from tollgate.configuration`

/** Channels at or below a node. */
export const channelsBelow = (id: string) => sql<{ id: string }>`
  with recursive down as (
    select id, kind from tollgate.entity where id = ${id}
    union all
    select e.id, e.kind from tollgate.entity e join down on e.parent_id = down.id)
  select id from down where kind = 'channel'`

export const allEntities = sql<EntityRow>`
  select id, parent_id, kind, name, closed, settings
  from tollgate.entity
  order by created_at, id`

export const addEntity = (
  id: string,
  parentId: string | null,
  kind: EntityKind,
  name: string,
  settings: Record<string, unknown>,
  by: Actor,
) => sql<{ id: string }>`
with made as (
  insert into tollgate.entity (id, parent_id, kind, name, settings)
  values (${id}::uuid, ${parentId}::uuid, ${kind}::text, ${name}::text, ${JSON.stringify(settings)}::jsonb)
  on conflict (id) do nothing
  returning id),
audited as (${auditRows(
  {
    actor: by,
    action: 'entity.created',
    entityId: id,
    resource: id,
    after: { kind, name, parentId, settings },
  },
  { from: sql`made` },
)})
select id from made`

export const setEntitySettings = (id: string, settings: Record<string, unknown>, by: Actor) => sql<{
  id: string
}>`
with was as (
  select id, settings from tollgate.entity where id = ${id}::uuid for update),
changed as (
  update tollgate.entity set settings = was.settings || ${JSON.stringify(settings)}::jsonb
  from was
  where entity.id = was.id
  returning entity.id, was.settings as before, entity.settings as after),
audited as (${auditRows(
  { actor: by, action: 'entity.configured', entityId: id, resource: id },
  { from: sql`changed`, before: sql`changed.before`, after: sql`changed.after` },
)})
select id from changed`

export const setClosed = (id: string, closed: boolean, by: Actor) => sql<{
  id: string
}>`
with n as (
  update tollgate.entity set closed = ${closed}::boolean where id = ${id}::uuid
  returning id, closed),
audited as (${auditRows(
  {
    actor: by,
    action: closed ? 'entity.closed' : 'entity.opened',
    entityId: id,
    resource: id,
    after: { closed },
  },
  { from: sql`n` },
)})
select id from n`

export const tokenByHash = (hash: Buffer) => sql<TokenRow>`
  select id, entity_id, environment, revoked_at
  from tollgate.token
  where hash = ${hash}`

export const addToken = (
  id: string,
  hash: Buffer,
  entityId: string,
  environment: string,
  name: string,
  by: Actor,
) => sql`
with made as (
  insert into tollgate.token (id, hash, entity_id, environment, name)
  values (${id}::uuid, ${hash}::bytea, ${entityId}::uuid, ${environment}::text, ${name}::text)
  on conflict (id) do nothing
  returning id)
${auditRows(
  { actor: by, action: 'token.created', entityId, resource: id, after: { name, environment } },
  { from: sql`made` },
)}`

/** Told once: a token that was revoked before stays as it was. */
export const revokeToken = (id: string, by: Actor) => sql<{ id: string }>`
with was as (
  select id, entity_id, name, revoked_at from tollgate.token where id = ${id}::uuid for update),
revoked as (
  update tollgate.token set revoked_at = now()
  from was
  where token.id = was.id and was.revoked_at is null
  returning was.entity_id, was.name),
audited as (${auditRows(
  { actor: by, action: 'token.revoked', resource: id },
  {
    from: sql`revoked`,
    entityId: sql`revoked.entity_id`,
    before: sql`jsonb_build_object('name', revoked.name)`,
  },
)})
select id from was`

export const tokensOf = (entityId: string) => sql<{
  id: string
  name: string
  created_at: Date
  revoked_at: Date | null
}>`
  select id, name, created_at, revoked_at
  from tollgate.token
  where entity_id = ${entityId}
  order by created_at`

export const accountsOf = (channelIds: readonly string[]) => sql<AccountRow>`
  select id, channel_id, connector, mode, brands, settings, data_key_id, sealed
  from tollgate.merchant_account
  where channel_id = any(${channelIds}::uuid[]) and active
  order by position, created_at, id`

export const accountById = (id: string) => sql<AccountRow>`
  select id, channel_id, connector, mode, brands, settings, data_key_id, sealed
  from tollgate.merchant_account
  where id = ${id} and active`

export const addAccount = (row: {
  id: string
  channelId: string
  connector: string
  mode: string
  brands: readonly string[] | null
  settings: string
  dataKeyId: string | null
  sealed: Buffer | null
  by: Actor
  /** What is told of it: its secrets by name only. */
  after: Facts
}) => sql`
with made as (
  insert into tollgate.merchant_account (id, channel_id, connector, mode, brands, settings, data_key_id, sealed)
  values (${row.id}::uuid, ${row.channelId}::uuid, ${row.connector}::text, ${row.mode}::text, ${row.brands}::text[],
    ${row.settings}::jsonb, ${row.dataKeyId}::uuid, ${row.sealed}::bytea)
  returning id)
${auditRows(
  {
    actor: row.by,
    action: 'account.created',
    entityId: row.channelId,
    resource: row.id,
    after: row.after,
  },
  { from: sql`made` },
)}`

export const claimInstallation = (environment: string) => sql<{ environment: string }>`
  insert into tollgate.installation (environment) values (${environment})
  on conflict (single) do update set environment = tollgate.installation.environment
  returning environment`
