-- `enquiries` is the step of the ladder of the engine's own looks. Questions of others (follow-ups, operators, messages
-- of acquirers) are counted apart, and so are tries to take a late success back.
alter table tollgate.attempt
  add column questions integer not null default 0,
  add column take_backs integer not null default 0;

-- The acquirer's name of a reversal that an operator had recorded by hand, once the acquirer tells of it, too.
alter table tollgate.chargeback add column told_as text;
create unique index chargeback_told_as on tollgate.chargeback (connector, account, kind, told_as) where told_as is not null;
