-- The foundation: entities and tokens, payments and their attempts, balances, events, timers, vault.
-- Partitioning is decided here because it cannot be changed later: a table whose only unique key is
-- its UUIDv7 id is range-partitioned by that id (which is a partition by month of creation).

create table tollgate.installation (
  single boolean primary key default true check (single),
  environment text not null check (environment in ('test', 'live')),
  created_at timestamptz not null default now()
);

create table tollgate.process (
  id uuid primary key,
  version text not null,
  role text not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);

create table tollgate.entity (
  id uuid primary key,
  parent_id uuid references tollgate.entity (id),
  kind text not null check (kind in ('psp', 'division', 'merchant', 'channel')),
  name text not null,
  closed boolean not null default false,
  settings jsonb not null default '{}',
  created_at timestamptz not null default now(),
  check ((kind = 'psp') = (parent_id is null))
);
create index entity_parent on tollgate.entity (parent_id);

create table tollgate.token (
  id uuid primary key,
  -- SHA-256 of the token; the token itself is shown once and never stored.
  hash bytea not null unique,
  entity_id uuid not null references tollgate.entity (id),
  environment text not null check (environment in ('test', 'live')),
  name text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);

-- One contract with one acquirer. `sealed` holds the secret rows of the connector's account table.
create table tollgate.merchant_account (
  id uuid primary key,
  channel_id uuid not null references tollgate.entity (id),
  connector text not null,
  mode text not null check (mode in ('EXTERNAL', 'LIVE')),
  brands text[],
  settings jsonb not null default '{}',
  data_key_id uuid,
  sealed bytea,
  position integer not null default 0,
  active boolean not null default true,
  created_at timestamptz not null default now()
);
create index merchant_account_channel on tollgate.merchant_account (channel_id, mode, position);

-- Keys that seal data, wrapped by key-encryption keys that never touch this database.
create table tollgate.data_key (
  id uuid primary key,
  purpose text not null check (purpose in ('seal', 'mac')),
  key_encryption_key_id text not null,
  wrapped bytea not null,
  created_at timestamptz not null default now(),
  retired_at timestamptz
);
create unique index data_key_in_use on tollgate.data_key (purpose) where retired_at is null;

-- Numbers of class pan. Erased when the payment they belong to ends other than approved.
create table tollgate.instrument (
  id uuid primary key,
  data_key_id uuid not null,
  fingerprint bytea not null,
  sealed bytea not null
);

-- Numbers are handed out in blocks, so that a payment's short id exists before its first commit.
create sequence tollgate.short_no increment by 1000 minvalue 1 maxvalue 999999999001 no cycle;

-- Narrow, and nothing that settling changes is indexed: every update stays on its page.
create table tollgate.payment (
  id uuid not null,
  channel_id uuid not null,
  entity_id uuid not null,
  -- Whose balance follow-ups on this payment count against; itself unless it adds to another one.
  root_id uuid not null,
  -- Whose balance this payment's own reservation was taken from.
  parent_id uuid,
  referenced_id uuid,
  chain_id uuid,
  account_id uuid,
  short_no bigint not null,
  amount_minor bigint not null check (amount_minor >= 0),
  created_at timestamptz not null,
  currency text not null,
  payment_type text not null,
  -- What it does to balances: a reversal may release an authorisation or void a sale.
  effect text not null,
  mode text not null check (mode in ('INTERNAL', 'EXTERNAL', 'LIVE')),
  method text,
  brand text,
  connector text not null,
  attempt_key text not null,
  merchant_transaction_id text,
  seq integer not null default 0,
  state text not null
    check (state in ('processing', 'pending', 'approved', 'declined', 'unknown', 'expired')),
  result_code text not null,
  approved_minor bigint,
  final_by text,
  settled_at timestamptz,
  answer jsonb,
  primary key (id)
) partition by range (id);
create index payment_referenced on tollgate.payment (referenced_id) where referenced_id is not null;

-- What the merchant sent, without secrets, and what answers echo. Written once.
create table tollgate.payment_request (
  id uuid not null,
  request jsonb not null,
  primary key (id)
) partition by range (id);

create table tollgate.event (
  id uuid not null,
  -- Feeds read below the oldest running transaction: ids alone would skip late commits.
  txid xid8 not null default pg_current_xact_id(),
  resource uuid not null,
  seq integer not null,
  channel_id uuid not null,
  type text not null,
  at timestamptz not null default now(),
  data jsonb not null,
  primary key (id)
) partition by range (id);

-- One try at an acquirer. Unpartitioned because its key is unique for good.
create table tollgate.attempt (
  key text primary key,
  payment_id uuid not null,
  no integer not null default 1,
  kind text not null,
  connector text not null,
  state text not null check (state in
    ('sending', 'pending', 'unknown', 'approved', 'declined', 'not-sent', 'expired')),
  lease integer not null default 1,
  lease_until timestamptz,
  sent_at timestamptz not null default now(),
  enquiries integer not null default 0,
  settled_by text
) with (fillfactor = 85);
create index attempt_overdue on tollgate.attempt (lease_until) where state = 'sending';

