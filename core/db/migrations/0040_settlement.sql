-- Settlement: files of clearing institutes, their records, and the payments that they settle. Payments get
-- no column and no index here: everything that settling writes stands in tables of its own.

-- All accounts with one number at one institute. Files of a scope are processed one at a time.
create table tollgate.settlement_scope (
  id uuid primary key,
  connector text not null,
  mode text not null check (mode in ('INTERNAL', 'EXTERNAL', 'LIVE')),
  -- As the connector derives it from an account. INTERNAL: the channel's id.
  merchant_number text not null,
  -- INTERNAL: a test clock has files of its own; null: real time.
  clock_id uuid,
  -- The lowest entity above all channels of the scope.
  entity_id uuid not null,
  -- The fence of everything that a process commits for the scope.
  lease integer not null default 0,
  lease_until timestamptz,
  made_at timestamptz not null default now(),
  unique nulls not distinct (connector, mode, merchant_number, clock_id)
);

-- A file as it arrived. Its id gives the order of arrival.
create table tollgate.settlement_file (
  id uuid primary key,
  -- The scope of the account by which it came. Lines can belong to other scopes.
  scope_id uuid not null references tollgate.settlement_scope (id),
  account_id uuid,
  connector text not null,
  institute text not null,
  format text not null,
  name text not null,
  source text not null check (source in ('fetch', 'import', 'simulator')),
  sha256 bytea not null,
  bytes bigint not null,
  parts integer not null,
  -- An operator keeps unreadable lines as exceptions, instead of refusing the file.
  skips_bad boolean not null default false,
  -- The institute's own reference of the file.
  reference text,
  -- arrived: stored. staged: read and checked. refused: nothing of it was taken. repeated: the bytes of an
  -- accepted file. decided: each line is a record. done: all effects happened.
  state text not null check (state in ('arrived', 'staged', 'refused', 'repeated', 'decided', 'done')),
  refused_line integer,
  refused_why text,
  -- An earlier file: of the same bytes, or of the same reference with other bytes.
  earlier_id uuid,
  records integer not null default 0,
  batch_lines integer not null default 0,
  exceptions integer not null default 0,
  -- Failed tries of the present step, and the time of the next one.
  tries integer not null default 0,
  due_at timestamptz not null default now(),
  -- Scopes of other accounts that the file names; known after its first reading.
  scope_ids uuid[] not null default '{}',
  received_at timestamptz not null default now(),
  -- On the clock of the scope: shown as the time of records without one.
  read_at timestamptz,
  done_at timestamptz
);
create index settlement_file_open on tollgate.settlement_file (scope_id, id)
  where state in ('arrived', 'staged', 'decided');
-- Two accounts can fetch the same file of their institute.
create unique index settlement_file_bytes on tollgate.settlement_file (scope_id, sha256)
  where state in ('staged', 'decided', 'done');
create index settlement_file_sha256 on tollgate.settlement_file (sha256)
  where state in ('staged', 'decided', 'done');
create index settlement_file_received on tollgate.settlement_file (received_at);
create index settlement_file_reference on tollgate.settlement_file (institute, reference)
  where state in ('staged', 'decided', 'done');

-- The bytes of a file, sealed, one row per MiB. Deleted after 90 days.
create table tollgate.settlement_part (
  id uuid primary key,
  file_id uuid not null,
  no integer not null,
  data_key_id uuid not null,
  sealed bytea not null,
  made_at timestamptz not null default now(),
  unique (file_id, no)
);
alter table tollgate.settlement_part alter column sealed set statistics 0;
create index settlement_part_made on tollgate.settlement_part (made_at);

-- Lines of files that are being decided. Not logged: after a crash they are read from the file again.
create unlogged table tollgate.settlement_stage (
  file_id uuid not null,
  line integer not null,
  scope_id uuid not null,
  merchant_number text not null,
  record_type text not null,
  transaction_type text not null,
  cashflow text not null,
  status text not null,
  -- Hash of the parts that make the record unique, and of everything that it says.
  key bytea not null,
  content bytea not null,
  settlement_id text,
  batch text not null,
  settlement_date date not null,
  requested_at timestamp,
  -- requested_at as an instant.
  requested timestamptz,
  amount_minor bigint not null,
  currency text not null,
  settled_minor bigint not null,
  settled_currency text not null,
  fee_minor bigint,
  fx_rate text,
  named_payment uuid,
  named_key text,
  ref1 text,
  ref2 text,
  ref3 text,
  merchant_transaction_id text,
  merchant_invoice_id text,
  short_no bigint,
  brand text,
  last4 text,
  holder text,
  bank_code text,
  descriptor text,
  reason text,
  reference text
);
create index settlement_stage_file on tollgate.settlement_stage (file_id, line);

