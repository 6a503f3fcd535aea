/** SQL of people and of their sessions. */
import type { Actor } from '../audit/actor.ts'
import { auditRows } from '../audit/stored-rows.ts'
import { type Sql, sql } from '../db/sql.ts'
import { type ProposalUse, usedProposal } from '../four-eyes/stored-proposal.ts'

export type PersonRow = {
  id: string
  name: string
  role: string
  entity_id: string | null
  password: string
  data_key_id: string
  sealed: Buffer
  /** Digest of the confirming operator's invitation, until the person chooses a password. */
  invitation: Buffer | null
  /** Rises with all that ends the person's sessions. */
  login_version: number
  created_at: Date
  last_login_at: Date | null
  disabled_at: Date | null
}

const columns = sql`person.id, person.name, person.role, person.entity_id, person.password, person.data_key_id,
    person.sealed, person.invitation, person.login_version, person.created_at, person.last_login_at, person.disabled_at`

export const personByName = (name: string) => sql<PersonRow>`
  select ${columns}
  from tollgate.person as person
  where person.name = ${name}::text`

export const personById = (id: string) => sql<PersonRow>`
  select ${columns}
  from tollgate.person as person
  where person.id = ${id}::uuid`

/** People of an entity and below; null: all. */
export const people = (
  entityId: string | null,
  after: string | null,
  limit: number | null,
) => sql<PersonRow>`
  with recursive below as (
    select id from tollgate.entity where id = ${entityId}::uuid
    union all
    select child.id from tollgate.entity as child join below on child.parent_id = below.id)
  select ${columns}
  from tollgate.person as person
  where (${entityId}::uuid is null or person.entity_id in (select below.id from below))
    and (${after}::uuid is null or person.name > (
      select before.name from tollgate.person as before where before.id = ${after}::uuid))
  order by person.name
  limit ${limit}::integer`

/** Number of operators with a role, including disabled ones. */
export const countOfRole = (role: string) => sql<{ people: bigint }>`
  select count(*) as people from tollgate.person where role = ${role}::text`

/** The person's secrets. */
export type Credentials = {
  readonly password: string
  readonly dataKeyId: string
  readonly sealed: Buffer
  readonly recoveryHashes: readonly Buffer[]
  /** Null where one person is enough. */
  readonly invitation: Buffer | null
}

export const addPerson = (
  row: { id: string; name: string; role: string; entityId: string | null } & Credentials,
  by: Actor,
  use: ProposalUse | null,
) => sql<{ id: string }>`
with used as (${usedProposal(use)}),
made as (
  insert into tollgate.person (id, name, role, entity_id, password, data_key_id, sealed, invitation)
  select ${row.id}::uuid, ${row.name}::text, ${row.role}::text, ${row.entityId}::uuid, ${row.password}::text,
    ${row.dataKeyId}::uuid, ${row.sealed}::bytea, ${row.invitation}::bytea
  from used
  on conflict (name) do nothing
  returning id),
codes as (
  insert into tollgate.recovery_code (person_id, hash)
  select made.id, code.hash from made cross join unnest(${row.recoveryHashes}::bytea[]) as code (hash)),
audited as (${auditRows(
  {
    actor: by,
    action: 'person.created',
    entityId: row.entityId,
    resource: row.id,
    after: { name: row.name, role: row.role, entityId: row.entityId },
  },
  { from: sql`made` },
)})
select id from made`

const facts = (of: Sql) =>
  sql`jsonb_build_object('name', ${of}.name, 'role', ${of}.role, 'entityId', replace(${of}.entity_id::text, '-', ''),
    'disabled', ${of}.disabled_at is not null)`

export type PersonChange = {
  readonly role: string
  readonly entityId: string | null
  readonly isDisabled: boolean
  /** Set when the person must choose a password before the next login. */
  readonly invitation: Buffer | null
}

/**
 * Only when unchanged since the read, so that a concurrent change is not overwritten. Disabled and
 * invited people have no sessions.
 */
export const changePerson = (
  was: Pick<PersonRow, 'id' | 'role' | 'entity_id' | 'disabled_at'>,
  change: PersonChange,
  action: string,
  by: Actor,
  use: ProposalUse | null,
) => sql<{ id: string }>`
with was as (
  select person.id, person.name, person.role, person.entity_id, person.disabled_at
  from tollgate.person as person
  where person.id = ${was.id}::uuid and person.role = ${was.role}::text
    and person.entity_id is not distinct from ${was.entity_id}::uuid
    and (person.disabled_at is not null) = ${was.disabled_at !== null}::boolean
  for update),
used as (${usedProposal(use, sql`was`)}),
changed as (
  update tollgate.person as person
  set role = ${change.role}::text, entity_id = ${change.entityId}::uuid,
    disabled_at = case when ${change.isDisabled}::boolean then coalesce(person.disabled_at, now()) end,
    invitation = coalesce(${change.invitation}::bytea, person.invitation),
    login_version = person.login_version +
      case when ${change.isDisabled || change.invitation !== null}::boolean then 1 else 0 end
  from was cross join used
  where person.id = was.id
  returning person.id, person.name, person.role, person.entity_id, person.disabled_at),
ended as (
  delete from tollgate.person_session
  using changed
  where person_session.person_id = changed.id and ${change.isDisabled || change.invitation !== null}::boolean),
-- The audit row of the previous entity.
left_behind as (${auditRows(
  { actor: by, action, resource: was.id },
  {
    from: sql`changed join was on was.id = changed.id and was.entity_id is not null
    and was.entity_id is distinct from changed.entity_id`,
    entityId: sql`was.entity_id`,
    before: facts(sql`was`),
    after: facts(sql`changed`),
  },
)}),
audited as (${auditRows(
  { actor: by, action, resource: was.id },
  {
    from: sql`changed join was on was.id = changed.id`,
    entityId: sql`changed.entity_id`,
    before: facts(sql`was`),
    after: facts(sql`changed`),
  },
)})
select id from changed`

