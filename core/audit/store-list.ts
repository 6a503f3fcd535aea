/** SQL of the audit trail as people read it. */
import { type Sql, sql } from '../db/sql.ts'
import type { Facts } from '../redaction/harmless.ts'

export type AuditRow = {
  id: string
  /** With microseconds: also the place from which the next page goes on. */
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
  /** Its number in the chain; null until it has one. */
  link: bigint | null
  mac: string | null
}

export type AuditFilter = {
  /** Of this node and all below it. */
  readonly entity?: string
  /** Name or id. */
  readonly actor?: string
  /** `token.created`, or `token` for every action with tokens. */
  readonly action?: string
  readonly since?: Date
  readonly resource?: string
}

export type Place = { readonly at: string; readonly id: string }

/** Where a row stands among the others. */
export const auditPlace = (id: string) => sql<Place>`
  select audit.id, to_char(audit.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at
  from tollgate.audit as audit
  where audit.id = ${id}::uuid`

type Order = 'newest' | 'oldest'

/** Every way in which a row can meet the filter, each by an index that has the rows in their order. */
function waysOf({ actor, action }: AuditFilter): Sql[] {
  const byActor =
    actor === undefined
      ? [sql``]
      : [sql` and audit.actor = ${actor}::text`, sql` and audit.actor_id = ${actor}::text`]
  const byAction =
    action === undefined
      ? [sql``]
      : [
          sql` and audit.action collate "C" = ${action}::text`,
          // The character after the point ends the range of what begins with it.
          sql` and audit.action collate "C" > ${`${action}.`}::text and audit.action collate "C" < ${`${action}/`}::text`,
        ]
  return byActor.flatMap((one) => byAction.map((other) => sql`${one}${other}`))
}

const inOrder = (order: Order, of: Sql): Sql =>
  order === 'newest' ? sql`order by ${of}.at desc, ${of}.id desc` : sql`order by ${of}.at, ${of}.id`

function beyond(order: Order, from: Place | null): Sql {
  if (from === null) return sql``
  return order === 'newest'
    ? sql` and (audit.at, audit.id) < (${from.at}::timestamptz, ${from.id}::uuid)`
    : sql` and (audit.at, audit.id) > (${from.at}::timestamptz, ${from.id}::uuid)`
}

/**
 * Rows of the trail by time, after or before a place. Only the conditions that were asked for are in the
 * text, and each node is looked at by itself: whatever is asked for, an index has the few rows of the page.
 */
export const auditPage = (filter: AuditFilter, order: Order, from: Place | null, limit: number) => {
  const { entity, since, resource } = filter
  const always = sql`${
    since === undefined ? sql`` : sql` and audit.at >= ${since}::timestamptz`
  }${resource === undefined ? sql`` : sql` and audit.resource = ${resource}::uuid`}${beyond(order, from)}`
  const found = waysOf(filter).map((way) =>
    entity === undefined
      ? sql`(select audit.id, audit.at from tollgate.audit as audit where true${way}${always}
    ${inOrder(order, sql`audit`)} limit ${limit}::integer)`
      : sql`(select one.id, one.at from below cross join lateral (
      select audit.id, audit.at from tollgate.audit as audit where audit.entity_id = below.id${way}${always}
      ${inOrder(order, sql`audit`)} limit ${limit}::integer) as one
    ${inOrder(order, sql`one`)} limit ${limit}::integer)`,
  )
  const all = found.reduce(
    (sum, one) => sql`${sum}
    union ${one}`,
  )
  return sql<AuditRow>`
  with recursive below as (
    select id from tollgate.entity where id = ${entity ?? null}::uuid
    union all
    select child.id from tollgate.entity as child join below on child.parent_id = below.id),
  found as (${all})
  select audit.id, to_char(audit.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
    audit.actor_kind, audit.actor_id, audit.actor, audit.address, audit.host, audit.action, audit.entity_id,
    audit.resource, audit.before, audit.after, audit.detail, link.no as link, encode(link.mac, 'hex') as mac
  from (select found.id, found.at from found ${inOrder(order, sql`found`)} limit ${limit}::integer) as page
  join tollgate.audit as audit on audit.id = page.id
  left join tollgate.audit_link as link on link.audit_id = audit.id
  ${inOrder(order, sql`audit`)}`
}
