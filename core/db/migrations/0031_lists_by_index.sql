-- The log of an endpoint by state, newest first, and what was given up of it: others may be a million. The condition
-- holds for all, and only those two lists say it: a plan of what waits or is due never takes this index.
create index delivery_state on tollgate.delivery (endpoint_id, state, id) where (state <> '') is true;

-- Whose an entry of the operators' list is: a channel's, or a merchant's of which every channel has to be one's own.
-- Found once, when the entry is written, also by processes of the version before.
alter table tollgate.attention add column entity_id uuid;

create function tollgate.attention_belongs() returns trigger
language plpgsql as $$
begin
  if new.entity_id is null then
    if new.payment_id is not null then
      select payment.channel_id into new.entity_id from tollgate.payment where payment.id = new.payment_id;
    elsif new.kind = 'card-testing' then
      if new.reference ~ '^[0-9a-f]{32}( |$)' then
        new.entity_id := left(new.reference, 32)::uuid;
      end if;
    elsif new.detail ->> 'account' ~ '^[0-9a-f]{32}$' then
      select account.channel_id into new.entity_id
      from tollgate.merchant_account as account
      where account.id = (new.detail ->> 'account')::uuid;
    end if;
  end if;
  return new;
end
$$;
-- Also for the entries that are open now.
create trigger attention_belongs before insert or update on tollgate.attention
  for each row when (new.entity_id is null and new.resolved_at is null)
  execute function tollgate.attention_belongs();
update tollgate.attention set entity_id = null where resolved_at is null;

create index attention_entity on tollgate.attention (entity_id, at) where resolved_at is null;
-- Of payments that had no row when the entry was written.
create index attention_ownerless on tollgate.attention (at)
  where resolved_at is null and entity_id is null and payment_id is not null;
