-- `enquiries` is the step of the ladder of the engine's own looks. Questions of others (follow-ups, operators, messages
-- of acquirers) are counted apart, and so are tries to take a late success back.
alter table tollgate.attempt
  add column questions integer not null default 0,
  add column take_backs integer not null default 0;
