-- Work tables of matching: from the staged lines of one run to decided records. Not logged: after a crash of
-- the server they are empty, and the run starts again from the stage. Rows are deleted at the end of a run.

-- A line that is decided in this run, with the values by which it is matched.
create unlogged table tollgate.settlement_work (
  run_id uuid not null,
  line integer not null,
  scope_id uuid not null,
  -- settled, dispute, fee, or none: about no single payment.
  purpose text not null,
  -- Payment types that the line can be about.
  wanted text[] not null,
  amount_minor bigint not null,
  currency text not null,
  named_payment uuid,
  named_key text,
  -- Payments of this time are looked up first.
  from_at timestamptz not null,
  to_at timestamptz not null,
  -- Candidates of the decision before.
  known uuid[] not null default '{}',
  primary key (run_id, line)
);

-- A payment that a line may be about.
create unlogged table tollgate.settlement_candidate (
  run_id uuid not null,
  line integer not null,
  scope_id uuid not null,
  -- 1 payment id or attempt key, 2 acquirer's reference, 3 merchant's reference, 4 short id, 5 composite.
  tier smallint not null,
  payment_id uuid not null,
  -- Named by the line itself; false: a follow-up or the origin of a named payment.
  is_named boolean not null,
  account_id uuid,
  channel_id uuid not null,
  payment_type text not null,
  state text not null,
  final_by text,
  referenced_id uuid,
  -- What of it can be settled: its approved amount without its reversed part.
  minor bigint not null,
  currency text not null,
  created_at timestamptz not null,
  fits boolean not null,
  is_eligible boolean not null,
  -- More than a hundred payments have the same name: the first hundred, and their number.
  crowd uuid[],
  crowd_count integer,
  primary key (run_id, line, payment_id)
);

-- The result for one line.
create unlogged table tollgate.settlement_decision (
  run_id uuid not null,
  line integer not null,
  match_status text,
  tier text,
  -- The matching payments and their parts of the amount, in the same order.
  payments uuid[] not null default '{}',
  allocated bigint[] not null default '{}',
  candidates uuid[] not null default '{}',
  candidate_count integer not null default 0,
  discrepancies text[] not null default '{}',
  -- Null: the entity of the scope.
  entity_id uuid,
  account_id uuid,
  has_effect boolean not null default false,
  primary key (run_id, line)
);
