-- The office: searches of the audit trail by index, sessions that end with what their person logged in with,
-- and invitations of people whom two people made.

-- The few rows of a page in their order, for the whole installation and for one node.
create index audit_actor on tollgate.audit (actor, at, id);
create index audit_actor_id on tollgate.audit (actor_id, at, id);
create index audit_action on tollgate.audit (action collate "C", at, id);
create index audit_entity_time on tollgate.audit (entity_id, at, id) where entity_id is not null;
create index audit_entity_actor on tollgate.audit (entity_id, actor, at, id) where entity_id is not null;
create index audit_entity_actor_id on tollgate.audit (entity_id, actor_id, at, id) where entity_id is not null;
create index audit_entity_action on tollgate.audit (entity_id, action collate "C", at, id)
  where entity_id is not null;
drop index tollgate.audit_entity;

alter table tollgate.person
  -- Another one whenever their sessions end: a session that began beside that has the one of before.
  add column login_version integer not null default 0,
  -- Of a person whom two people made, and who has not chosen a password yet: the digest of the second
  -- person's part of the invitation.
  add column invitation bytea;

-- Null: of a process of the version before.
alter table tollgate.person_session add column login_version integer;

-- Of what the second person was shown, where it invites somebody.
alter table tollgate.proposal add column invitation bytea;

-- How many of one person are open.
create index proposal_proposer on tollgate.proposal (proposer_id, proposed_at);
