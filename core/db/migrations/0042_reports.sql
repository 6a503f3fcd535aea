-- Reconciliation reports: files of the record versions of one merchant, numbered, and never changed.

-- One series of files: of an entity, and of one of its test clocks. Its position is the last record version
-- that a file holds. A version is in a file once no older transaction runs.
create table tollgate.report_series (
  -- The merchant of the records; above merchants, the entity of unmatched records.
  entity_id uuid not null,
  -- Null: real time.
  clock_id uuid,
  txid xid8 not null,
  record_id uuid not null,
  -- Number of files.
  no integer not null default 0,
  unique nulls not distinct (entity_id, clock_id)
);

-- Where the records of a series are: found at the first record, and for ever.
create table tollgate.report_source (
  scope_id uuid not null,
  -- The entity of the records, and that of their series.
  entity_id uuid not null,
  series_entity_id uuid not null,
  clock_id uuid,
  primary key (scope_id, entity_id)
);
create index report_source_series on tollgate.report_source (series_entity_id);

-- A published file. `bytes` is its form for spreadsheets; raw: without the guard against formulas.
create table tollgate.report_file (
  id uuid primary key,
  entity_id uuid not null,
  clock_id uuid,
  no integer not null,
  name text not null,
  sha256 bytea not null,
  raw_sha256 bytea not null,
  bytes bigint not null,
  raw_bytes_count bigint not null,
  rows integer not null,
  -- On the clock of the series.
  made_at timestamptz not null,
  unique nulls not distinct (entity_id, clock_id, no)
);
create index report_file_entity on tollgate.report_file (entity_id, id);

-- Whole rows of a file, at most about a MiB.
create table tollgate.report_part (
  file_id uuid not null,
  no integer not null,
  bytes bytea not null,
  -- Null: the same as `bytes`.
  raw bytea,
  primary key (file_id, no)
);
alter table tollgate.report_part alter column bytes set statistics 0, alter column raw set statistics 0;

-- A file that is being written. Its parts are deleted when it is not published within a day.
create table tollgate.report_draft (
  file_id uuid primary key,
  made_at timestamptz not null default now()
);

-- Versions of a scope by entity, for the files; before, they were found by entity alone.
create index settlement_record_report on tollgate.settlement_record (scope_id, entity_id, txid, id);
drop index tollgate.settlement_record_txid;

-- Records of a payout by entity, in the order of its pages. The kind is for pages of one kind.
create index settlement_record_page on tollgate.settlement_record
  (scope_id, batch, settled_currency, entity_id, settlement_date, id) include (record_type);
drop index tollgate.settlement_record_batch;
drop index tollgate.settlement_record_entity;
create index settlement_batch_scope on tollgate.settlement_batch (scope_id, settlement_date, id);
drop index tollgate.settlement_batch_entity;

-- Records from before are in the first files.
insert into tollgate.report_source (scope_id, entity_id, series_entity_id, clock_id)
select distinct record.scope_id, record.entity_id,
  case when entity.kind = 'channel' then entity.parent_id else entity.id end, scope.clock_id
from tollgate.settlement_record as record
join tollgate.settlement_scope as scope on scope.id = record.scope_id
join tollgate.entity on entity.id = record.entity_id;
insert into tollgate.timer (id, due_at, kind, ref)
select gen_random_uuid(), now(), 'report-cut',
  concat_ws(' ', replace(source.series_entity_id::text, '-', ''), replace(source.clock_id::text, '-', ''))
from tollgate.report_source as source
group by source.series_entity_id, source.clock_id;
