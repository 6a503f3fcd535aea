-- Schedules, what they charged and what they missed, and clocks that tests move.

-- Business time of what is bound to it. An advance is under way while there is a target.
create table tollgate.test_clock (
  id uuid primary key,
  entity_id uuid not null,
  name text,
  at timestamptz not null,
  target timestamptz,
  -- Where the advance began, to tell how far it is.
  started_from timestamptz,
  created_at timestamptz not null default now(),
  check (target is null or target >= at)
);
create index test_clock_entity on tollgate.test_clock (entity_id, id);
create index test_clock_advancing on tollgate.test_clock (id) where target is not null;

-- A schedule is its own timer: what is due is found by next_at, and an idle one costs nothing.
create table tollgate.schedule (
  id uuid primary key,
  channel_id uuid not null,
  entity_id uuid not null,
  -- Whose turn it takes among others that are due.
  merchant_id uuid not null,
  registration_id uuid not null,
  -- Null: real time.
  clock_id uuid,
  short_no bigint not null,
  mode text not null check (mode in ('INTERNAL', 'EXTERNAL', 'LIVE')),
  payment_type text not null check (payment_type in ('PA', 'DB', 'CD')),
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  -- IANA zone in which the expression is read, as it was when the schedule was made.
  zone text not null,
  -- Seven fields.
  expression text not null,
  start_at timestamptz,
  end_at timestamptz,
  job jsonb not null,
  request jsonb not null,
  merchant_transaction_id text,
  created_at timestamptz not null,
  cancelled_at timestamptz,
  -- Since when a cancellation holds: at this instant and later nothing is charged.
  effective_end timestamptz,
  -- The next instant to charge; null when none is left.
  next_at timestamptz,
  seq integer not null default 0
) with (fillfactor = 85);
create index schedule_due on tollgate.schedule (next_at) where clock_id is null and next_at is not null;
create index schedule_clock on tollgate.schedule (clock_id, next_at) where clock_id is not null and next_at is not null;
create index schedule_registration on tollgate.schedule (registration_id, id);
create index schedule_channel on tollgate.schedule (channel_id, created_at, id);

-- One instant of one schedule. Its slot holds one payment at a time: another one may take it only
-- after that was declined for good.
create table tollgate.occurrence (
  id uuid primary key,
  schedule_id uuid not null,
  at timestamptz not null,
  clock_id uuid,
  payment_id uuid,
  earlier uuid[] not null default '{}',
  -- Why no payment could be made at all.
  failure text,
  created_at timestamptz not null default now(),
  unique (schedule_id, at)
) with (fillfactor = 85);
create index occurrence_open on tollgate.occurrence (created_at) where payment_id is null and failure is null;

-- Instants that passed uncharged, as a range: a schedule of every second misses 86,400 a day.
create table tollgate.missed (
  id uuid primary key,
  schedule_id uuid not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  count bigint not null check (count > 0),
  created_at timestamptz not null default now()
);
create index missed_schedule on tollgate.missed (schedule_id, first_at);

create index timer_clock on tollgate.timer (clock_id, due_at) where clock_id is not null;
