/** SQL of the audit trail as people read it. */
import { sql } from '../db/sql.ts'
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

/** Rows of the trail by time, after or before a place. */
export const auditPage = (
  filter: AuditFilter,
  order: 'newest' | 'oldest',
  from: Place | null,
  limit: number,
) => sql<AuditRow>`
  with recursive below as (
    select id from tollgate.entity where id = ${filter.entity ?? null}::uuid
    union all
    select child.id from tollgate.entity as child join below on child.parent_id = below.id)
  select audit.id, to_char(audit.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
    audit.actor_kind, audit.actor_id, audit.actor, audit.address, audit.host, audit.action, audit.entity_id,
    audit.resource, audit.before, audit.after, audit.detail, link.no as link, encode(link.mac, 'hex') as mac
  from tollgate.audit as audit
  left join tollgate.audit_link as link on link.audit_id = audit.id
  where (${filter.entity ?? null}::uuid is null or audit.entity_id in (select below.id from below))
    and (${filter.actor ?? null}::text is null or audit.actor = ${filter.actor ?? null}::text
      or audit.actor_id = ${filter.actor ?? null}::text)
    and (${filter.action ?? null}::text is null or audit.action = ${filter.action ?? null}::text
      or starts_with(audit.action, ${filter.action ?? null}::text || '.'))
    and (${filter.since ?? null}::timestamptz is null or audit.at >= ${filter.since ?? null}::timestamptz)
    and (${filter.resource ?? null}::uuid is null or audit.resource = ${filter.resource ?? null}::uuid)
    and ${
      order === 'newest'
        ? sql`(${from?.at ?? null}::timestamptz is null
      or (audit.at, audit.id) < (${from?.at ?? null}::timestamptz, ${from?.id ?? null}::uuid))
  order by audit.at desc, audit.id desc`
        : sql`(${from?.at ?? null}::timestamptz is null
      or (audit.at, audit.id) > (${from?.at ?? null}::timestamptz, ${from?.id ?? null}::uuid))
  order by audit.at, audit.id`
    }
  limit ${limit}::integer`
