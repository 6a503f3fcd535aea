-- What a careful developer would keep of a payment: the same facts as Tollgate, without partitions.
create table payment (
  id uuid primary key,
  channel_id uuid not null,
  short_no bigint not null generated always as identity,
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  payment_type text not null,
  brand text not null,
  merchant_transaction_id text,
  created_at timestamptz not null default now(),
  state text not null check (state in ('processing', 'approved', 'declined')),
  result_code text not null,
  answer jsonb,
  settled_at timestamptz
) with (fillfactor = 85);

create table payment_request (
  id uuid primary key,
  request jsonb not null
);

create table instrument (
  id uuid primary key,
  key_id text not null,
  sealed bytea not null
);

create table attempt (
  key text primary key,
  payment_id uuid not null,
  state text not null check (state in ('sending', 'approved', 'declined')),
  overdue_at timestamptz not null default now() + interval '50 seconds'
) with (fillfactor = 85);
-- Payments that a crash interrupted have to be found again.
create index attempt_overdue on attempt (overdue_at) where state = 'sending';

create table payment_balance (
  payment_id uuid primary key,
  captured bigint not null default 0,
  refunded bigint not null default 0,
  check (refunded <= captured)
);

create table event (
  id uuid primary key,
  resource uuid not null,
  type text not null,
  at timestamptz not null default now(),
  data jsonb not null
);
