/** SQL of the audit trail's chain. */
import { type Sql, sql } from '../db/sql.ts'

export type HeadRow = {
  last_no: bigint
  last_mac: Buffer
  /** Links up to this one were forgotten by age. */
  forgotten_no: bigint
  forgotten_mac: Buffer
  key_id: string | null
  mac: Buffer
}

const headColumns = sql`last_no, last_mac, forgotten_no, forgotten_mac, key_id, mac`

/** Locked until the end of the transaction, so that processes take turns. */
export const holdHead = sql<HeadRow>`
  select ${headColumns}
  from tollgate.hold_audit_head()`

/** The present head, without a lock. */
export const headNow = sql<HeadRow>`
  select ${headColumns}
  from tollgate.audit_head`

/** The existing links from the head's last one on. */
export const linksFrom = (no: bigint) => sql<{ no: bigint; mac: Buffer }>`
  select link.no, link.mac
  from tollgate.audit_link as link
  where link.no >= ${String(no)}::bigint
  order by link.no
  limit 2`

/** Forgotten ranges in the rows of the trail: up to which link, as an anchor. */
export const toldForgotten = sql<{ anchor: string }>`
  select audit.detail ->> 'anchor' as anchor
  from tollgate.audit as audit
  where audit.action = 'audit.forgotten' and audit.detail ? 'anchor'`

export type EndRow = HeadRow & {
  /** The highest existing link. */
  highest_no: bigint | null
  /** The number of rows without a link, and the age of the first. */
  waiting: number
  waiting_ms: number
}

/** The end of the chain by its head and by its rows, at one moment. */
export const endOfChain = sql<EndRow>`
  select ${headColumns},
    (select max(no) from tollgate.audit_link) as highest_no,
    (select count(*)::integer from tollgate.audit_pending) as waiting,
    coalesce((
      select extract(epoch from clock_timestamp() - min(audit.at)) * 1000
      from tollgate.audit_pending as pending
      join tollgate.audit as audit on audit.id = pending.audit_id), 0)::double precision as waiting_ms
  from tollgate.audit_head`

/** A whole row as one canonical text. Null: the row does not exist. */
const content: Sql = sql`
  case when audit.id is null then null else jsonb_build_array(audit.id,
    (extract(epoch from audit.at) * 1000000)::bigint, audit.actor_kind, audit.actor_id, audit.actor,
    audit.address, audit.host, audit.action, audit.entity_id, audit.resource, audit.before, audit.after,
    audit.detail)::text end as content`

export type UnlinkedRow = { audit_id: string; content: string | null }

/**
 * The next rows without a link, oldest first, including rows that were removed before their link.
 */
export const unlinked = (limit: number) => sql<UnlinkedRow>`
  select pending.audit_id, ${content}
  from tollgate.audit_pending as pending
  left join tollgate.audit as audit on audit.id = pending.audit_id
  order by audit.at, pending.audit_id
  limit ${limit}::integer`

export type NewLink = { readonly auditId: string; readonly mac: Buffer }

/**
 * Adds links after the last one and moves the head to the last new link: `head` is its new state.
 */
export const addLinks = (firstNo: bigint, links: readonly NewLink[], head: HeadRow) => sql`
  select tollgate.add_audit_links(${String(firstNo)}::bigint, ${head.key_id}::uuid,
    ${links.map(({ auditId }) => auditId)}::uuid[], ${links.map(({ mac }) => mac)}::bytea[], ${head.mac}::bytea)`

export const setHead = (head: HeadRow) => sql`
  update tollgate.audit_head set last_no = ${String(head.last_no)}::bigint, last_mac = ${head.last_mac}::bytea,
    forgotten_no = ${String(head.forgotten_no)}::bigint, forgotten_mac = ${head.forgotten_mac}::bytea,
    key_id = ${head.key_id}::uuid, mac = ${head.mac}::bytea`

/** Whether a row waits for its link, and the end of the chain by its head. */
export const anyUnlinked = sql<{ waits: boolean; last_no: bigint }>`
  select exists (select from tollgate.audit_pending) as waits, audit_head.last_no
  from tollgate.audit_head`

export type LinkRow = {
  no: bigint
  audit_id: string
  key_id: string
  mac: Buffer
  content: string | null
}

/** Links in their order, after `after` and up to `last`. */
export const linksAfter = (after: bigint, last: bigint, limit: number) => sql<LinkRow>`
  select link.no, link.audit_id, link.key_id, link.mac, ${content}
  from tollgate.audit_link as link
  left join tollgate.audit as audit on audit.id = link.audit_id
  where link.no > ${String(after)}::bigint and link.no <= ${String(last)}::bigint
  order by link.no
  limit ${limit}::integer`

/** Rows without a link that no process will link. */
export const strayRows = (limit: number) => sql<{ id: string }>`
  select audit.id
  from tollgate.audit as audit
  where not exists (select from tollgate.audit_link as link where link.audit_id = audit.id)
    and not exists (select from tollgate.audit_pending as pending where pending.audit_id = audit.id)
  order by audit.at
  limit ${limit}::integer`

/** The last link before the first row at or after `before`. */
export const lastBefore = (before: Date, after: bigint, most: bigint) => sql<{
  no: bigint
  mac: Buffer
}>`
  select link.no, link.mac
  from tollgate.audit_link as link
  where link.no > ${String(after)}::bigint and link.no <= ${String(most)}::bigint
    and link.no < coalesce((
    select min(younger.no)
    from tollgate.audit as audit
    join tollgate.audit_link as younger on younger.audit_id = audit.id
    where audit.at >= ${before}::timestamptz), 9223372036854775807)
  order by link.no desc
  limit 1`

export const forgetThrough = (no: bigint) => sql<{ forgotten: bigint }>`
  select tollgate.forget_audit(${String(no)}::bigint) as forgotten`

/** The number of links under a data key. */
export const linksUnder = (keyId: string) => sql<{ links: number }>`
  select count(*)::integer as links
  from tollgate.audit_link
  where key_id = ${keyId}::uuid`
