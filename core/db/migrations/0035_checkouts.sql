-- Checkouts: what a shopper's browser may pay, and the one payment at a time that does.

create table tollgate.checkout (
  -- 128 random bits and the name of the node, as on the wire: whoever has the id can pay.
  id text primary key,
  -- The entity of the request: a channel, or a merchant whose rules choose one by the payment.
  entity_id uuid not null,
  -- Null: real time.
  clock_id uuid,
  kind text not null check (kind in ('payment', 'registration')),
  mode text not null check (mode in ('INTERNAL', 'EXTERNAL', 'LIVE')),
  -- The merchant's request without secrets.
  request jsonb not null,
  -- Ids of the registrations that the shopper may pay with.
  registrations uuid[] not null default '{}',
  -- The widget's script that this checkout is served.
  script_hash text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- Raised by every change and by the removal.
  version integer not null default 1,
  -- The slot. Another payment may take it only after this one was declined for good.
  payment_id uuid,
  -- Payments that had the slot before, in their order.
  earlier uuid[] not null default '{}',
  -- The nonces of all of them and of the present one.
  nonces text[] not null default '{}',
  -- Tries that were refused before they became payments.
  refusals integer not null default 0,
  -- Where the shopper goes on to.
  result_url text,
  removed_at timestamptz,
  -- Real time, for the upkeep.
  made_at timestamptz not null default now(),
  check (cardinality(nonces) = cardinality(earlier) + case when payment_id is null then 0 else 1 end)
) with (fillfactor = 80);
alter table tollgate.checkout alter column request set statistics 0;
create index checkout_made on tollgate.checkout (made_at);

-- Sealed numbers of a checkout's request; gone with the checkout.
create table tollgate.checkout_secret (
  id uuid primary key,
  entity_id uuid not null,
  data_key_id uuid not null,
  sealed bytea not null,
  made_at timestamptz not null default now()
);
alter table tollgate.checkout_secret alter column sealed set statistics 0;
create index checkout_secret_made on tollgate.checkout_secret (made_at);

alter table tollgate.payment add column checkout_id text;