-- One record of a file, decided. Its id is a UUIDv7 of its acceptance.
create table tollgate.settlement_record (
  id uuid primary key,
  scope_id uuid not null references tollgate.settlement_scope (id),
  file_id uuid not null,
  line integer not null,
  key bytea not null,
  content bytea not null,
  -- Rises with each change that a report shows.
  version integer not null default 1,
  -- Of the last version: reports hold what is below the oldest running transaction.
  txid xid8 not null default pg_current_xact_id(),
  -- The channel of the matching payment, else the entity of the scope.
  entity_id uuid not null,
  account_id uuid,
  merchant_number text not null,
  record_type text not null,
  transaction_type text not null,
  cashflow text not null check (cashflow in ('POS', 'NEG')),
  status text not null check (status in ('SUCCESS', 'FAILED')),
  settlement_id text,
  batch text not null,
  settlement_date date not null,
  requested_at timestamp,
  requested timestamptz,
  amount_minor bigint not null check (amount_minor >= 0),
  currency text not null,
  settled_minor bigint not null check (settled_minor >= 0),
  settled_currency text not null,
  fee_minor bigint,
  fx_rate text,
  named_payment uuid,
  named_key text,
  ref1 text,
  ref2 text,
  ref3 text,
  merchant_transaction_id text,
  merchant_invoice_id text,
  short_no bigint,
  brand text,
  last4 text,
  holder text,
  bank_code text,
  descriptor text,
  reason text,
  reference text,
  -- Null: a fee of no single transaction.
  match_status text check (match_status in ('MATCHED', 'MULTIPLE_MATCHES', 'NOT_MATCHED')),
  -- What named the payment: payment-id, acquirer-reference, merchant-reference, short-id, composite, operator.
  tier text,
  -- Payments that it may be about, sorted, at most 100, and their number.
  candidates uuid[] not null default '{}',
  candidate_count integer not null default 0,
  -- AMOUNT, CURRENCY, FX, FEE, STATE, DUPLICATE_SETTLEMENT, ID_UNKNOWN, LATE, CHANGED, UNKNOWN_ACCOUNT, EXTERNAL_REFUND …
  discrepancies text[] not null default '{}',
  -- The chargeback or reversal that it led to.
  dispute_record_id uuid,
  -- none: nothing follows. open, done, failed: of the payments, the dispute, or the operators' list.
  effect text not null default 'none' check (effect in ('none', 'open', 'done', 'failed')),
  effect_tries integer not null default 0,
  decided_at timestamptz not null default now(),
  -- Not matched yet: tried again until then.
  retry_until timestamptz,
  unique (scope_id, key)
) with (fillfactor = 90);
create index settlement_record_entity on tollgate.settlement_record (entity_id, settlement_date, id);
create index settlement_record_batch on tollgate.settlement_record (scope_id, batch, settled_currency);
create index settlement_record_file on tollgate.settlement_record (file_id, line);
create index settlement_record_txid on tollgate.settlement_record (entity_id, txid);
create index settlement_record_retry on tollgate.settlement_record (scope_id) where retry_until is not null;
create index settlement_record_effect on tollgate.settlement_record (file_id) where effect = 'open';

-- That a payment is settled *is* a row here.
create table tollgate.settlement_match (
  payment_id uuid not null,
  record_id uuid not null references tollgate.settlement_record (id),
  tier text not null,
  -- Minor units of the payment's currency; 0 for chargebacks and fees.
  allocated_minor bigint not null,
  -- A composite match is decided anew for 30 days and has no effect.
  is_final boolean not null,
  at timestamptz not null default now(),
  primary key (payment_id, record_id)
);
create index settlement_match_record on tollgate.settlement_match (record_id);

-- A line about a whole payout.
create table tollgate.settlement_batch_line (
  id uuid primary key,
  scope_id uuid not null references tollgate.settlement_scope (id),
  file_id uuid not null,
  line integer not null,
  key bytea not null,
  content bytea not null,
  kind text not null check (kind in ('payout', 'opening', 'closing', 'reserve-held', 'reserve-released',
    'adjustment', 'tax', 'transfer', 'fee')),
  cashflow text not null check (cashflow in ('POS', 'NEG')),
  batch text not null,
  settlement_date date not null,
  value_date date,
  payout_id text,
  minor bigint not null check (minor >= 0),
  currency text not null,
  description text,
  unique (scope_id, key)
);
create index settlement_batch_line_batch on tollgate.settlement_batch_line (scope_id, batch, currency);

-- One payout in one currency: what an aggregation shows. Its sums follow from records and lines.
create table tollgate.settlement_batch (
  id uuid primary key,
  scope_id uuid not null references tollgate.settlement_scope (id),
  entity_id uuid not null,
  name text not null,
  currency text not null,
  settlement_date date not null,
  -- opening + records - fees + other lines = payout + closing.
  is_balanced boolean,
  made_at timestamptz not null default now(),
  unique (scope_id, name, currency)
);
create index settlement_batch_entity on tollgate.settlement_batch (entity_id, settlement_date, id);

-- A line that is not a record: of an unknown type, unreadable, or a changed repeat.
create table tollgate.settlement_exception (
  id uuid primary key,
  file_id uuid not null,
  line integer not null,
  kind text not null check (kind in ('UNKNOWN_TYPE', 'UNREADABLE', 'CHANGED', 'UNKNOWN_ACCOUNT')),
  -- Masked; what was expected, what came.
  detail jsonb not null,
  at timestamptz not null default now(),
  unique (file_id, line, kind)
);

-- Where the next fetch of an account continues.
create table tollgate.settlement_cursor (
  account_id uuid primary key,
  cursor text not null,
  at timestamptz not null default now()
);
alter table tollgate.settlement_exception alter column detail set statistics 0;
