-- REPEATED: an earlier file with another reference has an equal line without an id.
alter table tollgate.settlement_exception drop constraint settlement_exception_kind_check;
alter table tollgate.settlement_exception add constraint settlement_exception_kind_check
  check (kind in ('UNKNOWN_TYPE', 'UNREADABLE', 'CHANGED', 'UNKNOWN_ACCOUNT', 'REPEATED'));

-- The account of the scope, if it is the only one; known after the next file.
alter table tollgate.settlement_scope add column only_account_id uuid;

-- Records that left a series of report files, because another merchant has them now: its next file takes them out.
create table tollgate.report_departure (
  scope_id uuid not null,
  -- The entity that the record had.
  entity_id uuid not null,
  txid xid8 not null,
  record_id uuid not null,
  -- Of its only version there; zero: it had several. No file has a version that is behind the position of the series.
  was_txid xid8 not null,
  primary key (scope_id, entity_id, txid, record_id)
);

create function tollgate.depart_report() returns trigger
language plpgsql as $$
begin
  insert into tollgate.report_departure (scope_id, entity_id, txid, record_id, was_txid)
  select old.scope_id, old.entity_id, pg_current_xact_id(), old.id,
    case when old.version > 1 then '0'::xid8 else old.txid end
  from tollgate.entity as was
  cross join tollgate.entity as now
  where was.id = old.entity_id and now.id = new.entity_id
    and case when was.kind = 'channel' then was.parent_id else was.id end
      <> case when now.kind = 'channel' then now.parent_id else now.id end
  on conflict do nothing;
  return null;
end
$$;
create trigger depart_report after update of entity_id on tollgate.settlement_record
  for each row when (old.entity_id is distinct from new.entity_id) execute function tollgate.depart_report();

-- A guess that would change its payment, or record a dispute, if it were certain: an operator confirms it.
alter table tollgate.settlement_record add column is_unconfirmed boolean not null default false;
create index settlement_record_exceptional on tollgate.settlement_record (id)
  where match_status in ('NOT_MATCHED', 'MULTIPLE_MATCHES') or cardinality(discrepancies) > 0 or effect = 'failed'
    or is_unconfirmed;
drop index tollgate.settlement_record_exception;

-- One line of a file can have several records. `line` counts the records; null: it is the line, too.
alter table tollgate.settlement_stage add column shown_line integer;

-- The entity of the caller who imported the file, or had it read again: lines of merchants above or beside it are
-- not kept. Null: all merchants.
alter table tollgate.settlement_file add column reach_entity_id uuid;