/**
 * Replaces all credentials, ends every session, and resets the failures. Only when unchanged since
 * the read: the number of people that a reset needs follows from the role that was read.
 */
export const resetPerson = (
  was: Pick<PersonRow, 'id' | 'role' | 'entity_id' | 'disabled_at' | 'login_version'>,
  fresh: Credentials,
  subject: Buffer,
  by: Actor,
  use: ProposalUse | null,
) => sql<{ id: string }>`
with was as (
  select person.id
  from tollgate.person as person
  where person.id = ${was.id}::uuid and person.role = ${was.role}::text
    and person.entity_id is not distinct from ${was.entity_id}::uuid
    and (person.disabled_at is not null) = ${was.disabled_at !== null}::boolean
    and person.login_version = ${was.login_version}::integer
  for update),
used as (${usedProposal(use, sql`was`)}),
changed as (
  update tollgate.person as person
  set password = ${fresh.password}::text, data_key_id = ${fresh.dataKeyId}::uuid, sealed = ${fresh.sealed}::bytea,
    code_step = 0, invitation = ${fresh.invitation}::bytea, login_version = person.login_version + 1
  from was cross join used
  where person.id = was.id
  returning person.id, person.entity_id),
ended as (
  delete from tollgate.person_session using changed where person_session.person_id = changed.id),
forgotten as (
  delete from tollgate.recovery_code using changed where recovery_code.person_id = changed.id),
codes as (
  insert into tollgate.recovery_code (person_id, hash)
  select changed.id, code.hash from changed cross join unnest(${fresh.recoveryHashes}::bytea[]) as code (hash)),
unpaused as (
  delete from tollgate.login_failure using changed where login_failure.subject = ${subject}::bytea),
audited as (${auditRows(
  { actor: by, action: 'person.reset', resource: was.id },
  { from: sql`changed`, entityId: sql`changed.entity_id` },
)})
select id from changed`

/** Changes a person's own password: uses up a code, and ends other sessions. */
export const changePassword = (
  was: Pick<PersonRow, 'id' | 'password'>,
  {
    password,
    step,
    keep,
    subject,
  }: { password: string; step: number; keep: Buffer; subject: Buffer },
  by: Actor,
) => sql<{ id: string }>`
with changed as (
  update tollgate.person as person
  set password = ${password}::text, code_step = ${step}::bigint, login_version = person.login_version + 1
  where person.id = ${was.id}::uuid and person.password = ${was.password}::text
    and person.disabled_at is null and person.code_step < ${step}::bigint
  returning person.id, person.entity_id, person.login_version),
kept as (
  update tollgate.person_session set login_version = changed.login_version
  from changed
  where person_session.person_id = changed.id and person_session.hash = ${keep}::bytea),
ended as (
  delete from tollgate.person_session
  using changed
  where person_session.person_id = changed.id and person_session.hash <> ${keep}::bytea),
unpaused as (
  delete from tollgate.login_failure using changed where login_failure.subject = ${subject}::bytea),
audited as (${auditRows(
  { actor: by, action: 'person.password-changed', resource: was.id },
  { from: sql`changed`, entityId: sql`changed.entity_id` },
)})
select id from changed`

export type SessionRow = {
  id: string
  name: string
  role: string
  entity_id: string | null
  created_at: Date
}

/** The person of a valid session. Restarts its idle time. */
export const seeSession = (
  hash: Buffer,
  now: Date,
  idleSince: Date,
  begunSince: Date,
) => sql<SessionRow>`
  update tollgate.person_session as seen
  set seen_at = greatest(seen.seen_at, ${now}::timestamptz)
  from tollgate.person as person
  where seen.hash = ${hash}::bytea and person.id = seen.person_id and person.disabled_at is null
    and coalesce(seen.login_version, person.login_version) = person.login_version
    and seen.seen_at > ${idleSince}::timestamptz and seen.created_at > ${begunSince}::timestamptz
  returning person.id, person.name, person.role, person.entity_id, seen.created_at`

export const endSession = (hash: Buffer, by: Actor) => sql<{ person_id: string }>`
with ended as (
  delete from tollgate.person_session where hash = ${hash}::bytea returning person_id),
audited as (${auditRows(
  { actor: by, action: 'person.logged-out' },
  {
    from: sql`ended join tollgate.person as person on person.id = ended.person_id`,
    resource: sql`ended.person_id`,
    entityId: sql`person.entity_id`,
  },
)})
select person_id from ended`

export const purgeSessions = (before: Date, batch: number) => sql<{ person_id: string }>`
  delete from tollgate.person_session
  where hash in (
    select hash from tollgate.person_session where created_at < ${before}::timestamptz
    limit ${batch}::integer)
  returning person_id`
