-- The audit trail: who did what, from where, on which entity, and what was there before and after. Rows are only
-- ever added. A job numbers them and chains them by a keyed hash, so that a row that is changed, removed or moved
-- afterwards is noticed by whoever has the key; writing a row waits for nobody.

alter table tollgate.audit
  -- 'unknown': of a row from before kinds were kept, or of a process of the version before.
  add column actor_kind text not null default 'unknown'
    check (actor_kind in ('token', 'operator', 'system-user', 'engine', 'embedder', 'unknown')),
  add column actor_id text,
  add column address text,
  add column host text,
  add column entity_id uuid,
  add column before jsonb,
  add column after jsonb;

-- Nobody searches them.
select tollgate.without_statistics('audit');

create index audit_time on tollgate.audit (at, id);
create index audit_entity on tollgate.audit (entity_id, at) where entity_id is not null;

-- One link for each row of the trail, in the order in which the job found them.
create table tollgate.audit_link (
  no bigint primary key,
  audit_id uuid not null unique,
  -- The data key that the key of the chain is derived from.
  key_id uuid not null,
  mac bytea not null
);

-- Where the chain ends, and up to where it was forgotten by age. Under a keyed hash of its own: links that are cut
-- off at the end are missed. Whoever adds links holds this row, so that they take turns.
create table tollgate.audit_head (
  is_the_only_row boolean primary key default true check (is_the_only_row),
  last_no bigint not null default 0,
  last_mac bytea not null default ''::bytea,
  forgotten_no bigint not null default 0,
  forgotten_mac bytea not null default ''::bytea,
  key_id uuid,
  mac bytea not null default ''::bytea
) with (fillfactor = 50);
insert into tollgate.audit_head default values;

-- Held to the end of the transaction: two that add links take turns. Who may add links cannot move the head by hand.
create function tollgate.hold_audit_head() returns setof tollgate.audit_head
language sql as $$
  select is_the_only_row, last_no, last_mac, forgotten_no, forgotten_mac, key_id, mac
  from tollgate.audit_head
  for update
$$;

-- Rows that have no link yet.
create table tollgate.audit_pending (audit_id uuid primary key);
insert into tollgate.audit_pending (audit_id) select id from tollgate.audit;

create function tollgate.audit_waits() returns trigger
language plpgsql as $$
begin
  insert into tollgate.audit_pending (audit_id) values (new.id);
  return null;
end
$$;
create trigger audit_waits after insert on tollgate.audit
  for each row execute function tollgate.audit_waits();

-- Adds the next links, of which the first follows the last one there is, and moves the head to the last of them.
create function tollgate.add_audit_links(first_no bigint, under uuid, row_ids uuid[], macs bytea[], head_mac bytea)
returns void
language plpgsql as $$
declare
  ends_at bigint;
begin
  select audit_head.last_no into ends_at from tollgate.audit_head for update;
  if cardinality(row_ids) = 0 or cardinality(row_ids) <> cardinality(macs) or first_no is distinct from ends_at + 1
    or exists (select from tollgate.audit_link where audit_link.no > ends_at) then
    raise exception 'link % does not follow the last link of the audit trail, which is %', first_no, ends_at
      using errcode = 'integrity_constraint_violation';
  end if;
  insert into tollgate.audit_link (no, audit_id, key_id, mac)
  select first_no + fresh.place - 1, fresh.audit_id, under, fresh.mac
  from unnest(row_ids, macs) with ordinality as fresh (audit_id, mac, place);
  delete from tollgate.audit_pending where audit_pending.audit_id = any(row_ids);
  update tollgate.audit_head set last_no = ends_at + cardinality(row_ids), last_mac = macs[cardinality(macs)],
    key_id = under, mac = head_mac;
end
$$;

-- For everybody, also the owner of the tables, but forget_audit.
create function tollgate.audit_stays() returns trigger
language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('tollgate.audit_forgets', true) = 'on' then
    return old;
  end if;
  raise exception 'the audit trail is append-only: % of % is refused', lower(tg_op), tg_table_name
    using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_stays before update or delete on tollgate.audit
  for each row execute function tollgate.audit_stays();
create trigger audit_stays_whole before truncate on tollgate.audit
  for each statement execute function tollgate.audit_stays();
create trigger audit_link_stays before update or delete on tollgate.audit_link
  for each row execute function tollgate.audit_stays();
create trigger audit_link_stays_whole before truncate on tollgate.audit_link
  for each statement execute function tollgate.audit_stays();

-- Forgets the rows of the links up to `through`, which are past their time. Gives their number.
create function tollgate.forget_audit(through bigint) returns bigint
language plpgsql as $$
declare
  forgotten bigint;
begin
  perform set_config('tollgate.audit_forgets', 'on', true);
  delete from tollgate.audit
  using tollgate.audit_link
  where audit_link.no <= through and audit.id = audit_link.audit_id;
  get diagnostics forgotten = row_count;
  delete from tollgate.audit_link where no <= through;
  perform set_config('tollgate.audit_forgets', 'off', true);
  return forgotten;
end
$$;
