-- How often card data was declined, for each merchant and what the attempts have in common: one row a minute of each
-- process that saw them. Every process counts what it sees itself and reads what the others wrote; nobody waits for it.
create table tollgate.card_testing (
  merchant_id uuid not null,
  dimension text not null check (dimension in ('number', 'address', 'bin', 'channel', 'token')),
  -- Of a card number its keyed hash, never the number.
  value text not null,
  bucket_at timestamptz not null,
  process_id uuid not null,
  failures integer not null,
  changed_at timestamptz not null default now(),
  primary key (merchant_id, dimension, value, bucket_at, process_id)
);
create index card_testing_changed on tollgate.card_testing (changed_at);

-- Blocks that operators lifted: every process looks for them each second.
create index attention_lifted on tollgate.attention (resolved_at) where kind = 'card-testing' and resolved_at is not null;
