/** SQL of changes of entities. */
import type { Actor } from '../audit/actor.ts'
import { auditRows } from '../audit/stored-rows.ts'
import { sql } from '../db/sql.ts'
import { type ProposalUse, usedProposal } from '../four-eyes/stored-proposal.ts'
import type { EntityKind } from './store.ts'

type Settings = Readonly<Record<string, unknown>>

export const addEntity = (
  row: { id: string; parentId: string | null; kind: EntityKind; name: string; settings: Settings },
  by: Actor,
  use: ProposalUse | null,
) => sql<{ id: string }>`
with used as (${usedProposal(use)}),
made as (
  insert into tollgate.entity (id, parent_id, kind, name, settings)
  select ${row.id}::uuid, ${row.parentId}::uuid, ${row.kind}::text, ${row.name}::text,
    ${JSON.stringify(row.settings)}::jsonb
  from used
  on conflict (id) do nothing
  returning id),
audited as (${auditRows(
  {
    actor: by,
    action: 'entity.created',
    entityId: row.id,
    resource: row.id,
    after: { kind: row.kind, name: row.name, parentId: row.parentId, settings: row.settings },
  },
  { from: sql`made` },
)})
select id from made`

/** @param was The settings that the change starts from; with others, nothing changes. */
export const setEntitySettings = (
  id: string,
  settings: Settings,
  was: Settings,
  by: Actor,
  use: ProposalUse | null,
) => sql<{ id: string }>`
with was as (
  select id, settings from tollgate.entity
  where id = ${id}::uuid and settings = ${JSON.stringify(was)}::jsonb
  for update),
used as (${usedProposal(use, sql`was`)}),
changed as (
  update tollgate.entity set settings = jsonb_strip_nulls(was.settings || ${JSON.stringify(settings)}::jsonb)
  from was cross join used
  where entity.id = was.id
  returning entity.id, was.settings as before, entity.settings as after),
audited as (${auditRows(
  { actor: by, action: 'entity.configured', entityId: id, resource: id },
  { from: sql`changed`, before: sql`changed.before`, after: sql`changed.after` },
)})
select id from changed`

export const setClosed = (id: string, closed: boolean, by: Actor, use: ProposalUse | null) => sql<{
  id: string
}>`
with used as (${usedProposal(use)}),
changed as (
  update tollgate.entity set closed = ${closed}::boolean from used where id = ${id}::uuid
  returning id, closed),
audited as (${auditRows(
  {
    actor: by,
    action: closed ? 'entity.closed' : 'entity.opened',
    entityId: id,
    resource: id,
    after: { closed },
  },
  { from: sql`changed` },
)})
select id from changed`
