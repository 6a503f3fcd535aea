/** SQL of settlement files and their sealed parts. */
import type { Mode } from '../connector/registry.ts'
import { sql } from '../db/sql.ts'
import { fence, type Held } from './stored-fence.ts'
import type { ExceptionKind } from './types.ts'

export type FileState = 'arrived' | 'staged' | 'refused' | 'repeated' | 'decided' | 'done'

export type FileRow = {
  id: string
  scope_id: string
  account_id: string | null
  connector: string
  mode: Mode
  clock_id: string | null
  merchant_number: string
  /** The lowest entity above all channels of the scope. */
  entity_id: string
  institute: string
  format: string
  name: string
  sha256: Buffer
  source: 'fetch' | 'import' | 'simulator'
  bytes: bigint
  parts: number
  skips_bad: boolean
  reference: string | null
  state: FileState
  refused_line: number | null
  refused_why: string | null
  earlier_id: string | null
  records: number
  batch_lines: number
  exceptions: number
  tries: number
  is_due: boolean
  scope_ids: string[]
  /** The entity whose merchants it may name; null: all. */
  reach_entity_id: string | null
  /** It was accepted once: a reading that fails changes nothing. */
  was_accepted: boolean
  received_at: Date
}

export const addPart = (
  id: string,
  fileId: string,
  no: number,
  dataKeyId: string,
  sealed: Buffer,
) => sql`
  insert into tollgate.settlement_part (id, file_id, no, data_key_id, sealed)
  values (${id}::uuid, ${fileId}::uuid, ${no}::integer, ${dataKeyId}::uuid, ${sealed}::bytea)
  on conflict do nothing`

export const partOf = (fileId: string, no: number) => sql<{
  id: string
  data_key_id: string
  sealed: Buffer
}>`
  select id, data_key_id, sealed
  from tollgate.settlement_part
  where file_id = ${fileId}::uuid and no = ${no}::integer`

/** Deletes old parts, and those of a file that never became whole. */
export const purgeParts = (days: number, limit: number) => sql<{ id: string }>`
  delete from tollgate.settlement_part
  where id in (
    select id
    from tollgate.settlement_part
    where made_at < now() - ${days}::integer * interval '1 day'
      or made_at < now() - interval '1 day' and not exists (
        select from tollgate.settlement_file where settlement_file.id = settlement_part.file_id)
    limit ${limit}::integer)
  returning id`

/** Deletes the parts of a file that is not stored. */
export const dropParts = (fileId: string) => sql`
  delete from tollgate.settlement_part
  where file_id = ${fileId}::uuid
    and not exists (select from tollgate.settlement_file where settlement_file.id = ${fileId}::uuid)`

/** A whole file is there. Safe to run again. */
export const addFile = (row: {
  id: string
  scopeId: string
  accountId: string | null
  connector: string
  institute: string
  format: string
  name: string
  source: 'fetch' | 'import' | 'simulator'
  sha256: Buffer
  bytes: number
  parts: number
  skipsBad: boolean
  reachEntityId: string | null
}) => sql<{ id: string }>`
  insert into tollgate.settlement_file (id, scope_id, account_id, connector, institute, format, name, source, sha256,
    bytes, parts, skips_bad, reach_entity_id, state)
  values (${row.id}::uuid, ${row.scopeId}::uuid, ${row.accountId}::uuid, ${row.connector}::text,
    ${row.institute}::text, ${row.format}::text, ${row.name}::text, ${row.source}::text, ${row.sha256}::bytea,
    ${row.bytes}::bigint, ${row.parts}::integer, ${row.skipsBad}::boolean,
    ${row.reachEntityId}::uuid, 'arrived')
  on conflict (id) do nothing
  returning id`

/** Files of one connector, mode and test clock name the same merchants. */
const isOfSameInstitute = (scopeId: string) => sql`exists (
    select
    from tollgate.settlement_scope as mine
    join tollgate.settlement_scope as theirs on theirs.connector = mine.connector and theirs.mode = mine.mode
      and theirs.clock_id is not distinct from mine.clock_id
    where mine.id = ${scopeId}::uuid and theirs.id = file.scope_id)`

/** An accepted file of these bytes, whatever the account by which it came. A repeat only names it. */
export const acceptedWith = (scopeId: string, sha256: Buffer) => sql<{
  id: string
  reach_entity_id: string | null
}>`
  select file.id, file.reach_entity_id
  from tollgate.settlement_file as file
  where file.sha256 = ${sha256}::bytea and file.state in ('staged', 'decided', 'done')
    and ${isOfSameInstitute(scopeId)}
  order by file.id
  limit 1`

/** Accepted files with the institute's reference, oldest first. */
export const acceptedAs = (
  scopeId: string,
  institute: string,
  reference: string,
  not: string,
) => sql<{ id: string }>`
  select file.id
  from tollgate.settlement_file as file
  where file.institute = ${institute}::text and file.reference = ${reference}::text
    and file.state in ('staged', 'decided', 'done') and file.id <> ${not}::uuid
    and ${isOfSameInstitute(scopeId)}
  order by file.id
  limit 1`

const columns = sql`file.id, file.scope_id, file.account_id, file.connector, scope.mode, scope.clock_id,
  scope.merchant_number, scope.entity_id, file.institute, file.format, file.name, file.source, file.sha256,
  file.bytes, file.parts, file.skips_bad, file.reference, file.state, file.refused_line, file.refused_why,
  file.earlier_id, file.records, file.batch_lines, file.exceptions, file.tries, file.due_at <= now() as is_due,
  file.scope_ids, file.reach_entity_id, file.read_at is not null as was_accepted, file.received_at`

