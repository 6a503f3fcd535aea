/** A row of the audit trail as a part of the statement that does what it tells. */
import { type Sql, sql } from '../db/sql.ts'
import { isId, newId } from '../ids.ts'
import { type Facts, harmless } from '../redaction/harmless.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import { type Actor, engineActor } from './actor.ts'

export type AuditEntry = {
  /** Made unless given: for whoever has to find the row again. */
  readonly id?: string
  readonly actor: Actor
  /** `token.created`: a noun and what became of it. */
  readonly action: string
  readonly entityId?: string | null
  /** What it was done to: a token, a payment, an endpoint. */
  readonly resource?: string | null
  /** Never with secrets: card numbers and what has a secret's name are taken out in any case. */
  readonly before?: Facts | null
  readonly after?: Facts | null
  /** Remarks: a reason, say. */
  readonly detail?: Facts
}

/** In the place of an entry, where a statement tells of nothing: its rows are left out then. */
export const nobody: AuditEntry = { actor: engineActor, action: '' }

/** Of which rows of the same statement it tells, and what those know better than the caller. */
export type AuditedRows = {
  /** `moved where …`. */
  readonly from: Sql
  readonly resource?: Sql
  readonly entityId?: Sql
  readonly before?: Sql
  readonly after?: Sql
  /** JSON that is added to the detail. */
  readonly detail?: Sql
}

const json = (facts: Facts | null | undefined) =>
  facts == null ? null : JSON.stringify(harmless(facts))

const short = (text: string | undefined) =>
  text === undefined ? null : maskCardNumbers(text.slice(0, 255))

/** The name that a token was given, for rows of those who know only its id. */
const nameOf = ({ kind, id, name }: Actor): Sql =>
  kind === 'token' && name === undefined && isId(id)
    ? sql`coalesce((select token.name from tollgate.token as token where token.id = ${id}::uuid), ${id}::text)`
    : sql`${short(name ?? id)}::text`

/**
 * A part of a statement: tells of the rows of another part in their own commit. None moved: nothing is told.
 *
 * @example with moved as (update …), audited as (${auditRows(entry, { from: sql`moved` })}) …
 */
export const auditRows = (entry: AuditEntry, rows: AuditedRows): Sql => sql`
  insert into tollgate.audit (id, actor_kind, actor_id, actor, address, host, action,
    entity_id, resource, before, after, detail)
  select ${entry.id ?? newId()}::uuid, ${entry.actor.kind}::text, ${entry.actor.id.slice(0, 255)}::text,
    ${nameOf(entry.actor)}, ${short(entry.actor.address)}::text, ${short(entry.actor.host)}::text,
    ${entry.action}::text,
    ${rows.entityId ?? sql`${entry.entityId ?? null}::uuid`},
    ${rows.resource ?? sql`${entry.resource ?? null}::uuid`},
    ${rows.before ?? sql`${json(entry.before)}::jsonb`},
    ${rows.after ?? sql`${json(entry.after)}::jsonb`},
    ${json(entry.detail ?? {})}::jsonb || ${rows.detail ?? sql`'{}'::jsonb`}
  from ${rows.from}
  on conflict (id) do nothing`
