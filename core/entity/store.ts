import type { Actor } from '../audit/actor.ts'
import { auditRows } from '../audit/stored-rows.ts'
import { type Sql, sql } from '../db/sql.ts'
import { type ProposalUse, usedProposal } from '../four-eyes/stored-proposal.ts'
import type { Facts } from '../redaction/harmless.ts'

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
  rights: string[] | null
  networks: string[] | null
  expires_at: Date | null
  revoked_at: Date | null
}
export type ListedToken = Omit<TokenRow, 'environment'> & {
  name: string
  created_at: Date
  successor_id: string | null
  last_used_at: Date | null
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
  /** An inactive account takes no new payments. */
  active: boolean
}

export const entityById = (id: string) => sql<EntityRow>`
  select id, parent_id, kind, name, closed, settings
  from tollgate.entity
  where id = ${id}`

/** An entity on the path from the entity `of` to the top. */
export type PathRow = EntityRow & { readonly of: string }

/**
 * Each of these entities and the entities above it, itself first: a channel has three entities above it.
 * Offset 0 makes Postgres look them up one by one, because one join of many would read the whole table.
 */
export const ancestries = (ids: readonly string[]) => sql<PathRow>`
  select asked.of, node.id, node.parent_id, node.kind, node.name, node.closed, node.settings
  from unnest(${ids}::uuid[]) as asked(of)
  cross join lateral (
    select id, parent_id, kind, name, closed, settings from tollgate.entity where id = asked.of offset 0) itself
  left join lateral (
    select id, parent_id, kind, name, closed,
      settings from tollgate.entity where id = itself.parent_id offset 0) parent on true
  left join lateral (
    select id, parent_id, kind, name, closed,
      settings from tollgate.entity where id = parent.parent_id offset 0) grandparent on true
  left join lateral (
    select id, parent_id, kind, name, closed,
      settings from tollgate.entity where id = grandparent.parent_id offset 0) top on true
  cross join lateral (values
    (1, itself.id, itself.parent_id, itself.kind, itself.name, itself.closed, itself.settings),
    (2, parent.id, parent.parent_id, parent.kind, parent.name, parent.closed, parent.settings),
    (3, grandparent.id, grandparent.parent_id, grandparent.kind, grandparent.name, grandparent.closed, grandparent.settings),
    (4, top.id, top.parent_id, top.kind, top.name, top.closed, top.settings))
    as node(depth, id, parent_id, kind, name, closed, settings)
  where node.id is not null
  order by asked.of, node.depth`

/** Changes with every change of entities and accounts. */
export const configurationVersion = sql<{ version: string }>`
  select version from tollgate.configuration`

/** Channels at or below a node. */
export const channelsBelow = (id: string) => sql<{ id: string }>`
  with recursive down as (
    select id, kind from tollgate.entity where id = ${id}
    union all
    select entity.id, entity.kind from tollgate.entity join down on entity.parent_id = down.id)
  select id from down where kind = 'channel'`

export const allEntities = sql<EntityRow>`
  select id, parent_id, kind, name, closed, settings
  from tollgate.entity
  order by created_at, id`

/** `limited`: the stored limits of a token with rights, networks or an expiry. */
export const tokenByHash = (plain: Buffer, limited: Buffer) => sql<TokenRow>`
  select id, entity_id, environment, rights, networks, expires_at, revoked_at
  from tollgate.token
  where hash in (${plain}, ${limited})`

/** The rights, networks and expiry of a token, for the audit trail. */
const tokenFacts = (
  of: Sql,
  end: Sql = of,
) => sql`jsonb_build_object('name', ${of}.name, 'rights', ${of}.rights,
    'networks', ${of}.networks, 'expiresAt', ${end}.expires_at)`

export const addToken = (
  row: {
    id: string
    hash: Buffer
    entityId: string
    environment: string
    name: string
    rights: readonly string[] | null
    networks: readonly string[] | null
    expiresAt: Date | null
  },
  by: Actor,
  use: ProposalUse | null,
) => sql<{ id: string }>`
with used as (${usedProposal(use)}),
made as (
  insert into tollgate.token (id, hash, entity_id, environment, name, rights, networks, expires_at)
  select ${row.id}::uuid, ${row.hash}::bytea, ${row.entityId}::uuid, ${row.environment}::text, ${row.name}::text,
    ${row.rights}::text[], ${row.networks}::text[], ${row.expiresAt}::timestamptz
  from used
  on conflict (id) do nothing
  returning id),
audited as (${auditRows(
  {
    actor: by,
    action: 'token.created',
    entityId: row.entityId,
    resource: row.id,
    after: {
      name: row.name,
      environment: row.environment,
      rights: row.rights,
      networks: row.networks,
      expiresAt: row.expiresAt,
    },
  },
  { from: sql`made` },
)})
select id from made`

/**
 * Creates the successor of a valid token that was not rotated yet: with the same entity and limits, and the
 * same lifetime unless another is given. The old token ends with the overlap.
 */
