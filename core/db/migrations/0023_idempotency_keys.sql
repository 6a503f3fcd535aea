-- breaking
-- An Idempotency-Key is what a merchant wrote, and may hold a card number: from now on only a keyed digest of
-- it is stored. The key of the digests is not here, so the rows of before wait in a table of their own, which
-- the first process that starts turns into digests and drops before it takes a request.
alter table tollgate.idempotency rename to idempotency_plain;
alter table tollgate.idempotency_plain rename constraint idempotency_pkey to idempotency_plain_pkey;
drop index tollgate.idempotency_age;

create table tollgate.idempotency (
  entity_id uuid not null,
  key bytea not null,
  fingerprint bytea not null,
  payment_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (entity_id, key)
);
create index idempotency_age on tollgate.idempotency using brin (created_at);
