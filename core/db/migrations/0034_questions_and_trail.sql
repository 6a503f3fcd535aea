-- `enquiries` is the step of the ladder of the engine's own looks. Questions of others (follow-ups, operators, messages
-- of acquirers) are counted apart, and so are tries to take a late success back.
alter table tollgate.attempt
  add column questions integer not null default 0,
  add column take_backs integer not null default 0;

-- The acquirer's name of a reversal that an operator had recorded by hand, once the acquirer tells of it, too.
alter table tollgate.chargeback add column told_as text;
create unique index chargeback_told_as on tollgate.chargeback (connector, account, kind, told_as) where told_as is not null;

-- The audit trail by who, by which action, and by both an entity and an action: a million rows of others are passed over.
create index audit_actor on tollgate.audit (actor, at, id);
create index audit_actor_id on tollgate.audit (actor_id, at, id) where actor_id is not null;
create index audit_action on tollgate.audit ((action collate "C"), at, id);
create index audit_entity_action on tollgate.audit (entity_id, (action collate "C"), at, id) where entity_id is not null;