export const rotateToken = (
  id: string,
  next: { id: string; plain: Buffer; limited: Buffer; expiresAt: Date | null },
  overlapMs: number,
  by: Actor,
  use: ProposalUse | null,
) => sql<{ id: string; expires_at: Date | null; old_expires_at: Date }>`
  with used as (${usedProposal(use)}),
  rotated as (
    select id, entity_id, environment, name, rights, networks, expires_at,
      coalesce(${next.expiresAt}::timestamptz, now() + (expires_at - created_at)) as next_expires_at
    from tollgate.token cross join used
    where id = ${id}::uuid and revoked_at is null and successor_id is null
      and (expires_at is null or expires_at > now())
    for update of token),
  ended as (
    update tollgate.token
    set successor_id = ${next.id}::uuid,
      expires_at = least(rotated.expires_at, now() + ${overlapMs}::bigint * interval '1 millisecond')
    from rotated
    where token.id = rotated.id
    returning token.expires_at),
  made as (
    insert into tollgate.token (id, hash, entity_id, environment, name, rights, networks, expires_at)
    select ${next.id}::uuid,
      case when rights is null and networks is null and next_expires_at is null
        then ${next.plain}::bytea else ${next.limited}::bytea end,
      entity_id, environment, name, rights, networks, next_expires_at
    from rotated
    returning id, expires_at),
  audited as (${auditRows(
    { actor: by, action: 'token.rotated', resource: id },
    {
      from: sql`rotated cross join made cross join ended`,
      entityId: sql`rotated.entity_id`,
      before: tokenFacts(sql`rotated`),
      after: sql`${tokenFacts(sql`rotated`, sql`ended`)} || jsonb_build_object('successor', replace(made.id::text, '-', ''),
        'successorExpiresAt', made.expires_at)`,
    },
  )})
  select made.id, made.expires_at, ended.expires_at as old_expires_at from made cross join ended`

export const tokenById = (id: string) => sql<ListedToken>`
  select id, entity_id, name, created_at, rights, networks, expires_at, successor_id, last_used_at, revoked_at
  from tollgate.token
  where id = ${id}`

/** Skips rows that another statement locks: it changes or marks them now. */
export const markTokensUsed = (ids: readonly string[]) => sql`
  with used as (
    select id from tollgate.token where id = any(${ids}::uuid[]) for update skip locked)
  update tollgate.token set last_used_at = now() from used where token.id = used.id`

/** Empty for a token that was revoked before, which stays unchanged. */
export const revokeToken = (id: string, by: Actor) => sql<{ id: string }>`
with was as (
  select id, entity_id, name, rights, networks, expires_at, revoked_at
  from tollgate.token
  where id = ${id}::uuid
  for update),
revoked as (
  update tollgate.token set revoked_at = now()
  from was
  where token.id = was.id and was.revoked_at is null
  returning was.entity_id, was.name, was.rights, was.networks, was.expires_at),
audited as (${auditRows(
  { actor: by, action: 'token.revoked', resource: id },
  {
    from: sql`revoked`,
    entityId: sql`revoked.entity_id`,
    before: tokenFacts(sql`revoked`),
  },
)})
select id from was`

export const tokensOf = (entityId: string) => sql<ListedToken>`
  select id, entity_id, name, created_at, rights, networks, expires_at, successor_id, last_used_at,
    revoked_at
  from tollgate.token
  where entity_id = ${entityId}
  order by created_at`

/** Inactive ones too: they carry out the follow-ups of their payments. */
export const accountsOf = (channelIds: readonly string[]) => sql<AccountRow>`
  select id, channel_id, connector, mode, brands, settings, data_key_id, sealed, active
  from tollgate.merchant_account
  where channel_id = any(${channelIds}::uuid[])
  order by position, created_at, id`

export const accountById = (id: string) => sql<AccountRow>`
  select id, channel_id, connector, mode, brands, settings, data_key_id, sealed, active
  from tollgate.merchant_account
  where id = ${id}`

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
  use: ProposalUse | null
  /** The entity's facts in the audit trail: secrets by name only. */
  after: Facts
}) => sql<{ id: string }>`
with used as (${usedProposal(row.use)}),
made as (
  insert into tollgate.merchant_account (id, channel_id, connector, mode, brands, settings, data_key_id, sealed)
  select ${row.id}::uuid, ${row.channelId}::uuid, ${row.connector}::text, ${row.mode}::text, ${row.brands}::text[],
    ${row.settings}::jsonb, ${row.dataKeyId}::uuid, ${row.sealed}::bytea
  from used
  returning id),
audited as (${auditRows(
  {
    actor: row.by,
    action: 'account.created',
    entityId: row.channelId,
    resource: row.id,
    after: row.after,
  },
  { from: sql`made` },
)})
select id from made`

/** The first process decides about the database; every later one learns what was decided. */
export const claimInstallation = (environment: string, pod: number) => sql<{
  environment: string
  pod: number
}>`
  insert into tollgate.installation (environment, pod) values (${environment}, ${pod}::smallint)
  on conflict (single) do update set environment = tollgate.installation.environment
  returning environment, pod`
