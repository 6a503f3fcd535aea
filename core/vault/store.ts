import { type Actor, engineActor } from '../audit/actor.ts'
import { auditRows } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'

export type KeyState = 'announced' | 'current' | 'previous' | 'retired' | 'destroyed'

export type DataKeyRow = {
  id: string
  purpose: 'seal' | 'mac' | 'acquirer'
  state: KeyState
  format: number
  key_encryption_key_id: string
  wrapped: Buffer
  created_at: Date
  promoted_at: Date | null
  superseded_at: Date | null
  retired_at: Date | null
  destroyed_at: Date | null
}

const columns = sql`
  id, purpose, state, format, key_encryption_key_id, wrapped,
  created_at, promoted_at, superseded_at, retired_at, destroyed_at`

export const allDataKeys = sql<DataKeyRow>`
  select ${columns}
  from tollgate.data_key
  order by created_at, id`

export const dataKeyById = (id: string) => sql<DataKeyRow>`
  select ${columns}
  from tollgate.data_key
  where id = ${id}::uuid`

/** Digest keys that were replaced within the life of an idempotency key, the latest first. */
export const earlierMacKeys = (days: number) => sql<DataKeyRow>`
  select ${columns}
  from tollgate.data_key
  where purpose = 'mac' and state = 'retired'
    and retired_at > now() - (${days}::integer + 1) * interval '1 day'
  order by retired_at desc`

/** Audit rows about the keys that the named part of the statement moved. */
const noted = (
  action: string,
  part: 'made' | 'moved' | 'promoted',
  actor: Actor,
  detail: Readonly<Record<string, string>> = {},
) =>
  auditRows(
    { actor, action, detail },
    {
      from: parts[part],
      resource: sql`id`,
    },
  )

const parts = { made: sql`made`, moved: sql`moved`, promoted: sql`promoted` }

/** If two processes start at once, the unique index accepts one of their keys. */
export const addDataKey = (
  id: string,
  purpose: DataKeyRow['purpose'],
  keyId: string,
  wrapped: Buffer,
) => sql`
  with made as (
    insert into tollgate.data_key (id, purpose, state, format, key_encryption_key_id, wrapped, promoted_at)
    values (${id}::uuid, ${purpose}::text, 'current', 3, ${keyId}::text, ${wrapped}::bytea, now())
    on conflict do nothing
    returning id)
  ${noted('data-key-made', 'made', engineActor, { purpose, keyEncryptionKey: keyId })}`

/**
 * Announces the next sealing key, if `currentId` is still the current one. The lock makes concurrent
 * rotations take turns: the second one finds the key of the first.
 */
export const announceDataKey = (
  id: string,
  currentId: string,
  keyId: string,
  wrapped: Buffer,
  by: Actor,
) => sql<{
  id: string
}>`
  with made as (
    insert into tollgate.data_key (id, purpose, state, format, key_encryption_key_id, wrapped)
    select ${id}::uuid, 'seal', 'announced', 3, ${keyId}::text, ${wrapped}::bytea
    from tollgate.data_key
    where id = ${currentId}::uuid and state = 'current'
    for update
    on conflict do nothing
    returning id),
  noted as (${noted('data-key-announced', 'made', by, { keyEncryptionKey: keyId })})
  select id from made`

/** A process or a probe without a sign of life for this long is gone; each one gives a sign every second. */
export const aliveMs = 15_000

/** A data key in use, or a probe: a key that seals nothing, and only shows who can open it. */
export type FollowedRow = Omit<DataKeyRow, 'purpose'> & {
  purpose: DataKeyRow['purpose'] | 'probe'
}

/** What a process says about itself each second. */
export type Use = {
  readonly current: string | null
  /** The announced key, once it is open. */
  readonly ready: string | null
  readonly probes: readonly string[]
  /** Keys in use that do not open. */
  readonly shut: readonly string[]
}

/**
 * Records the keys that a process uses, and returns the keys that it should use. One statement does
 * both: a rotation between two statements could miss the process. Also returns retired keys of older
 * formats, whose values no longer open.
 */
export const showUse = (processId: string, name: string, use: Use) => sql<FollowedRow>`
  with shown as (
    insert into tollgate.data_key_use (process_id, name, data_key_id, ready_key_id, probe_ids, shut_key_ids)
    values (${processId}::uuid, ${name}::text, ${use.current}::uuid, ${use.ready}::uuid,
      ${use.probes}::uuid[], ${use.shut}::uuid[])
    on conflict (process_id) do update set
      data_key_id = excluded.data_key_id, ready_key_id = excluded.ready_key_id,
      probe_ids = excluded.probe_ids, shut_key_ids = excluded.shut_key_ids, seen_at = now())
  select ${columns}
  from tollgate.data_key
  where state in ('announced', 'current', 'previous')
    or (purpose = 'seal' and state = 'retired' and format < 3)
  union all
  select id, 'probe', 'announced', 3::smallint, key_encryption_key_id, wrapped, seen_at, null, null, null, null
  from tollgate.key_probe
  where seen_at > now() - ${aliveMs}::integer * interval '1 millisecond'
  order by created_at, id`

/** Shows a probe to all processes, and again while somebody waits for them. */
export const showKeyProbe = (id: string, keyId: string, wrapped: Buffer) => sql`
  insert into tollgate.key_probe (id, key_encryption_key_id, wrapped)
  values (${id}::uuid, ${keyId}::text, ${wrapped}::bytea)
  on conflict (id) do update set seen_at = now()`

