/** SQL of proposals. */
import type { Actor } from '../audit/actor.ts'
import { auditRows } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'
import type { Facts } from '../redaction/harmless.ts'
import { type ProposalUse, usedProposal } from './stored-proposal.ts'

export type ProposalRow = {
  id: string
  kind: string
  entity_id: string | null
  digest: Buffer
  facts: Facts
  secrets: string | null
  proposed_at: Date
  proposer_kind: string
  proposer_id: string
  proposer: string
  confirmed_at: Date | null
  confirmer: string | null
  rejected_at: Date | null
  used_at: Date | null
  /** Digest of the invitation that the second person saw. */
  invitation: Buffer | null
}

export const takeProposal = (use: ProposalUse) => sql<{ proposal_id: string }>`
with used as (${usedProposal(use)})
select proposal_id from used`

const columns = sql`id, kind, entity_id, digest, facts, secrets, proposed_at, proposer_kind, proposer_id, proposer,
    confirmed_at, confirmer, rejected_at, used_at, invitation`

export const proposalById = (id: string) => sql<ProposalRow>`
  select ${columns}
  from tollgate.proposal
  where id = ${id}::uuid`

export const addProposal = (
  row: Pick<
    ProposalRow,
    'id' | 'kind' | 'entity_id' | 'digest' | 'facts' | 'secrets' | 'proposed_at'
  >,
  by: Actor,
) => sql<{ id: string }>`
with made as (
  insert into tollgate.proposal (id, kind, entity_id, digest, facts, secrets, proposed_at, proposer_kind,
    proposer_id, proposer)
  values (${row.id}::uuid, ${row.kind}::text, ${row.entity_id}::uuid, ${row.digest}::bytea,
    ${JSON.stringify(row.facts)}::jsonb, ${row.secrets}::text, ${row.proposed_at}::timestamptz,
    ${by.kind}::text, ${by.id}::text, ${by.name ?? by.id}::text)
  on conflict (id) do nothing
  returning id),
audited as (${auditRows(
  {
    actor: by,
    action: 'proposal.made',
    entityId: row.entity_id,
    resource: row.id,
    after: { kind: row.kind, ...row.facts },
  },
  { from: sql`made` },
)})
select id from made`

/** Number of a person's proposals that wait, or are confirmed and not carried out yet. */
export const countOfProposer = (by: Actor, proposedSince: Date) => sql<{ proposals: bigint }>`
  select count(*) as proposals
  from tollgate.proposal
  where proposer_kind = ${by.kind}::text and proposer_id = ${by.id}::text
    and proposed_at > ${proposedSince}::timestamptz and used_at is null and rejected_at is null`

/** Proposals of an entity and below (null: all) that wait, or are confirmed and not carried out yet. */
export const openProposals = (
  entityId: string | null,
  proposedSince: Date,
  after: string | null,
  limit: number,
) => sql<ProposalRow>`
  with recursive below as (
    select id from tollgate.entity where id = ${entityId}::uuid
    union all
    select child.id from tollgate.entity as child join below on child.parent_id = below.id)
  select ${columns}
  from tollgate.proposal
  where proposed_at > ${proposedSince}::timestamptz and used_at is null and rejected_at is null
    and (${entityId}::uuid is null or entity_id in (select below.id from below))
    and (${after}::uuid is null or (proposed_at, id) > (
      select before.proposed_at, before.id from tollgate.proposal as before where before.id = ${after}::uuid))
  order by proposed_at, id
  limit ${limit}::integer`

/** The table itself refuses a second person who is the first. */
export const confirmProposal = (
  id: string,
  now: Date,
  proposedSince: Date,
  by: Actor,
  invitation: Buffer | null,
) => sql<{ id: string }>`
with confirmed as (
  update tollgate.proposal
  set confirmed_at = ${now}::timestamptz, confirmer_kind = ${by.kind}::text, confirmer_id = ${by.id}::text,
    confirmer = ${by.name ?? by.id}::text, invitation = ${invitation}::bytea
  where id = ${id}::uuid and confirmed_at is null and rejected_at is null and used_at is null
    and proposed_at > ${proposedSince}::timestamptz
    and (proposer_kind, proposer_id) <> (${by.kind}::text, ${by.id}::text)
    and 'operator' in (proposer_kind, ${by.kind}::text)
  returning id, kind, entity_id, proposer),
audited as (${auditRows(
  { actor: by, action: 'proposal.confirmed', resource: id },
  {
    from: sql`confirmed`,
    entityId: sql`confirmed.entity_id`,
    detail: sql`jsonb_build_object('kind', confirmed.kind, 'proposer', confirmed.proposer)`,
  },
)})
select id from confirmed`

export const rejectProposal = (id: string, now: Date, reason: string, by: Actor) => sql<{
  id: string
}>`
with rejected as (
  update tollgate.proposal set rejected_at = ${now}::timestamptz
  where id = ${id}::uuid and rejected_at is null and used_at is null
  returning id, kind, entity_id, proposer),
audited as (${auditRows(
  { actor: by, action: 'proposal.rejected', resource: id, detail: { reason } },
  {
    from: sql`rejected`,
    entityId: sql`rejected.entity_id`,
    detail: sql`jsonb_build_object('kind', rejected.kind, 'proposer', rejected.proposer)`,
  },
)})
select id from rejected`

export const purgeProposals = (before: Date, batch: number) => sql<{ id: string }>`
  delete from tollgate.proposal
  where id in (
    select id from tollgate.proposal where proposed_at < ${before}::timestamptz
    limit ${batch}::integer)
  returning id`
