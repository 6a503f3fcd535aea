-- Every change of entities and merchant accounts gives the configuration another version, in the same commit.
-- Processes keep what they have read of them for as long as the version is the one that they read it under, and ask
-- for the version alone. A random one: a database that was set back does not come to the same number again. Before the
-- rows: whoever changes some waits here, and not with rows of his own that the others wait for.
create table tollgate.configuration (
  is_the_only_row boolean primary key default true check (is_the_only_row),
  version uuid not null default gen_random_uuid()
) with (fillfactor = 50);
insert into tollgate.configuration default values;

create function tollgate.configuration_changes() returns trigger
language plpgsql as $$
begin
  update tollgate.configuration set version = gen_random_uuid();
  return null;
end
$$;

create trigger configuration_changes before insert or update or delete or truncate on tollgate.entity
  for each statement execute function tollgate.configuration_changes();
create trigger configuration_changes before insert or update or delete or truncate on tollgate.merchant_account
  for each statement execute function tollgate.configuration_changes();
