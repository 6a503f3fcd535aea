-- Leaders of this database, by the timeline of their server. A row says that the transaction numbers of this
-- timeline are above all numbers of the timelines before, lost ones included.
create table tollgate.server_timeline (
  timeline integer primary key,
  system text,
  since timestamptz not null default now()
);
