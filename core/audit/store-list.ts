/** SQL that reads the audit trail for people. */
import { type Sql, sql } from '../db/sql.ts'
import type { Facts } from '../redaction/harmless.ts'

export type AuditRow = {
  id: string
  /** With microseconds; also the start of the next page. */
  at: string
  actor_kind: string
  actor_id: string | null
  actor: string
  address: string | null
  host: string | null
  action: string
  entity_id: string | null
  resource: string | null
  before: Facts | null
  after: Facts | null
  detail: Facts
  /** The row's number in the chain; null before its link. */
  link: bigint | null
  mac: string | null
}

export type AuditFilter = {
  /** This entity and all entities below it. */
  readonly entity?: string
  /** Name or id. */
  readonly actor?: string
  /** `token.created`, or `token` for every action on tokens. */
  readonly action?: string
  readonly since?: Date
  readonly resource?: string
}

export type Place = { readonly at: string; readonly id: string }

/** The place of a row in the order. */
export const auditPlace = (id: string) => sql<Place>`
  select audit.id, to_char(audit.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
  from tollgate.audit as audit
  where audit.id = ${id}::uuid`

/**
 * Rows of the trail by time, after or before a place. Each filter has an index in this order, so a
 * page reads only its own rows.
 */
export const auditPage = (
  filter: AuditFilter,
  order: 'newest' | 'oldest',
  from: Place | null,
  limit: number,
) => {
  const page = pageOf(filter, order, from, limit)
  return sql<AuditRow>`
  with recursive below as (
    select id from tollgate.entity where id = ${filter.entity ?? null}::uuid
    union all
    select child.id from tollgate.entity as child join below on child.parent_id = below.id),
  ${actionsOf(filter.action ?? '')},
  page as (${sourceOf(filter, page)})
  select page.id, to_char(page.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
    page.actor_kind, page.actor_id, page.actor, page.address, page.host, page.action, page.entity_id,
    page.resource, page.before, page.after, page.detail, link.no as link, encode(link.mac, 'hex') as mac
  from page
  left join tollgate.audit_link as link on link.audit_id = page.id
  ${order === 'newest' ? sql`order by page.at desc, page.id desc` : sql`order by page.at, page.id`}
  limit ${limit}::integer`
}

/** The actions that a filter names, with one index look-up each. */
const actionsOf = (action: string) => sql`
  known as (
    (select audit.action collate "C" as action
    from tollgate.audit
    where audit.action collate "C" >= ${action}::text
    order by audit.action collate "C"
    limit 1)
    union all
    select (
      select audit.action collate "C"
      from tollgate.audit
      where audit.action collate "C" > known.action
      order by audit.action collate "C"
      limit 1)
    from known
    where known.action < ${action}::text || '/'),
  named as (
    select action from known where action = ${action}::text or starts_with(action, ${action}::text || '.'))`

/** @param page Rows that meet a condition, at most one page. */
function sourceOf(
  { resource, actor, action, entity }: AuditFilter,
  page: (which: Sql) => Sql,
): Sql {
  const isOfNode = entity === undefined ? sql`` : sql`and audit.entity_id in (select id from below)`
  const isNamed =
    action === undefined ? sql`` : sql`and audit.action collate "C" in (select action from named)`
  if (resource !== undefined) {
    const isOfActor =
      actor === undefined
        ? sql``
        : sql`and (audit.actor = ${actor}::text or audit.actor_id = ${actor}::text)`
    return page(sql`audit.resource = ${resource}::uuid ${isOfActor} ${isNamed} ${isOfNode}`)
  }
  if (actor !== undefined) {
    return sql`
    (${page(sql`audit.actor = ${actor}::text ${isNamed} ${isOfNode}`)})
    union all
    (${page(sql`audit.actor_id = ${actor}::text and audit.actor <> ${actor}::text ${isNamed} ${isOfNode}`)})`
  }
  const columns = sql`found.id, found.at, found.actor_kind, found.actor_id, found.actor, found.address, found.host,
      found.action, found.entity_id, found.resource, found.before, found.after, found.detail`
  if (action !== undefined && entity !== undefined) {
    return sql`
    select ${columns}
    from below
    cross join named
    cross join lateral (${page(sql`audit.entity_id = below.id and audit.action collate "C" = named.action`)}) as found`
  }
  if (action !== undefined) {
    return sql`
    select ${columns}
    from named
    cross join lateral (${page(sql`audit.action collate "C" = named.action`)}) as found`
  }
  if (entity !== undefined) {
    return sql`
    select ${columns}
    from below
    cross join lateral (${page(sql`audit.entity_id = below.id`)}) as found`
  }
  return page(sql`true`)
}

const pageOf =
  ({ since }: AuditFilter, order: 'newest' | 'oldest', from: Place | null, limit: number) =>
  (which: Sql): Sql => {
    const isNewest = order === 'newest'
    const place = from && sql`(${from.at}::timestamptz, ${from.id}::uuid)`
    return sql`
    select audit.id, audit.at, audit.actor_kind, audit.actor_id, audit.actor, audit.address, audit.host, audit.action,
      audit.entity_id, audit.resource, audit.before, audit.after, audit.detail
    from tollgate.audit as audit
    where ${which}
      ${since === undefined ? sql`` : sql`and audit.at >= ${since}::timestamptz`}
      ${place === null ? sql`` : isNewest ? sql`and (audit.at, audit.id) < ${place}` : sql`and (audit.at, audit.id) > ${place}`}
    ${isNewest ? sql`order by audit.at desc, audit.id desc` : sql`order by audit.at, audit.id`}
    limit ${limit}::integer`
  }