/** Withdraws a probe, and those that killed commands left. */
export const dropKeyProbes = (id: string | null) => sql`
  delete from tollgate.key_probe
  where id = ${id}::uuid or seen_at < now() - ${aliveMs}::integer * interval '1 millisecond'`

export const endUse = (processId: string) => sql`
  delete from tollgate.data_key_use
  where process_id = ${processId}::uuid or seen_at < now() - interval '1 hour'`

export type UseRow = {
  process_id: string
  name: string
  data_key_id: string | null
  ready_key_id: string | null
  probe_ids: string[]
  shut_key_ids: string[]
  seen_at: Date
}

/** Processes that recorded their key recently. */
export const usesWithin = (ms: number) => sql<UseRow>`
  select process_id, name, data_key_id, ready_key_id, probe_ids, shut_key_ids, seen_at
  from tollgate.data_key_use
  where seen_at > now() - ${ms}::integer * interval '1 millisecond'
  order by name, process_id`

/** Makes the announced key the current one, once, also when several processes try. */
export const promoteDataKey = (id: string, by: Actor) => sql<{ id: string }>`
  with demoted as (
    update tollgate.data_key set state = 'previous', superseded_at = now()
    where purpose = 'seal' and state = 'current'
      and exists (select from tollgate.data_key where id = ${id}::uuid and state = 'announced')
    returning id),
  promoted as (
    update tollgate.data_key set state = 'current', promoted_at = now()
    where id = ${id}::uuid and state = 'announced' and exists (select from demoted)
    returning id),
  noted as (${noted('data-key-promoted', 'promoted', by)})
  select id from promoted`

export const retireDataKey = (id: string, by: Actor) => sql<{ id: string }>`
  with moved as (
    update tollgate.data_key set state = 'retired', retired_at = now()
    where id = ${id}::uuid and state = 'previous'
    returning id),
  noted as (${noted('data-key-retired', 'moved', by)})
  select id from moved`

/** Removes a lost key of the installation: the next start takes the one of the other pods, or makes one. */
export const dropInstallationKey = (id: string, by: Actor) => sql<{ id: string }>`
  with moved as (
    delete from tollgate.data_key
    where id = ${id}::uuid and purpose = 'acquirer'
    returning id),
  noted as (${noted('data-key-destroyed', 'moved', by)})
  select id from moved`

/** Withdraws an announced key, before any value is sealed with it. */
export const withdrawDataKey = (id: string, by: Actor) => sql<{ id: string }>`
  with moved as (
    update tollgate.data_key set state = 'retired', retired_at = now()
    where id = ${id}::uuid and state = 'announced'
    returning id),
  noted as (${noted('data-key-withdrawn', 'moved', by)})
  select id from moved`

/**
 * Replaces the key of digests. Only while no process runs: with two keys, a repeated request would
 * look like a new one.
 */
export const replaceMacKey = (
  was: string,
  id: string,
  keyId: string,
  wrapped: Buffer,
  aliveMs: number,
  by: Actor,
) => sql<{ id: string }>`
  with moved as (
    update tollgate.data_key set state = 'retired', superseded_at = now(), retired_at = now()
    where id = ${was}::uuid and purpose = 'mac' and state = 'current' and not exists (
      select from tollgate.data_key_use
      where seen_at > now() - ${aliveMs}::integer * interval '1 millisecond')
    returning id),
  noted as (${noted('mac-key-replaced', 'moved', by)})
  insert into tollgate.data_key (id, purpose, state, format, key_encryption_key_id, wrapped, promoted_at)
  select ${id}::uuid, 'mac', 'current', 3, ${keyId}::text, ${wrapped}::bytea, now()
  from moved
  returning id`

/**
 * Destroys a retired key, after caches of the rows and idempotency keys that depend on it have
 * expired.
 */
export const destroyDataKey = (id: string, by: Actor, afterMs: number, macDays: number) => sql<{
  id: string
}>`
  with moved as (
    update tollgate.data_key set state = 'destroyed', destroyed_at = now(), wrapped = ''::bytea
    where id = ${id}::uuid and state = 'retired'
      and retired_at <= now() - case when purpose = 'mac'
        then (${macDays}::integer + 1) * interval '1 day'
        else ${afterMs}::integer * interval '1 millisecond' end
    returning id),
  noted as (${noted('data-key-destroyed', 'moved', by)})
  select id from moved`

/** Wraps a data key with another key-encryption key, unless another process did so meanwhile. */
export const rewrapDataKey = (
  id: string,
  was: Buffer,
  keyId: string,
  wrapped: Buffer,
  by: Actor,
) => sql<{ id: string }>`
  with moved as (
    update tollgate.data_key set key_encryption_key_id = ${keyId}::text, wrapped = ${wrapped}::bytea
    where id = ${id}::uuid and wrapped = ${was}::bytea
    returning id),
  noted as (${noted('data-key-rewrapped', 'moved', by, { keyEncryptionKey: keyId })})
  select id from moved`

export type InstrumentRow = { id: string; data_key_id: string; sealed: Buffer }

export const instrumentById = (id: string) => sql<InstrumentRow>`
  select id, data_key_id, sealed
  from tollgate.instrument
  where id = ${id}::uuid`

export const instrumentsById = (ids: readonly string[]) => sql<InstrumentRow>`
  select id, data_key_id, sealed
  from tollgate.instrument
  where id = any(${ids}::uuid[])`
