-- Registrations: accounts that are stored for later payments.

-- The registration that a payment was made with, or that it made; the schedule that charged it; the
-- test clock that it lives on.
alter table tollgate.payment add column registration_id uuid, add column schedule_id uuid, add column clock_id uuid;
-- Finds the payment whose scheme reference later ones of the same registration send. Those of
-- schedules, which are many, never are that payment.
create index payment_registration on tollgate.payment (registration_id, id)
  where registration_id is not null and schedule_id is null;

-- What a registration is worth follows from the payment that made it: its record of type RG, which
-- has the same id, or the payment that also stored its account.
create table tollgate.registration (
  id uuid primary key,
  channel_id uuid not null,
  entity_id uuid not null,
  payment_id uuid not null,
  -- The sealed numbers are the payment's, erased when it is not approved. Null: an account without one.
  instrument_id uuid,
  short_no bigint not null,
  mode text not null check (mode in ('INTERNAL', 'EXTERNAL', 'LIVE')),
  method text not null,
  brand text not null,
  clock_id uuid,
  fingerprint bytea,
  merchant_transaction_id text,
  created_at timestamptz not null,
  removed_at timestamptz,
  seq integer not null default 0,
  -- What is known of the account and its owner besides the sealed numbers.
  request jsonb not null
);
create index registration_fingerprint on tollgate.registration (fingerprint, channel_id) where removed_at is null;
create index registration_channel on tollgate.registration (channel_id, created_at, id);

-- What was done with a registration or a schedule besides payments: RR, TE, DR, later RS, DS.
create table tollgate.record (
  id uuid primary key,
  type text not null,
  resource uuid not null,
  channel_id uuid not null,
  short_no bigint not null,
  merchant_transaction_id text,
  created_at timestamptz not null
);
create index record_resource on tollgate.record (resource, id);
create index record_channel on tollgate.record (channel_id, created_at, id);
