/** SQL of the keys that read files, of the servers' own keys, and of the files that they read. */
import { type AuditEntry, auditRows } from '../audit/stored-rows.ts'
import { type Sql, sql } from '../db/sql.ts'

export type KeyRow = {
  id: string
  entity_id: string
  public_key: Buffer
  type: string
  name: string | null
  created_at: Date
  last_used_at: Date | null
  removed_at: Date | null
}

const columns = sql`id, entity_id, public_key, type, name, created_at, last_used_at, removed_at`

/** One key, also a removed one. */
export const keyById = (id: string) => sql<KeyRow>`
  select ${columns}
  from tollgate.sftp_key
  where id = ${id}::uuid`

/** Keys of one entity, or of every entity when null, newest first, below `before`. */
export const keysOf = (
  entityId: string | null,
  isWhole: boolean,
  before: string | null,
  limit: number,
) => sql<KeyRow>`
  select ${columns}
  from tollgate.sftp_key
  where (${entityId}::uuid is null or entity_id = ${entityId}::uuid)
    and (${isWhole}::boolean or removed_at is null)
    and (${before}::uuid is null or id < ${before}::uuid)
  order by id desc
  limit ${limit}::integer`

/** The audit entry commits with the change in `changed`. */
const told = (entry: AuditEntry): Sql =>
  auditRows(entry, { from: sql`changed`, resource: sql`id`, entityId: sql`entity_id` })

/** Empty when the entity has reached its limit, or has this key. */
export const addKey = (row: {
  readonly id: string
  readonly entityId: string
  readonly publicKey: Buffer
  readonly type: string
  readonly name: string | null
  readonly createdAt: Date
  readonly most: number
  readonly audit: AuditEntry
}) => sql<{ id: string }>`
with changed as (
  insert into tollgate.sftp_key (id, entity_id, public_key, type, name, created_at)
  select ${row.id}::uuid, ${row.entityId}::uuid, ${row.publicKey}::bytea, ${row.type}::text, ${row.name}::text,
    ${row.createdAt}::timestamptz
  where ${row.most}::integer > (
    select count(*) from tollgate.sftp_key
    where entity_id = ${row.entityId}::uuid and removed_at is null)
  on conflict do nothing
  returning id, entity_id),
audited as (${told(row.audit)})
select id from changed`

export const removeKey = (id: string, now: Date, audit: AuditEntry) => sql<{ id: string }>`
with changed as (
  update tollgate.sftp_key set removed_at = ${now}::timestamptz
  where id = ${id}::uuid and removed_at is null
  returning id, entity_id),
audited as (${told(audit)})
select id from changed`

/** The key of an entity, and its merchant; empty where the entity, or one above it, is closed. */
export const keyOfEntity = (entityId: string, publicKey: Buffer) => sql<{
  id: string
  merchant_id: string
}>`
  with recursive path as (
    select id, parent_id, kind, closed from tollgate.entity where id = ${entityId}::uuid
    union all
    select above.id, above.parent_id, above.kind, above.closed
    from tollgate.entity as above join path on above.id = path.parent_id)
  select sftp_key.id,
    coalesce((select id from path where kind = 'merchant'), sftp_key.entity_id) as merchant_id
  from tollgate.sftp_key
  where sftp_key.entity_id = ${entityId}::uuid and sftp_key.public_key = ${publicKey}::bytea
    and sftp_key.removed_at is null
    and not exists (select from path where path.closed)`

/** Records a login, at most once a minute. */
export const noteLogin = (id: string) => sql`
  update tollgate.sftp_key set last_used_at = now()
  where id = ${id}::uuid and (last_used_at is null or last_used_at < now() - interval '1 minute')`

export type ServerKeyRow = { id: string; data_key_id: string; sealed: Buffer }

export const serverKey = (name: string) => sql<ServerKeyRow>`
  select id, data_key_id, sealed
  from tollgate.server_key
  where name = ${name}::text`

/** The first process wins. */
export const addServerKey = (id: string, name: string, dataKeyId: string, sealed: Buffer) => sql`
  insert into tollgate.server_key (id, name, data_key_id, sealed)
  values (${id}::uuid, ${name}::text, ${dataKeyId}::uuid, ${sealed}::bytea)
  on conflict (name) do nothing`

export type FileRow = { id: string; name: string; bytes: bigint; made_at: Date }

/** The newest report files of an entity. Names are unique within it. */
export const filesOf = (entityId: string, limit: number) => sql<FileRow>`
  select id, name, bytes, made_at
  from tollgate.report_file
  where entity_id = ${entityId}::uuid
  order by id desc
  limit ${limit}::integer`

export const fileByName = (entityId: string, name: string) => sql<FileRow>`
  select id, name, bytes, made_at
  from tollgate.report_file
  where entity_id = ${entityId}::uuid and name = ${name}::text
  order by id desc
  limit 1`

/** The sizes of the parts of a file, in their order. */
export const partSizes = (fileId: string) => sql<{ no: number; size: number }>`
  select no, octet_length(bytes) as size
  from tollgate.report_part
  where file_id = ${fileId}::uuid
  order by no`

export const partBytes = (fileId: string, no: number) => sql<{ bytes: Buffer }>`
  select bytes
  from tollgate.report_part
  where file_id = ${fileId}::uuid and no = ${no}::integer`