/** States with a next step. The partial index of open files serves each of them. */
const isOpen = sql`file.state in ('arrived', 'staged', 'decided')`

/** Whether an open file is due. */
export const settlementDue = sql`
  select
  from tollgate.settlement_file as file
  where ${isOpen} and file.due_at <= now()`

/** Scopes whose oldest open file is due, and that no process holds. */
export const dueScopes = (limit: number) => sql<{ id: string }>`
  select scope.id
  from tollgate.settlement_scope as scope
  join (
    select distinct on (file.scope_id) file.scope_id, file.due_at
    from tollgate.settlement_file as file
    where ${isOpen}
    order by file.scope_id, file.id) as oldest on oldest.scope_id = scope.id
  where oldest.due_at <= now() and (scope.lease_until is null or scope.lease_until < now())
  order by oldest.due_at
  limit ${limit}::integer`

/** The file of a scope that comes next: files are processed in the order of their arrival. */
export const nextFile = (scopeId: string) => sql<FileRow>`
  select ${columns}
  from tollgate.settlement_file as file
  join tollgate.settlement_scope as scope on scope.id = file.scope_id
  where file.scope_id = ${scopeId}::uuid and ${isOpen}
  order by file.id
  limit 1`

export const fileById = (id: string) => sql<FileRow>`
  select ${columns}
  from tollgate.settlement_file as file
  join tollgate.settlement_scope as scope on scope.id = file.scope_id
  where file.id = ${id}::uuid`

/** Newest files of scopes at this entity and below it, or of all. */
export const newestFiles = (limit: number, entityId: string | null) => sql<FileRow>`
  with recursive within as (
    select ${entityId}::uuid as id
    union all
    select entity.id
    from tollgate.entity
    join within on within.id = entity.parent_id)
  select ${columns}
  from tollgate.settlement_file as file
  join tollgate.settlement_scope as scope on scope.id = file.scope_id
  where ${entityId}::uuid is null or scope.entity_id in (select id from within)
  order by file.received_at desc, file.id desc
  limit ${limit}::integer`

export type ExceptionRow = {
  line: number
  kind: ExceptionKind
  why: string
}

/** Exceptions of a file, in the order of its lines. */
export const exceptionsOf = (fileId: string, limit: number) => sql<ExceptionRow>`
  select line, kind, detail ->> 'why' as why
  from tollgate.settlement_exception
  where file_id = ${fileId}::uuid
  order by line, kind
  limit ${limit}::integer`

/** The next run takes the leases of these scopes from the start. */
export const nameScopes = (id: string, scopeIds: readonly string[], afterMs: number) => sql`
  update tollgate.settlement_file set scope_ids = ${scopeIds}::uuid[],
    due_at = now() + ${afterMs}::bigint * interval '1 millisecond'
  where id = ${id}::uuid`

/** Another process holds a scope of the file. */
export const postpone = (id: string, afterMs: number) => sql`
  update tollgate.settlement_file set due_at = now() + ${afterMs}::bigint * interval '1 millisecond'
  where id = ${id}::uuid`

/** A step failed: the next try comes later each time. */
export const noteTry = (id: string, firstMs: number, longestMs: number) => sql<{ tries: number }>`
  update tollgate.settlement_file set tries = tries + 1,
    due_at = now() + least(${firstMs}::bigint * power(2, least(tries, 20)), ${longestMs}::bigint)
      * interval '1 millisecond'
  where id = ${id}::uuid
  returning tries`

/**
 * A file that is refused burns neither its bytes nor its reference: the next complete one works. One that was
 * accepted once stays so.
 */
export const refuseFile = (
  held: Held,
  forMs: number,
  id: string,
  line: number | null,
  why: string,
) => sql<{
  id: string
}>`
with ${fence(held, forMs)}
update tollgate.settlement_file set state = case when read_at is null then 'refused' else 'decided' end,
  refused_line = case when read_at is null then ${line}::integer end,
  refused_why = case when read_at is null then ${why}::text end,
  done_at = case when read_at is null then now() end, tries = 0, due_at = now()
from fence
where settlement_file.id = ${id}::uuid and settlement_file.state = 'arrived'
returning settlement_file.id`

/** The records of a decided file have taken effect, or wait for their payments. */
export const fileDone = (held: Held, forMs: number, id: string) => sql<{ id: string }>`
with ${fence(held, forMs)}
update tollgate.settlement_file set state = 'done', done_at = now()
from fence
where settlement_file.id = ${id}::uuid and settlement_file.state = 'decided'
returning settlement_file.id`

export const noteRepeat = (held: Held, forMs: number, id: string, earlierId: string) => sql<{
  id: string
}>`
with ${fence(held, forMs)}
update tollgate.settlement_file set state = 'repeated', earlier_id = ${earlierId}::uuid, done_at = now()
from fence
where settlement_file.id = ${id}::uuid and settlement_file.state = 'arrived'
returning settlement_file.id`

/** Numbers without an account in a file, by their digests; null: stored without one. */
export const unknownNumbers = (fileId: string) => sql<{ number: string | null; lines: number }>`
  select detail ->> 'number' as number, count(*)::integer as lines
  from tollgate.settlement_exception
  where file_id = ${fileId}::uuid and kind = 'UNKNOWN_ACCOUNT'
  group by detail ->> 'number'`
