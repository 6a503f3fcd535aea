-- Settlement files of payments with testMode=INTERNAL, which the simulator writes from the engine's own payments.

-- What is settled of one channel and test clock.
create table tollgate.settlement_book (
  id uuid primary key,
  connector text not null,
  channel_id uuid not null,
  clock_id uuid,
  -- Payments with lower ids are in a file, or will never be.
  from_id uuid not null,
  -- The last business day that is settled, in the institute's zone.
  last_day date,
  unique nulls not distinct (connector, channel_id, clock_id)
);

-- A business day. Its entries never change.
create table tollgate.settlement_day (
  book_id uuid not null references tollgate.settlement_book (id),
  day date not null,
  -- Null: no file was necessary, or it is still to be written.
  file_id uuid,
  -- What the next payout has to cover, by currency, in minor units.
  carried jsonb,
  written_at timestamptz,
  primary key (book_id, day)
);
alter table tollgate.settlement_day alter column carried set statistics 0;
create index settlement_day_open on tollgate.settlement_day (book_id) where written_at is null;

-- A payment, reversal or dispute that settled, with its amount on that day.
create table tollgate.settlement_entry (
  payment_id uuid primary key,
  book_id uuid not null,
  day date not null,
  kind text not null check (kind in ('payment', 'returned', 'chargeback', 'chargebackReversal')),
  -- The payment that the line names: of a reversal or dispute, the reversed or disputed one.
  subject_id uuid not null,
  minor bigint not null
);
create index settlement_entry_day on tollgate.settlement_entry (book_id, day, subject_id, payment_id);

-- A chargeback that the payer's bank will raise, or its reversal.
create table tollgate.settlement_due (
  book_id uuid not null references tollgate.settlement_book (id),
  kind text not null check (kind in ('chargeback', 'chargebackReversal')),
  reference text not null,
  payment_id uuid not null,
  minor bigint not null,
  currency text not null,
  reason text not null,
  due_day date not null,
  -- The day with its line.
  day date,
  -- The payment was charged back by other means before.
  is_dropped boolean not null default false,
  primary key (book_id, kind, reference)
);
create index settlement_due_day on tollgate.settlement_due (book_id, due_day) where day is null and not is_dropped;

-- Payments of a test clock by channel, as the index by channel has those in real time.
create index payment_clock_channel on tollgate.payment (clock_id, channel_id, id) where clock_id is not null;
