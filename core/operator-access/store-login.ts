/** SQL of logins: failures and sessions. */
import type { Actor } from '../audit/actor.ts'
import { type AuditEntry, auditRows } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'
import type { Credentials, PersonRow } from './store.ts'

/** A name or an address whose failed logins are counted, by digest. */
export type Subject = { readonly hash: Buffer; readonly pausesMs: readonly number[] }

export const pausesOf = (subjects: readonly Buffer[], now: Date) => sql<{ paused_until: Date }>`
  select paused_until
  from tollgate.login_failure
  where subject = any(${subjects}::bytea[]) and paused_until > ${now}::timestamptz
  order by paused_until desc
  limit 1`

/**
 * Counts an attempt as failed before it runs, so that concurrent attempts gain nothing. No row: a lockout
 * began meanwhile.
 */
export const countTry = (
  { hash, pausesMs }: Subject,
  now: Date,
  forgottenBefore: Date,
  most: number,
) => sql<{ failures: number; paused_until: Date | null }>`
  insert into tollgate.login_failure as counted (subject, failures, failed_at)
  values (${hash}::bytea, 1, ${now}::timestamptz)
  on conflict (subject) do update set
    failed_at = excluded.failed_at,
    failures = case when counted.failed_at < ${forgottenBefore}::timestamptz then 1 else counted.failures + 1 end,
    paused_until = case
      when counted.failed_at >= ${forgottenBefore}::timestamptz and counted.failures + 1 >= ${most}::integer
      then excluded.failed_at + interval '1 millisecond' * (${pausesMs}::bigint[])[
        least(counted.failures + 2 - ${most}::integer, cardinality(${pausesMs}::bigint[]))]
      end
  where counted.paused_until is null or counted.paused_until <= excluded.failed_at
  returning failures, paused_until`

/**
 * Puts a failure on record, or only writes the count of its name again: both are one statement with one
 * commit, so that the time of the answer does not tell which one it was.
 */
export const recordFailure = (name: Buffer, isOnRecord: boolean, entry: AuditEntry) => sql<{
  subject: Buffer
}>`
with audited as (${auditRows(entry, { from: sql`(select where ${isOnRecord}::boolean) as told` })})
update tollgate.login_failure set failures = failures
where subject = ${name}::bytea
returning subject`

/** Reverts the count of an attempt that did not run, and the lockout that it began. */
export const uncountTry = (subject: Buffer, pausedUntil: Date | null) => sql<{ failures: number }>`
  update tollgate.login_failure
  set failures = greatest(failures - 1, 0),
    paused_until = case when paused_until is distinct from ${pausedUntil}::timestamptz then paused_until end
  where subject = ${subject}::bytea
  returning failures`

export type Login = {
  readonly personId: string
  /** As it was read. */
  readonly password: string
  /** The same by the parameters of now, or null. */
  readonly rehashed: string | null
  /** Exactly one of the two was proved. */
  readonly step: number | null
  readonly recoveryHash: Buffer | null
  readonly session: Buffer
  readonly address: string | null
  readonly now: Date
  readonly nameSubject: Buffer
  readonly addressSubject: Buffer
  /** The lockout of the address that this attempt began. */
  readonly addressPausedUntil: Date | null
}

/**
 * Begins a session with an unused code, across all processes. No row: the code was used, or the
 * person changed since the read.
 */