-- Limits of one authorisation or one sale: what is done and what is reserved for requests under way.
create table tollgate.payment_balance (
  payment_id uuid primary key,
  kind text not null check (kind in ('authorisation', 'sale', 'refund')),
  authorised bigint not null default 0,
  increasing bigint not null default 0,
  capturing bigint not null default 0,
  captured bigint not null default 0,
  reversing bigint not null default 0,
  reversed bigint not null default 0,
  refunding bigint not null default 0,
  refunded bigint not null default 0,
  captures integer not null default 0,
  max_captures integer,
  capture_final_by uuid,
  refund_final_by uuid,
  reverse_final_by uuid,
  closed_by uuid,
  charged_back_by uuid,
  check (least(authorised, increasing, capturing, captured, reversing, reversed, refunding, refunded) >= 0),
  check (captures >= 0 and (max_captures is null or captures <= max_captures)),
  check (kind <> 'authorisation' or captured + capturing + reversed + reversing <= authorised),
  check (kind <> 'sale' or refunded + refunding + reversed + reversing <= captured)
) with (fillfactor = 85);

create table tollgate.idempotency (
  entity_id uuid not null,
  key text not null,
  fingerprint bytea not null,
  payment_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (entity_id, key)
);
create index idempotency_age on tollgate.idempotency using brin (created_at);

-- Everything due later. clock_id null = real time.
create table tollgate.timer (
  id uuid primary key,
  clock_id uuid,
  due_at timestamptz not null,
  kind text not null,
  ref text not null,
  step integer not null default 0,
  unique (kind, ref)
);
create index timer_due on tollgate.timer (due_at) where clock_id is null;

-- Messages of acquirers, stored before they are acknowledged or understood.
create table tollgate.inbound_event (
  connector text not null,
  account text not null,
  event_id text not null,
  received_at timestamptz not null default now(),
  claim jsonb not null,
  processed_at timestamptz,
  outcome text,
  primary key (connector, account, event_id)
);
create index inbound_event_open on tollgate.inbound_event (received_at) where processed_at is null;

-- The operators' list: what the engine could not decide by itself, and contradictions it saw.
create table tollgate.attention (
  id uuid primary key,
  kind text not null,
  payment_id uuid not null,
  attempt_key text,
  at timestamptz not null default now(),
  alarm_at timestamptz not null default now(),
  detail jsonb not null,
  resolved_at timestamptz,
  resolved_by text
);
create index attention_open on tollgate.attention (at) where resolved_at is null;
create index attention_payment on tollgate.attention (payment_id);

create table tollgate.audit (
  id uuid primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  resource uuid,
  detail jsonb not null
);

create table tollgate.connector_record (
  connector text not null,
  account text not null,
  key text not null,
  value jsonb not null,
  primary key (connector, account, key)
);

create table tollgate.connector_sequence (
  connector text not null,
  account text not null,
  name text not null,
  value bigint not null,
  primary key (connector, account, name)
);

-- The default partition takes what no month claims; the months are made by create_partitions.
create table tollgate.payment_default partition of tollgate.payment default with (fillfactor = 85);
create table tollgate.payment_request_default partition of tollgate.payment_request default;
create table tollgate.event_default partition of tollgate.event default;

create function tollgate.month_floor_id(moment timestamptz) returns uuid
language sql immutable as $$
  select (lpad(to_hex((extract(epoch from date_trunc('month', moment at time zone 'UTC') at time zone 'UTC') * 1000)::bigint), 12, '0')
    || '00000000000000000000')::uuid
$$;

-- Makes the partitions of the months from `first` on that do not exist yet.
create function tollgate.create_partitions(first timestamptz, months integer) returns integer
language plpgsql as $$
declare
  made integer := 0;
  parent text;
  start timestamptz;
  stop timestamptz;
  name text;
begin
  for step in 0 .. months - 1 loop
    start := (date_trunc('month', first at time zone 'UTC') + make_interval(months => step)) at time zone 'UTC';
    stop := (date_trunc('month', first at time zone 'UTC') + make_interval(months => step + 1)) at time zone 'UTC';
    foreach parent in array array['payment', 'payment_request', 'event'] loop
      name := format('%s_%s', parent, to_char(start at time zone 'UTC', 'YYYY_MM'));
      if to_regclass(format('tollgate.%I', name)) is null then
        execute format(
          'create table tollgate.%I partition of tollgate.%I for values from (%L) to (%L) %s',
          name, parent, tollgate.month_floor_id(start),
          tollgate.month_floor_id(stop),
          case when parent = 'payment' then 'with (fillfactor = 85)' else '' end);
        made := made + 1;
      end if;
    end loop;
  end loop;
  return made;
end
$$;

select tollgate.create_partitions(now(), 3);
