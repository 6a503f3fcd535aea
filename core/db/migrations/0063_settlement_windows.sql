-- Large settlement files are worked on in windows of lines, each in a short transaction.

-- Lines in the stage; null: they are being staged. Lines that are records with the same content are left out.
alter table tollgate.settlement_file add column staged_lines integer;
update tollgate.settlement_file set staged_lines = records where state = 'staged';

-- A name that a line has, and that no payment found so far fits. The first character of the key is the kind of
-- the name. Not logged, like the other tables of a run.
create unlogged table tollgate.settlement_asked (
  run_id uuid not null,
  line integer not null,
  scope_id uuid not null,
  tier smallint not null,
  key text not null,
  -- The time of the payments.
  from_at timestamptz not null,
  to_at timestamptz not null
);
create index settlement_asked_line on tollgate.settlement_asked (run_id, line);

-- A payment with one of these names.
create unlogged table tollgate.settlement_found (
  run_id uuid not null,
  scope_id uuid not null,
  key text not null,
  payment_id uuid not null,
  created_at timestamptz not null
);
create index settlement_found_key on tollgate.settlement_found (run_id, scope_id, key);