export const beginSession = (login: Login, by: Actor) => sql<{ person_id: string }>`
with recovered as (
  update tollgate.recovery_code set used_at = ${login.now}::timestamptz
  where person_id = ${login.personId}::uuid and hash = ${login.recoveryHash}::bytea and used_at is null
  returning person_id),
proved as (
  update tollgate.person as person
  set code_step = coalesce(${login.step}::bigint, person.code_step), last_login_at = ${login.now}::timestamptz,
    password = coalesce(${login.rehashed}::text, person.password)
  where person.id = ${login.personId}::uuid and person.disabled_at is null and person.invitation is null
    and person.password = ${login.password}::text
    and case when ${login.step}::bigint is not null then person.code_step < ${login.step}::bigint
      else exists (select from recovered) end
  returning person.id, person.entity_id, person.login_version),
begun as (
  insert into tollgate.person_session (hash, person_id, created_at, seen_at, address, login_version)
  select ${login.session}::bytea, proved.id, ${login.now}::timestamptz, ${login.now}::timestamptz,
    ${login.address}::text, proved.login_version
  from proved
  returning person_id),
unpaused as (
  delete from tollgate.login_failure using proved where login_failure.subject = ${login.nameSubject}::bytea),
uncounted as (
  update tollgate.login_failure
  set failures = greatest(failures - 1, 0),
    paused_until = case when paused_until is distinct from ${login.addressPausedUntil}::timestamptz then paused_until end
  from proved
  where login_failure.subject = ${login.addressSubject}::bytea),
audited as (${auditRows(
  {
    actor: by,
    action: 'person.logged-in',
    resource: login.personId,
    detail: { with: login.step === null ? 'recovery code' : 'authenticator' },
  },
  { from: sql`proved`, entityId: sql`proved.entity_id` },
)})
select person_id from begun`

export type Counted = Pick<Login, 'now' | 'nameSubject' | 'addressSubject' | 'addressPausedUntil'>

/** Stores the invited person's own password and authenticator. No row: another request accepted the invitation, or the person changed meanwhile. */
export const acceptInvitation = (
  was: Pick<PersonRow, 'id' | 'password'>,
  fresh: Credentials,
  counted: Counted,
  by: Actor,
) => sql<{ id: string }>`
with joined as (
  update tollgate.person as person
  set password = ${fresh.password}::text, data_key_id = ${fresh.dataKeyId}::uuid, sealed = ${fresh.sealed}::bytea,
    code_step = 0, invitation = null, login_version = person.login_version + 1
  where person.id = ${was.id}::uuid and person.disabled_at is null
    and person.password = ${was.password}::text and person.invitation = ${fresh.invitation}::bytea
  returning person.id, person.entity_id),
forgotten as (
  delete from tollgate.recovery_code using joined where recovery_code.person_id = joined.id),
codes as (
  insert into tollgate.recovery_code (person_id, hash)
  select joined.id, code.hash from joined cross join unnest(${fresh.recoveryHashes}::bytea[]) as code (hash)),
unpaused as (
  delete from tollgate.login_failure using joined where login_failure.subject = ${counted.nameSubject}::bytea),
uncounted as (
  update tollgate.login_failure
  set failures = greatest(failures - 1, 0),
    paused_until = case when paused_until is distinct from ${counted.addressPausedUntil}::timestamptz then paused_until end
  from joined
  where login_failure.subject = ${counted.addressSubject}::bytea),
audited as (${auditRows(
  { actor: by, action: 'person.joined', resource: was.id },
  { from: sql`joined`, entityId: sql`joined.entity_id` },
)})
select id from joined`

/** Whether a statement whose answer was lost began the session. */
export const sessionBegan = (hash: Buffer) => sql<{ person_id: string }>`
  select person_id from tollgate.person_session where hash = ${hash}::bytea`

/** Whether a person has this recovery code unused. */
export const unusedRecoveryCode = (personId: string, hash: Buffer) => sql<{ person_id: string }>`
  select person_id from tollgate.recovery_code
  where person_id = ${personId}::uuid and hash = ${hash}::bytea and used_at is null`

export const recoveryCodesLeft = (personId: string) => sql<{ codes: bigint }>`
  select count(*) as codes from tollgate.recovery_code
  where person_id = ${personId}::uuid and used_at is null`

export const forgetFailures = (subject: Buffer, personId: string, by: Actor) => sql<{
  subject: Buffer
}>`
with forgotten as (
  delete from tollgate.login_failure where subject = ${subject}::bytea returning subject),
audited as (${auditRows(
  { actor: by, action: 'person.unlocked', resource: personId },
  {
    from: sql`forgotten join tollgate.person as person on person.id = ${personId}::uuid`,
    entityId: sql`person.entity_id`,
  },
)})
select subject from forgotten`

export const purgeFailures = (before: Date, batch: number) => sql<{ failures: number }>`
  delete from tollgate.login_failure
  where subject in (
    select subject from tollgate.login_failure where failed_at < ${before}::timestamptz
    limit ${batch}::integer)
  returning failures`
