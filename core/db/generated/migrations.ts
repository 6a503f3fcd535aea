/** The files of db/migrations. Generated: npm run generate. */
export const migrations: readonly { readonly name: string; readonly text: string }[] = [
  {
    name: '0001_payments.sql',
    text: `-- The foundation: entities and tokens, payments and their attempts, balances, events, timers, vault.
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

-- One contract with one acquirer. \`sealed\` holds the secret rows of the connector's account table.
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

-- Makes the partitions of the months from \`first\` on that do not exist yet.
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
`,
  },
  {
    name: '0002_registrations.sql',
    text: `-- Registrations: accounts that are stored for later payments.

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
`,
  },
  {
    name: '0003_vault.sql',
    text: `-- breaking
-- Data keys get a life, so that they can be changed while payments go on:
-- announced (made, not sealing yet) -> current (seals) -> previous (opens what is not sealed anew yet)
-- -> retired (seals nothing any more, proven by constraints) -> destroyed (its bytes are gone).
-- The key of purpose mac stays current: what it digested could not be found again under another one.

drop index tollgate.data_key_in_use;
alter table tollgate.data_key add column state text;
update tollgate.data_key set state = case when retired_at is null then 'current' else 'previous' end;
alter table tollgate.data_key
  alter column state set not null,
  add check (state in ('announced', 'current', 'previous', 'retired', 'destroyed')),
  -- What a sealed value is bound to: 1 the id of its row, 2 its table, data key and id.
  add column format smallint not null default 1,
  add column promoted_at timestamptz,
  add column superseded_at timestamptz,
  add column destroyed_at timestamptz;
update tollgate.data_key
set promoted_at = created_at, superseded_at = retired_at, retired_at = null;

create unique index data_key_in_use on tollgate.data_key (purpose, state)
  where state in ('announced', 'current');

-- What each running process seals with, and the announced key it has shown to be able to open.
create table tollgate.data_key_use (
  process_id uuid primary key,
  name text not null,
  data_key_id uuid,
  ready_key_id uuid,
  seen_at timestamptz not null default now()
) with (fillfactor = 50);
`,
  },
  {
    name: '0004_dispatching.sql',
    text: `-- Channel dispatching: which channel takes a payment that names only its merchant.

-- All rules of a merchant in one row, so that a change of several takes effect at once or not at all.
create table tollgate.dispatching (
  merchant_id uuid primary key references tollgate.entity (id),
  -- [{priority, channelId, brands, currencies, paymentTypes, countries}]; a list that is absent takes everything.
  rules jsonb not null check (jsonb_typeof(rules) = 'array'),
  -- Counts changes: two operators who change the same version do not overwrite each other.
  version integer not null default 1,
  changed_at timestamptz not null default now()
);
`,
  },
  {
    name: '0005_schedules.sql',
    text: `-- Schedules, what they charged and what they missed, and clocks that tests move.

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
`,
  },
  {
    name: '0006_webhooks.sql',
    text: `-- Webhooks: who is told what, what is on its way to them, and what they answered.

create table tollgate.webhook_endpoint (
  id uuid primary key,
  entity_id uuid not null,
  -- A callback is a URL that a request brought along; all of one channel to one host are one endpoint.
  kind text not null default 'webhook' check (kind in ('webhook', 'callback')),
  url text not null,
  types text[] not null default '{}',
  wrapper text not null default 'TEXT' check (wrapper in ('TEXT', 'JSON', 'NONE')),
  active boolean not null default true,
  -- Key of the encryption and secrets of the signature.
  data_key_id uuid,
  sealed bytea,
  -- Until when the secret before the last rotation signs as well.
  previous_until timestamptz,
  -- Counts changes, so that a process that sends sees that what it holds is old.
  version integer not null default 1,
  created_at timestamptz not null,
  disabled_at timestamptz,
  disabled_reason text,
  removed_at timestamptz,
  check (kind = 'callback' or sealed is not null)
);
create index webhook_endpoint_entity on tollgate.webhook_endpoint (entity_id) where kind = 'webhook' and active;
create index webhook_endpoint_list on tollgate.webhook_endpoint (entity_id, id) where kind = 'webhook' and removed_at is null;

-- Which process sends to an endpoint now, and how that endpoint does. Apart from the endpoint,
-- which settling payments look at: its row stays as it is.
create table tollgate.webhook_queue (
  endpoint_id uuid primary key,
  owner uuid,
  lease_until timestamptz,
  -- When somebody has to look after it; null: nothing to do, or its owner does.
  wake_at timestamptz,
  -- Failures since the last success, when the first of them was, and when to try again.
  failures integer not null default 0,
  failing_since timestamptz,
  probe_at timestamptz
) with (fillfactor = 50);
create index webhook_queue_wake on tollgate.webhook_queue (wake_at) where wake_at is not null;
create index webhook_queue_lease on tollgate.webhook_queue (lease_until) where owner is not null;

-- Events that no delivery was made of yet. Written with the event, in the same statement; rows stay
-- for milliseconds. Nothing here may refuse a row: it would refuse the payment.
create table tollgate.outbox (
  event_id uuid primary key,
  resource uuid not null,
  -- Its place among the events of this resource: they are told in this order.
  seq integer not null
);
create index outbox_order on tollgate.outbox (resource, seq);

-- One notification to one endpoint. Its id follows from both, so that none is made twice; it has the
-- time of its event, and so the months have their partitions.
create table tollgate.delivery (
  id uuid not null,
  endpoint_id uuid not null,
  -- Null for a call that belongs to no event.
  event_id uuid,
  kind text not null check (kind in ('PAYMENT', 'REGISTRATION', 'SCHEDULE', 'RISK', 'CALLBACK')),
  resource uuid not null,
  seq integer not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  -- Why it is dead.
  reason text,
  attempts integer not null default 0,
  due_at timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz,
  replay boolean not null default false,
  -- Of a callback: what is called, and the id and path that it gets.
  callback jsonb,
  primary key (id)
) partition by range (id);
create index delivery_due on tollgate.delivery (endpoint_id, due_at) where state = 'pending';
create index delivery_order on tollgate.delivery (endpoint_id, resource, seq) where state = 'pending';
create index delivery_list on tollgate.delivery (endpoint_id, id);

-- One try: what went out and what came back, without secrets and card numbers.
create table tollgate.delivery_attempt (
  id uuid not null,
  delivery_id uuid not null,
  at timestamptz not null,
  duration_ms integer not null,
  status integer,
  error text,
  request jsonb not null,
  answer text,
  primary key (id)
) partition by range (id);
create index delivery_attempt_delivery on tollgate.delivery_attempt (delivery_id, id);

create table tollgate.delivery_default partition of tollgate.delivery default with (fillfactor = 85);
create table tollgate.delivery_attempt_default partition of tollgate.delivery_attempt default;

create or replace function tollgate.create_partitions(first timestamptz, months integer) returns integer
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
    foreach parent in array array['payment', 'payment_request', 'event', 'delivery', 'delivery_attempt'] loop
      name := format('%s_%s', parent, to_char(start at time zone 'UTC', 'YYYY_MM'));
      if to_regclass(format('tollgate.%I', name)) is null then
        execute format(
          'create table tollgate.%I partition of tollgate.%I for values from (%L) to (%L) %s',
          name, parent, tollgate.month_floor_id(start),
          tollgate.month_floor_id(stop),
          case when parent in ('payment', 'delivery') then 'with (fillfactor = 85)' else '' end);
        made := made + 1;
      end if;
    end loop;
  end loop;
  return made;
end
$$;

-- Id of the delivery of one event to one endpoint: a UUIDv7 with the time of the event.
create function tollgate.delivery_id(event uuid, endpoint uuid, kind text) returns uuid
language sql immutable as $$
  select (left(event::text, 13) || '-7' || substr(digest, 1, 3) || '-8' || substr(digest, 4, 3) || '-' || substr(digest, 7, 12))::uuid
  from (select md5(event::text || endpoint::text || kind) as digest) as d
$$;

select tollgate.create_partitions(now(), 3);
`,
  },
  {
    name: '0007_query.sql',
    text: `-- Searches for payments and records. Nothing that settling changes is indexed: updates stay on their page.

-- By channel and time. A payment in real time was created at the time in its id, so that one index
-- serves the order, the time frame and the partitions. Type and brand are beside the key: filters
-- read them without the table.
create index payment_channel on tollgate.payment (channel_id, id) include (payment_type, brand)
  where clock_id is null;
-- Refunds, chargebacks and the like are few among the payments of a channel, and searched for by themselves.
create index payment_channel_type on tollgate.payment (channel_id, payment_type, id) include (brand)
  where clock_id is null and payment_type not in ('DB', 'PA');
-- A test clock gives a time of its own, which tells no partition: all are looked at, once for all
-- channels. Without such payments this costs nothing.
create index payment_clock on tollgate.payment (created_at, id) include (channel_id) where clock_id is not null;
-- The channel stands second: what others call their payments is never read, and a caller with many
-- channels looks once and not once for each.
create index payment_merchant_transaction on tollgate.payment (merchant_transaction_id, channel_id, id)
  where merchant_transaction_id is not null;
create index payment_short_no on tollgate.payment (short_no);

create index record_merchant_transaction on tollgate.record (merchant_transaction_id, channel_id)
  where merchant_transaction_id is not null;
create index record_short_no on tollgate.record (short_no);
`,
  },
  {
    name: '0008_steps.sql',
    text: `-- What was said between us and acquirers. Everything else that happened to a payment stands in its
-- own rows; this table may lose its last moments at a crash and nothing depends on it.

create table tollgate.step (
  payment_id uuid not null,
  id uuid not null,
  -- By the clock of this database, as far as the process knew it.
  at timestamptz not null,
  duration_us bigint,
  -- The operation at the acquirer: debit, enquire; or repeated, a request that came again.
  name text not null,
  outcome text,
  detail jsonb,
  -- Ordered by payment, so that all of one lies together and goes with the month of the payment.
  primary key (payment_id, id)
) partition by range (payment_id);

create table tollgate.step_default partition of tollgate.step default;

-- What happened to a payment after its first settling, and to everything else. The first one of each
-- payment, which are nearly all, are found by their time: this index costs them nothing.
create index event_later on tollgate.event (resource)
  where seq > 1 or type not like 'payment.%';

create index audit_resource on tollgate.audit (resource);
create index inbound_event_key on tollgate.inbound_event ((claim ->> 'key'));

-- The lowest id that a row made at \`moment\` can have.
create function tollgate.id_at(moment timestamptz) returns uuid
language sql stable as $$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;

-- Makes the partitions of the months from \`first\` on that do not exist yet, of every partitioned table.
create or replace function tollgate.create_partitions(first timestamptz, months integer) returns integer
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
    for parent in
      select c.relname
      from pg_class c
      join pg_partitioned_table p on p.partrelid = c.oid and p.partstrat = 'r'
      where c.relnamespace = (select relnamespace from pg_class where oid = 'tollgate.payment'::regclass)
      order by c.relname
    loop
      name := format('%s_%s', parent, to_char(start at time zone 'UTC', 'YYYY_MM'));
      if to_regclass(format('tollgate.%I', name)) is null then
        execute format(
          'create table tollgate.%I partition of tollgate.%I for values from (%L) to (%L) %s',
          name, parent, tollgate.month_floor_id(start),
          tollgate.month_floor_id(stop),
          case when parent in ('payment', 'delivery') then 'with (fillfactor = 85)' else '' end);
        made := made + 1;
      end if;
    end loop;
  end loop;
  return made;
end
$$;

-- Drops the steps of payments of months that lie wholly before \`moment\`. Gives the number of partitions.
create function tollgate.drop_steps(moment timestamptz) returns integer
language plpgsql as $$
declare
  dropped integer := 0;
  name text;
begin
  for name in
    select c.relname
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'tollgate.step'::regclass and c.relname ~ '^step_[0-9]{4}_[0-9]{2}$'
      and to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' <= moment at time zone 'UTC'
    order by c.relname
  loop
    execute format('drop table tollgate.%I', name);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;

select tollgate.create_partitions(now(), 3);
`,
  },
  {
    name: '0009_event_feed.sql',
    text: `-- The feed of events: each merchant reads its own channels' in the order of their transactions, and
-- within one, which may write several of one resource, in theirs.
-- Made on the parent, so every month's partition has it. Within a channel entries are added at the
-- end, and a reader's page is one descent for each of its channels and months.
create index event_feed on tollgate.event (channel_id, txid, seq, id);
`,
  },
  {
    name: '0010_delivery_resource.sql',
    text: `-- What was told of a resource, for its steps.
create index delivery_resource on tollgate.delivery (resource, id);
`,
  },
  {
    name: '0011_delivery_order.sql',
    text: `-- What waits before a notification is found by its resource alone. With the endpoint in front, the planner took
-- the index of what is due as well, and read everything that waits for an endpoint.
drop index tollgate.delivery_order;
create index delivery_order on tollgate.delivery (resource, seq) where state = 'pending';
`,
  },
  {
    name: '0012_delivery_months.sql',
    text: `-- Removes what was told long ago, a month at a time. A month in which something still waits stays, whole.
create function tollgate.drop_deliveries(moment timestamptz) returns integer
language plpgsql as $$
declare
  dropped integer := 0;
  name text;
  waits boolean;
begin
  for name in
    select c.relname
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent in ('tollgate.delivery'::regclass, 'tollgate.delivery_attempt'::regclass)
      and c.relname ~ '^delivery(_attempt)?_[0-9]{4}_[0-9]{2}$'
      and to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' <= moment at time zone 'UTC'
    order by c.relname
  loop
    waits := false;
    if name !~ 'attempt' then
      execute format('select exists (select from tollgate.%I where state = ''pending'')', name) into waits;
    end if;
    if not waits then
      execute format('drop table tollgate.%I', name);
      dropped := dropped + 1;
    end if;
  end loop;
  return dropped;
end
$$;
`,
  },
  {
    name: '0013_rare_searches.sql',
    text: `-- Searches for what few payments have, over many channels at once. To ask each of ten thousand channels in each month
-- is a million looks for a handful of payments; here they stand together, in order. A debit or preauthorisation with
-- one of the common brands writes to none of these indexes.

-- Of all channels, by type and time. The channel is beside the key: what is others' is passed over without the table.
-- The condition is that of payment_channel_type in other words: in a month without statistics a plan would take
-- either of them for the other, and read everybody's for each channel.
create index payment_type on tollgate.payment (payment_type, id) include (channel_id, brand)
  where clock_id is null and (payment_type in ('DB', 'PA')) is false;
-- Of all channels, by brand and time.
create index payment_brand on tollgate.payment (brand, id) include (channel_id, payment_type)
  where clock_id is null and (brand in ('VISA', 'MASTER', 'AMEX')) is false;
-- Of one channel: a direct debit among millions of card payments.
create index payment_channel_brand on tollgate.payment (channel_id, brand, id) include (payment_type)
  where clock_id is null and brand not in ('VISA', 'MASTER', 'AMEX');
`,
  },
  {
    name: '0014_event_order.sql',
    text: `-- The feed is read in the order of transactions, and a resource's events have to come in theirs. A transaction has its
-- number from its first write: one that then waited for the resource may have a lower number than the one it waited
-- for. So a later event of a resource stands behind everything that was committed when it was written: its resource
-- is held by then, and what stood before it is committed. Readers pass no number before all lower ones are decided,
-- so a number above the transaction's own is safe.
create function tollgate.keep_event_order() returns trigger
language plpgsql volatile as $$
begin
  -- Volatile: the view of the moment, not that of the statement, which may be older than what it waited for.
  new.txid := greatest(new.txid, (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1)::text::xid8);
  return new;
end
$$;

create trigger keep_event_order before insert on tollgate.event
  for each row when (new.seq > 1) execute function tollgate.keep_event_order();
`,
  },
  {
    name: '0015_statistics.sql',
    text: `-- No search goes by what requests, answers, events and sealed numbers hold. Collecting what is common in them took
-- more than half of the time of every ANALYZE, which on a busy machine is taken from payments.
create function tollgate.without_statistics(only_table text) returns void
language plpgsql as $$
declare
  found record;
begin
  for found in
    select c.relname, a.attname
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = (select relnamespace from pg_class where oid = 'tollgate.payment'::regclass)
      and (only_table is null or c.relname = only_table) and c.relkind in ('r', 'p')
      and a.attnum > 0 and not a.attisdropped
      and (a.atttypid = 'jsonb'::regtype or a.attname = 'sealed')
  loop
    execute format('alter table only tollgate.%I alter column %I set statistics 0', found.relname, found.attname);
  end loop;
end
$$;

select tollgate.without_statistics(null);

-- Makes the partitions of the months from \`first\` on that do not exist yet, of every partitioned table.
create or replace function tollgate.create_partitions(first timestamptz, months integer) returns integer
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
    for parent in
      select c.relname
      from pg_class c
      join pg_partitioned_table p on p.partrelid = c.oid and p.partstrat = 'r'
      where c.relnamespace = (select relnamespace from pg_class where oid = 'tollgate.payment'::regclass)
      order by c.relname
    loop
      name := format('%s_%s', parent, to_char(start at time zone 'UTC', 'YYYY_MM'));
      if to_regclass(format('tollgate.%I', name)) is null then
        execute format(
          'create table tollgate.%I partition of tollgate.%I for values from (%L) to (%L) %s',
          name, parent, tollgate.month_floor_id(start),
          tollgate.month_floor_id(stop),
          case when parent in ('payment', 'delivery') then 'with (fillfactor = 85)' else '' end);
        perform tollgate.without_statistics(name);
        made := made + 1;
      end if;
    end loop;
  end loop;
  return made;
end
$$;
`,
  },
  {
    name: '0016_configuration_version.sql',
    text: `-- Every change of entities and merchant accounts gives the configuration another version, in the same commit.
-- Processes keep what they have read of them for as long as the version is the one that they read it under, and ask
-- for the version alone. A random one: a database that was set back does not come to the same number again. Before the
-- rows: whoever changes some waits here, and not with rows of his own that the others wait for.
create table tollgate.configuration (
  is_the_only_row boolean primary key default true check (is_the_only_row),
  version uuid not null default gen_random_uuid()
) with (fillfactor = 50);
insert into tollgate.configuration default values;

create function tollgate.configuration_changes() returns trigger
language plpgsql as $$
begin
  update tollgate.configuration set version = gen_random_uuid();
  return null;
end
$$;

create trigger configuration_changes before insert or update or delete or truncate on tollgate.entity
  for each statement execute function tollgate.configuration_changes();
create trigger configuration_changes before insert or update or delete or truncate on tollgate.merchant_account
  for each statement execute function tollgate.configuration_changes();
`,
  },
  {
    name: '0017_late_words.sql',
    text: `-- breaking
-- What is said about a payment after its first answer: late successes that are being taken back, chargebacks
-- as facts, and entries of the operators' list that hold refunds and reversals until somebody ends them.

alter table tollgate.payment_balance
  -- Chargebacks less their reversals, in minor units. Refunds and reversals wait until it is zero again.
  add column charged_back bigint not null default 0 check (charged_back >= 0),
  -- Entries of the operators' list that refunds and reversals wait for.
  add column frozen_by uuid[] not null default '{}',
  -- By how much facts went beyond the limit. Only what an acquirer did can do that, never a request.
  add column excess bigint not null default 0 check (excess >= 0),
  add column excess_captures integer not null default 0 check (excess_captures >= 0);

-- A replaced authorisation is closed by its mark alone: its rest is no longer counted as reversed, so that
-- the later failure of the new authorisation reopens exactly what there was.
update tollgate.payment_balance balance set reversed = (
  select coalesce(sum(release.amount_minor), 0)
  from tollgate.payment release
  where release.parent_id = balance.payment_id and release.effect = 'release' and release.state = 'approved')
where balance.kind = 'authorisation' and balance.closed_by is not null;

do $$
declare
  rule record;
begin
  for rule in
    select conname from pg_constraint
    where conrelid = 'tollgate.payment_balance'::regclass and contype = 'c'
      and (pg_get_constraintdef(oid) like '%max_captures%' or pg_get_constraintdef(oid) like '%<> ''%')
  loop
    execute format('alter table tollgate.payment_balance drop constraint %I', rule.conname);
  end loop;
end
$$;
alter table tollgate.payment_balance
  add constraint captures_limited check (
    captures >= 0 and (max_captures is null or captures <= max_captures + excess_captures)),
  add constraint authorisation_limited check (
    kind <> 'authorisation' or captured + capturing + reversed + reversing <= authorised + excess),
  add constraint sale_limited check (
    kind <> 'sale' or refunded + refunding + reversed + reversing <= captured + excess),
  drop column charged_back_by;

-- What an acquirer reported about money that a payer's bank took back, or gave back again. A fact: it is
-- recorded in one statement and happens once, by the acquirer's reference.
create table tollgate.chargeback (
  connector text not null,
  account text not null,
  kind text not null check (kind in ('chargeback', 'reversal')),
  reference text not null,
  -- Whether the acquirer gave the reference; else the id of its message stands for it.
  is_named boolean not null default true,
  -- Id of the message that said it first: the same again is no second round of its case.
  source text,
  -- Its own record among the payments, and the payment that was charged back.
  record_id uuid not null,
  payment_id uuid not null,
  -- The sums that it counts in; null: outside of them.
  balance_id uuid,
  minor bigint not null,
  currency text not null,
  -- What of it counts in the sums, and what of that was reversed since.
  counted bigint not null,
  reversed bigint not null default 0 check (reversed between 0 and counted),
  -- Of a reversal: the reference of its chargeback.
  reverses text,
  at timestamptz not null default now(),
  primary key (connector, account, kind, reference)
);
create index chargeback_payment on tollgate.chargeback (payment_id);
create index chargeback_record on tollgate.chargeback (record_id);

-- No acquirer gave them a reference, so that a reversal without one finds them.
insert into tollgate.chargeback (connector, account, kind, reference, is_named, record_id, payment_id, balance_id,
  minor, currency, counted, reversed, at)
select record.connector, coalesce(replace(record.account_id::text, '-', ''), 'internal'), 'chargeback',
  replace(record.id::text, '-', ''), false, record.id, record.referenced_id, record.parent_id, record.amount_minor,
  record.currency, record.amount_minor, least(record.amount_minor, (
    select coalesce(sum(reversal.amount_minor), 0)
    from tollgate.payment reversal
    where reversal.referenced_id = record.id and reversal.effect = 'chargeback-reversal'
      and reversal.state = 'approved')), record.created_at
from tollgate.payment record
where record.effect = 'chargeback' and record.state = 'approved';

update tollgate.payment_balance balance set charged_back = facts.minor
from (
  select balance_id, sum(counted - reversed)::bigint as minor
  from tollgate.chargeback
  group by balance_id) facts
where balance.payment_id = facts.balance_id;

-- An attempt is \`late\` when its payment is over and the acquirer did it all the same.
alter table tollgate.attempt drop constraint attempt_state_check;
alter table tollgate.attempt add constraint attempt_state_check check (state in
  ('sending', 'pending', 'unknown', 'approved', 'declined', 'not-sent', 'expired', 'late'));

-- The capture of a two-step payment has its id from the first commit on, before it has a row.
create index payment_chain on tollgate.payment (chain_id) where chain_id is not null;

-- One next look at each attempt, whatever it is for.
delete from tollgate.timer other
using tollgate.timer kept
where other.kind in ('enquire', 'poll', 'finalise') and kept.kind in ('enquire', 'poll', 'finalise')
  and other.ref = kept.ref and (other.due_at, other.id) > (kept.due_at, kept.id);
update tollgate.timer set kind = 'look' where kind in ('enquire', 'poll', 'finalise');

-- An entry is on the list once while it is open, also when two processes put it there at the same moment.
alter table tollgate.attention
  alter column payment_id drop not null,
  add column reference text not null default '',
  add column freezes uuid[] not null default '{}';
update tollgate.attention later set reference = later.id::text
from tollgate.attention earlier
where later.resolved_at is null and earlier.resolved_at is null
  and later.payment_id = earlier.payment_id and later.kind = earlier.kind and later.id > earlier.id;
create unique index attention_once on tollgate.attention
  (coalesce(payment_id, '00000000-0000-0000-0000-000000000000'), kind, reference) where resolved_at is null;

-- A late success is always taken back; an operator may keep the money by decision.
update tollgate.entity set settings = settings - 'lateSuccess' where settings ? 'lateSuccess';
`,
  },
  {
    name: '0018_partitions.sql',
    text: `-- A month can be made whatever lies in the default partition, and without holding payments up. Rows of its own
-- there, of a machine whose clock was ahead for instance, refused it for good; and whoever used the default
-- partition made all wait behind who wanted to change it.

-- The months from \`first\` on for which a partitioned table has no partition, the nearest first.
create function tollgate.missing_partitions(first timestamptz, months integer)
returns table (parent text, month timestamptz)
language sql stable as $$
  select c.relname::text, ahead.month
  from generate_series(0, months - 1) as steps (step)
  cross join lateral (
    select (date_trunc('month', first at time zone 'UTC') + make_interval(months => step)) at time zone 'UTC' as month
  ) as ahead
  cross join pg_class c
  join pg_partitioned_table p on p.partrelid = c.oid and p.partstrat = 'r'
  where c.relnamespace = (select relnamespace from pg_class where oid = 'tollgate.payment'::regclass)
    and to_regclass(format('tollgate.%I', c.relname || to_char(ahead.month at time zone 'UTC', '_YYYY_MM'))) is null
  order by ahead.month, c.relname
$$;

-- Makes one partition: 'made', 'there' when it was made before, or 'kept' when the default partition keeps the month.
-- Nobody may write to the default partition from before its rows are looked at until the month takes its place, and
-- reading waits too. So that is short: it gives up (55P03) when others hold the partition, before those that come
-- after have waited for long, and it moves what it can in a moment. Moving more would need the month to be out of
-- sight meanwhile; such a month is served by the default partition as well as ever, only it is not dropped by age.
create function tollgate.create_partition(parent text, month timestamptz) returns text
language plpgsql
set lock_timeout = '100ms'
as $$
declare
  start timestamptz := date_trunc('month', month at time zone 'UTC') at time zone 'UTC';
  stop timestamptz := (date_trunc('month', month at time zone 'UTC') + interval '1 month') at time zone 'UTC';
  name text := parent || to_char(start at time zone 'UTC', '_YYYY_MM');
  rest text := parent || '_default';
  -- What is moved at most, and what is looked through at most: Postgres reads all of it to see that nothing is left.
  most_rows constant integer := 1000;
  most_bytes constant bigint := 64 * 1024 * 1024;
  found_rows integer;
  key text;
  columns text;
begin
  execute format('lock table only tollgate.%I in access exclusive mode', rest);
  if to_regclass(format('tollgate.%I', name)) is not null then
    return 'there';
  end if;
  select a.attname into key
  from pg_partitioned_table p
  join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0]
  where p.partrelid = format('tollgate.%I', parent)::regclass;
  execute format('select count(*) from (select from tollgate.%I where %I >= $1 and %I < $2 limit $3) as found', rest, key, key)
    into found_rows
    using tollgate.month_floor_id(start), tollgate.month_floor_id(stop), most_rows + 1;
  if found_rows > most_rows or pg_relation_size(format('tollgate.%I', rest)::regclass) > most_bytes then
    return 'kept';
  end if;
  execute format('create table tollgate.%I (like tollgate.%I including all) %s', name, parent,
    case when parent in ('payment', 'delivery') then 'with (fillfactor = 85)' else '' end);
  perform tollgate.without_statistics(name);
  if found_rows > 0 then
    select string_agg(quote_ident(a.attname), ', ' order by a.attnum) into columns
    from pg_attribute a
    where a.attrelid = format('tollgate.%I', parent)::regclass and a.attnum > 0 and not a.attisdropped;
    execute format(
      'with moved as (delete from tollgate.%I where %I >= $1 and %I < $2 returning %s) insert into tollgate.%I (%s) select %s from moved',
      rest, key, key, columns, name, columns, columns)
      using tollgate.month_floor_id(start), tollgate.month_floor_id(stop);
  end if;
  -- Unlike "create table ... partition of" this leaves the parent open to everybody.
  execute format('alter table tollgate.%I attach partition tollgate.%I for values from (%L) to (%L)', parent, name,
    tollgate.month_floor_id(start), tollgate.month_floor_id(stop));
  return 'made';
end
$$;

-- Makes the partitions of the months from \`first\` on that do not exist yet, of every partitioned table, all in the
-- caller's transaction. Those that are not to be had now are left to the next time.
create or replace function tollgate.create_partitions(first timestamptz, months integer) returns integer
language plpgsql as $$
declare
  made integer := 0;
  missing record;
begin
  for missing in select parent, month from tollgate.missing_partitions(first, months) loop
    begin
      if tollgate.create_partition(missing.parent, missing.month) = 'made' then
        made := made + 1;
      end if;
    exception when lock_not_available then
      raise warning 'a partition of % could not be made: its table is in use', missing.parent;
    end;
  end loop;
  return made;
end
$$;
`,
  },
  {
    name: '0020_acquirer_events.sql',
    text: `-- What an acquirer told waits its turn: events that wait or fail are looked at again after growing pauses.
alter table tollgate.inbound_event
  add column tries integer not null default 0,
  add column waits integer not null default 0,
  add column next_at timestamptz not null default now(),
  -- Other contents that came, proven, with the same event id.
  add column others jsonb not null default '[]';
-- Nobody looks for what an acquirer said: nothing of it is counted.
alter table tollgate.inbound_event alter column others set statistics 0;
drop index tollgate.inbound_event_open;
create index inbound_event_due on tollgate.inbound_event (next_at) where processed_at is null;
-- Open events about one operation, in order of arrival.
create index inbound_event_turn on tollgate.inbound_event (connector, account, (claim ->> 'key'), received_at)
  where processed_at is null;
-- What anybody may have sent is counted for each account, and removed after some days.
create index inbound_event_unverified on tollgate.inbound_event (connector, account, received_at)
  where claim ->> 'verified' = 'false';
create index inbound_event_received on tollgate.inbound_event (received_at);
`,
  },
  {
    name: '0021_dispute_rounds.sql',
    text: `-- A round of a chargeback's case has a name that no reference of an acquirer can have: it holds a line break.
update tollgate.chargeback as fact
set reference = regexp_replace(fact.reference, ' (round [0-9]+)$', chr(10) || '\\1')
from tollgate.chargeback as opening
where opening.kind = 'chargeback' and opening.connector = fact.connector and opening.account = fact.account
  and opening.payment_id = fact.payment_id and fact.reference ~ ' round [0-9]+$'
  and opening.reference = regexp_replace(fact.reference, ' round [0-9]+$', '');

update tollgate.chargeback as reversal
set reverses = charged.reference
from tollgate.chargeback as charged
where reversal.kind = 'reversal' and charged.kind = 'chargeback' and charged.connector = reversal.connector
  and charged.account = reversal.account and charged.payment_id = reversal.payment_id
  and charged.reference = regexp_replace(reversal.reverses, ' (round [0-9]+)$', chr(10) || '\\1')
  and reversal.reverses <> charged.reference;
`,
  },
  {
    name: '0023_idempotency_keys.sql',
    text: `-- breaking
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
`,
  },
  {
    name: '0024_vault_binding.sql',
    text: `-- breaking
-- Sealed values are bound to their channel and registration as well, which processes of the version
-- before could not open. Those of before open as they are until "tollgate keys rotate" seals them anew.

-- Fingerprints had one key for all merchants. Under one key for each, those of before mean nothing any
-- more: they are unknown. Both columns change in the catalogue alone, no row is written.
drop index tollgate.registration_fingerprint;
alter table tollgate.registration drop column fingerprint;
alter table tollgate.registration add column fingerprint bytea;
create index registration_fingerprint on tollgate.registration (fingerprint, channel_id)
  where removed_at is null and fingerprint is not null;
alter table tollgate.instrument drop column fingerprint;
alter table tollgate.instrument add column fingerprint bytea;

-- While it lies ahead, notifications may still be encrypted with the key before the last rotation.
alter table tollgate.webhook_endpoint add column previous_key_until timestamptz;
`,
  },
  {
    name: '0025_token_rights.sql',
    text: `-- What a token may do, until when, and from where. Null means as before: every right of tokens, for good, from
-- everywhere. Rights are names, so that the place of a right in the engine's table can never change what is stored.
alter table tollgate.token
  add column rights text[] check (cardinality(rights) > 0),
  add column networks text[] check (cardinality(networks) > 0),
  add column expires_at timestamptz,
  -- What took its place when it was rotated.
  add column successor_id uuid,
  -- Written now and then, so it is a little behind.
  add column last_used_at timestamptz;
`,
  },
  {
    name: '0026_audit.sql',
    text: `-- The audit trail: who did what, from where, on which entity, and what was there before and after. Rows are only
-- ever added. A job numbers them and chains them by a keyed hash, so that a row that is changed, removed or moved
-- afterwards is noticed by whoever has the key; writing a row waits for nobody.

alter table tollgate.audit
  -- 'unknown': of a row from before kinds were kept, or of a process of the version before.
  add column actor_kind text not null default 'unknown'
    check (actor_kind in ('token', 'operator', 'system-user', 'engine', 'embedder', 'unknown')),
  add column actor_id text,
  add column address text,
  add column host text,
  add column entity_id uuid,
  add column before jsonb,
  add column after jsonb;

-- Nobody searches them.
select tollgate.without_statistics('audit');

create index audit_time on tollgate.audit (at, id);
create index audit_entity on tollgate.audit (entity_id, at) where entity_id is not null;

-- One link for each row of the trail, in the order in which the job found them.
create table tollgate.audit_link (
  no bigint primary key,
  audit_id uuid not null unique,
  -- The data key that the key of the chain is derived from.
  key_id uuid not null,
  mac bytea not null
);

-- Where the chain ends, and up to where it was forgotten by age. Under a keyed hash of its own: links that are cut
-- off at the end are missed. Whoever adds links holds this row, so that they take turns.
create table tollgate.audit_head (
  is_the_only_row boolean primary key default true check (is_the_only_row),
  last_no bigint not null default 0,
  last_mac bytea not null default ''::bytea,
  forgotten_no bigint not null default 0,
  forgotten_mac bytea not null default ''::bytea,
  key_id uuid,
  mac bytea not null default ''::bytea
) with (fillfactor = 50);
insert into tollgate.audit_head default values;

-- Held to the end of the transaction: two that add links take turns. Who may add links cannot move the head by hand.
create function tollgate.hold_audit_head() returns setof tollgate.audit_head
language sql as $$
  select is_the_only_row, last_no, last_mac, forgotten_no, forgotten_mac, key_id, mac
  from tollgate.audit_head
  for update
$$;

-- Rows that have no link yet.
create table tollgate.audit_pending (audit_id uuid primary key);
insert into tollgate.audit_pending (audit_id) select id from tollgate.audit;

create function tollgate.audit_waits() returns trigger
language plpgsql as $$
begin
  insert into tollgate.audit_pending (audit_id) values (new.id);
  return null;
end
$$;
create trigger audit_waits after insert on tollgate.audit
  for each row execute function tollgate.audit_waits();

-- Adds the next links, of which the first follows the last one there is, and moves the head to the last of them.
create function tollgate.add_audit_links(first_no bigint, under uuid, row_ids uuid[], macs bytea[], head_mac bytea)
returns void
language plpgsql as $$
declare
  ends_at bigint;
begin
  select audit_head.last_no into ends_at from tollgate.audit_head for update;
  if cardinality(row_ids) = 0 or cardinality(row_ids) <> cardinality(macs) or first_no is distinct from ends_at + 1
    or exists (select from tollgate.audit_link where audit_link.no > ends_at) then
    raise exception 'link % does not follow the last link of the audit trail, which is %', first_no, ends_at
      using errcode = 'integrity_constraint_violation';
  end if;
  insert into tollgate.audit_link (no, audit_id, key_id, mac)
  select first_no + fresh.place - 1, fresh.audit_id, under, fresh.mac
  from unnest(row_ids, macs) with ordinality as fresh (audit_id, mac, place);
  delete from tollgate.audit_pending where audit_pending.audit_id = any(row_ids);
  update tollgate.audit_head set last_no = ends_at + cardinality(row_ids), last_mac = macs[cardinality(macs)],
    key_id = under, mac = head_mac;
end
$$;

-- For everybody, also the owner of the tables, but forget_audit.
create function tollgate.audit_stays() returns trigger
language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('tollgate.audit_forgets', true) = 'on' then
    return old;
  end if;
  raise exception 'the audit trail is append-only: % of % is refused', lower(tg_op), tg_table_name
    using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_stays before update or delete on tollgate.audit
  for each row execute function tollgate.audit_stays();
create trigger audit_stays_whole before truncate on tollgate.audit
  for each statement execute function tollgate.audit_stays();
create trigger audit_link_stays before update or delete on tollgate.audit_link
  for each row execute function tollgate.audit_stays();
create trigger audit_link_stays_whole before truncate on tollgate.audit_link
  for each statement execute function tollgate.audit_stays();

-- Forgets the rows of the links up to \`through\`, which are past their time. Gives their number.
create function tollgate.forget_audit(through bigint) returns bigint
language plpgsql as $$
declare
  forgotten bigint;
begin
  perform set_config('tollgate.audit_forgets', 'on', true);
  delete from tollgate.audit
  using tollgate.audit_link
  where audit_link.no <= through and audit.id = audit_link.audit_id;
  get diagnostics forgotten = row_count;
  delete from tollgate.audit_link where no <= through;
  perform set_config('tollgate.audit_forgets', 'off', true);
  return forgotten;
end
$$;
`,
  },
  {
    name: '0027_card_testing.sql',
    text: `-- How often card data was declined, for each merchant and what the attempts have in common: one row a minute of each
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
`,
  },
  {
    name: '0028_people.sql',
    text: `-- People who work on the installation: operators with a name, a password and an authenticator.
create table tollgate.person (
  id uuid primary key,
  -- In lower case: what is typed in at login.
  name text not null unique check (name = lower(name)),
  role text not null,
  -- They see this node and all below it; null: everything.
  entity_id uuid references tollgate.entity (id),
  -- A digest by scrypt, with its parameters and salt.
  password text not null,
  -- The secret of the authenticator.
  data_key_id uuid not null,
  sealed bytea not null,
  -- The last step whose code was used: neither it nor an earlier one is taken again.
  code_step bigint not null default 0,
  created_at timestamptz not null default now(),
  last_login_at timestamptz,
  disabled_at timestamptz
);

-- In the place of a code of the authenticator, once each.
create table tollgate.recovery_code (
  person_id uuid not null references tollgate.person (id) on delete cascade,
  hash bytea not null,
  used_at timestamptz,
  primary key (person_id, hash)
);

create table tollgate.person_session (
  -- Of what the browser holds.
  hash bytea primary key,
  person_id uuid not null references tollgate.person (id) on delete cascade,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  address text
) with (fillfactor = 80);
create index person_session_person on tollgate.person_session (person_id);
create index person_session_created on tollgate.person_session (created_at);

-- Failed logins of a name, whether anybody has it or not, and from an address: under keyed digests.
create table tollgate.login_failure (
  subject bytea primary key,
  failures integer not null,
  failed_at timestamptz not null,
  -- Nothing is tried until then.
  paused_until timestamptz
) with (fillfactor = 80);
create index login_failure_time on tollgate.login_failure (failed_at);

-- What one person asked for and another has to agree with before it is carried out, once.
create table tollgate.proposal (
  id uuid primary key,
  kind text not null,
  entity_id uuid,
  -- Of what is to be done, to the letter.
  digest bytea not null,
  -- The same before people, without secrets.
  facts jsonb not null,
  -- Of secrets that belong to it: by scrypt, as a password.
  secrets text,
  proposed_at timestamptz not null,
  proposer_kind text not null,
  proposer_id text not null,
  proposer text not null,
  confirmed_at timestamptz,
  confirmer_kind text,
  confirmer_id text,
  confirmer text,
  rejected_at timestamptz,
  used_at timestamptz,
  -- One of the two is an operator who logged in, and they are not the same.
  check (confirmed_at is null or confirmer_kind is not null and confirmer_id is not null
    and 'operator' in (proposer_kind, confirmer_kind)
    and (proposer_kind, proposer_id) <> (confirmer_kind, confirmer_id))
);
create index proposal_time on tollgate.proposal (proposed_at);

-- Nobody searches them, and what is counted of a column is a copy of some of it.
select tollgate.without_statistics('person');
select tollgate.without_statistics('proposal');
alter table tollgate.person alter column password set statistics 0;
alter table tollgate.person_session alter column hash set statistics 0;
alter table tollgate.recovery_code alter column hash set statistics 0;
`,
  },
  {
    name: '0029_office.sql',
    text: `-- The office: searches of the audit trail by index, sessions that end with what their person logged in with,
-- and invitations of people whom two people made.

-- The few rows of a page in their order, for the whole installation and for one node.
create index audit_actor on tollgate.audit (actor, at, id);
create index audit_actor_id on tollgate.audit (actor_id, at, id);
create index audit_action on tollgate.audit (action collate "C", at, id);
create index audit_entity_time on tollgate.audit (entity_id, at, id) where entity_id is not null;
create index audit_entity_actor on tollgate.audit (entity_id, actor, at, id) where entity_id is not null;
create index audit_entity_actor_id on tollgate.audit (entity_id, actor_id, at, id) where entity_id is not null;
create index audit_entity_action on tollgate.audit (entity_id, action collate "C", at, id)
  where entity_id is not null;
drop index tollgate.audit_entity;

alter table tollgate.person
  -- Another one whenever their sessions end: a session that began beside that has the one of before.
  add column login_version integer not null default 0,
  -- Of a person whom two people made, and who has not chosen a password yet: the digest of the second
  -- person's part of the invitation.
  add column invitation bytea;

-- Null: of a process of the version before.
alter table tollgate.person_session add column login_version integer;

-- Of what the second person was shown, where it invites somebody.
alter table tollgate.proposal add column invitation bytea;

-- How many of one person are open.
create index proposal_proposer on tollgate.proposal (proposer_id, proposed_at);
`,
  },
  {
    name: '0030_card_testing_approvals.sql',
    text: `-- Approvals beside failures, so that every process judges their share on the same ground, also after a restart.
-- Null: a process of an earlier version wrote the row and told no approvals. Nothing can be said of their share.
alter table tollgate.card_testing add column approvals integer;

-- Rows of the dimensions with the short window go soonest: there is one a minute for each of them.
create index card_testing_short on tollgate.card_testing (changed_at) where dimension <> 'number';
`,
  },
  {
    name: '0031_lists_by_index.sql',
    text: `-- The log of an endpoint by state, newest first, and what was given up of it: others may be a million. The condition
-- holds for all, and only those two lists say it: a plan of what waits or is due never takes this index.
create index delivery_state on tollgate.delivery (endpoint_id, state, id) where (state <> '') is true;

-- Whose an entry of the operators' list is: a channel's, or a merchant's of which every channel has to be one's own.
-- Found once, when the entry is written, also by processes of the version before.
alter table tollgate.attention add column entity_id uuid;

create function tollgate.attention_belongs() returns trigger
language plpgsql as $$
begin
  if new.entity_id is null then
    if new.payment_id is not null then
      select payment.channel_id into new.entity_id from tollgate.payment where payment.id = new.payment_id;
    elsif new.kind = 'card-testing' then
      if new.reference ~ '^[0-9a-f]{32}( |$)' then
        new.entity_id := left(new.reference, 32)::uuid;
      end if;
    elsif new.detail ->> 'account' ~ '^[0-9a-f]{32}$' then
      select account.channel_id into new.entity_id
      from tollgate.merchant_account as account
      where account.id = (new.detail ->> 'account')::uuid;
    end if;
  end if;
  return new;
end
$$;
-- Also for the entries that are open now.
create trigger attention_belongs before insert or update on tollgate.attention
  for each row when (new.entity_id is null and new.resolved_at is null)
  execute function tollgate.attention_belongs();
update tollgate.attention set entity_id = null where resolved_at is null;

create index attention_entity on tollgate.attention (entity_id, at) where resolved_at is null;
-- Of payments that had no row when the entry was written.
create index attention_ownerless on tollgate.attention (at)
  where resolved_at is null and entity_id is null and payment_id is not null;
`,
  },
  {
    name: '0032_questions.sql',
    text: `-- \`enquiries\` is the step of the ladder of the engine's own looks. Questions of others (follow-ups, operators, messages
-- of acquirers) are counted apart, and so are tries to take a late success back.
alter table tollgate.attempt
  add column questions integer not null default 0,
  add column take_backs integer not null default 0;

-- The acquirer's name of a reversal that an operator had recorded by hand, once the acquirer tells of it, too.
alter table tollgate.chargeback add column told_as text;
create unique index chargeback_told_as on tollgate.chargeback (connector, account, kind, told_as) where told_as is not null;
`,
  },
  {
    name: '0033_freezes.sql',
    text: `-- The open entries of the operators' list that freeze a balance which does not exist yet: a capture whose outcome is
-- still unknown when money of its authorisation comes back. A volatile function sees entries that were committed while the
-- calling statement waited for the balance of the authorisation.
create function tollgate.frozen_from_the_start(payment uuid, parent uuid) returns uuid[]
language sql volatile as $$
  select coalesce(array_agg(attention.id), '{}')
  from tollgate.attention
  where attention.resolved_at is null and payment = any(attention.freezes)
    and attention.payment_id in (
      select payment
      union all
      select parent
      union all
      select increase.id from tollgate.payment increase
      where increase.referenced_id = parent and increase.effect = 'increase')
$$;

-- Freezes balances in the name of an entry, also those that were committed while the calling statement waited.
create function tollgate.freeze(entry uuid, balances uuid[]) returns void
language sql volatile as $$
  update tollgate.payment_balance set frozen_by = array_append(frozen_by, entry)
  where payment_id = any(balances) and not entry = any(frozen_by)
$$;
`,
  },
  {
    name: '0034_authentication.sql',
    text: `-- A payment whose shopper is authenticated first: its one attempt has two stages. In \`authentication\` no
-- acquirer knows of it. \`returned_at\`: the shopper came back, and nobody has concluded that yet.
alter table tollgate.attempt
  add column stage text not null default 'money' check (stage in ('authentication', 'money')),
  add column returned_at timestamptz;
`,
  },
  {
    name: '0035_checkouts.sql',
    text: `-- Checkouts: what a shopper's browser may pay, and the one payment at a time that does.

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
`,
  },
  {
    name: '0036_widget.sql',
    text: `-- Every version of the widget that a process served: pages that were opened under one version go on with it, also at
-- processes of another. Loaders, frames and assets are addressed by hash, so a row never changes.
create table tollgate.widget_file (
  hash text not null,
  name text not null,
  type text not null,
  -- The content security policy of a frame.
  policy text,
  bytes bytea not null,
  created_at timestamptz not null default now(),
  primary key (hash, name)
);
-- Found by their key alone.
alter table tollgate.widget_file alter column bytes set statistics 0;
alter table tollgate.widget_file alter column policy set statistics 0;
`,
  },
  {
    name: '0037_checkout_page.sql',
    text: `-- breaking
-- The page of a checkout stands in its request, and that of a payment in the payment's.
alter table tollgate.checkout drop column result_url;
`,
  },
  {
    name: '0040_settlement.sql',
    text: `-- Settlement: files of clearing institutes, their records, and the payments that they settle. Payments get
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
`,
  },
  {
    name: '0041_settlement_matching.sql',
    text: `-- Work tables of matching: from the staged lines of one run to decided records. Not logged: after a crash of
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
`,
  },
  {
    name: '0042_reports.sql',
    text: `-- Reconciliation reports: files of the record versions of one merchant, numbered, and never changed.

-- One series of files: of an entity, and of one of its test clocks. Its position is the last record version
-- that a file holds. A version is in a file once no older transaction runs.
create table tollgate.report_series (
  -- The merchant of the records; above merchants, the entity of unmatched records.
  entity_id uuid not null,
  -- Null: real time.
  clock_id uuid,
  txid xid8 not null,
  record_id uuid not null,
  -- Number of files.
  no integer not null default 0,
  unique nulls not distinct (entity_id, clock_id)
);

-- Where the records of a series are: found at the first record, and for ever.
create table tollgate.report_source (
  scope_id uuid not null,
  -- The entity of the records, and that of their series.
  entity_id uuid not null,
  series_entity_id uuid not null,
  clock_id uuid,
  primary key (scope_id, entity_id)
);
create index report_source_series on tollgate.report_source (series_entity_id);

-- A published file. \`bytes\` is its form for spreadsheets; raw: without the guard against formulas.
create table tollgate.report_file (
  id uuid primary key,
  entity_id uuid not null,
  clock_id uuid,
  no integer not null,
  name text not null,
  sha256 bytea not null,
  raw_sha256 bytea not null,
  bytes bigint not null,
  raw_bytes_count bigint not null,
  rows integer not null,
  -- On the clock of the series.
  made_at timestamptz not null,
  unique nulls not distinct (entity_id, clock_id, no)
);
create index report_file_entity on tollgate.report_file (entity_id, id);

-- Whole rows of a file, at most about a MiB.
create table tollgate.report_part (
  file_id uuid not null,
  no integer not null,
  bytes bytea not null,
  -- Null: the same as \`bytes\`.
  raw bytea,
  primary key (file_id, no)
);
alter table tollgate.report_part alter column bytes set statistics 0, alter column raw set statistics 0;

-- A file that is being written. Its parts are deleted when it is not published within a day.
create table tollgate.report_draft (
  file_id uuid primary key,
  made_at timestamptz not null default now()
);

-- Versions of a scope by entity, for the files; before, they were found by entity alone.
create index settlement_record_report on tollgate.settlement_record (scope_id, entity_id, txid, id);
drop index tollgate.settlement_record_txid;

-- Records of a payout by entity, in the order of its pages. The kind is for pages of one kind.
create index settlement_record_page on tollgate.settlement_record
  (scope_id, batch, settled_currency, entity_id, settlement_date, id) include (record_type);
drop index tollgate.settlement_record_batch;
drop index tollgate.settlement_record_entity;
create index settlement_batch_scope on tollgate.settlement_batch (scope_id, settlement_date, id);
drop index tollgate.settlement_batch_entity;

-- Records from before are in the first files.
insert into tollgate.report_source (scope_id, entity_id, series_entity_id, clock_id)
select distinct record.scope_id, record.entity_id,
  case when entity.kind = 'channel' then entity.parent_id else entity.id end, scope.clock_id
from tollgate.settlement_record as record
join tollgate.settlement_scope as scope on scope.id = record.scope_id
join tollgate.entity on entity.id = record.entity_id;
insert into tollgate.timer (id, due_at, kind, ref)
select gen_random_uuid(), now(), 'report-cut',
  concat_ws(' ', replace(source.series_entity_id::text, '-', ''), replace(source.clock_id::text, '-', ''))
from tollgate.report_source as source
group by source.series_entity_id, source.clock_id;
`,
  },
  {
    name: '0043_report_delivery.sql',
    text: `-- Delivery of report files: folders of merchants, the deliveries to them, and the keys of readers.

create table tollgate.report_destination (
  id uuid primary key,
  entity_id uuid not null,
  url text not null,
  user_name text not null,
  login text not null check (login in ('PASSWORD', 'KEY')),
  host_keys text[] not null default '{}',
  certificate text,
  raw boolean not null,
  active boolean not null,
  -- The password or private key.
  data_key_id uuid not null,
  sealed bytea not null,
  version integer not null default 1,
  created_at timestamptz not null,
  removed_at timestamptz,
  -- One process at a time works on a destination; its commits carry the lease.
  lease integer not null default 0,
  lease_until timestamptz,
  failures integer not null default 0,
  failing_since timestamptz,
  -- No attempt before.
  probe_at timestamptz
);
alter table tollgate.report_destination alter column sealed set statistics 0;
create index report_destination_entity on tollgate.report_destination (entity_id, id);
create index report_destination_key on tollgate.report_destination (data_key_id);

-- One file for one destination.
create table tollgate.report_delivery (
  id uuid primary key,
  destination_id uuid not null,
  file_id uuid not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'dead')),
  reason text,
  replay boolean not null default false,
  attempts integer not null default 0,
  -- The whole file lies in the folder, and its final name was requested: the answer may be lost.
  renaming boolean not null default false,
  due_at timestamptz not null,
  created_at timestamptz not null,
  ended_at timestamptz
);
create unique index report_delivery_pending on tollgate.report_delivery (destination_id, file_id) where state = 'pending';
create index report_delivery_due on tollgate.report_delivery (due_at, destination_id) where state = 'pending';
create index report_delivery_log on tollgate.report_delivery (destination_id, id);
create index report_delivery_ended on tollgate.report_delivery (ended_at) where state <> 'pending';

create table tollgate.report_delivery_attempt (
  id uuid primary key,
  delivery_id uuid not null,
  at timestamptz not null,
  duration_ms integer not null,
  result text not null,
  message text
);
create index report_delivery_attempt_delivery on tollgate.report_delivery_attempt (delivery_id);

-- A published file and its deliveries are one commit.
create function tollgate.deliver_report() returns trigger
language plpgsql as $$
begin
  insert into tollgate.report_delivery (id, destination_id, file_id, due_at, created_at)
  select tollgate.delivery_id(new.id, destination.id, 'REPORT'), destination.id, new.id, now(), now()
  from tollgate.report_destination as destination
  where destination.entity_id = new.entity_id and destination.active and destination.removed_at is null;
  return null;
end
$$;
create trigger deliver_report after insert on tollgate.report_file
  for each row execute function tollgate.deliver_report();

-- Public keys that read the report files of an entity.
create table tollgate.sftp_key (
  id uuid primary key,
  entity_id uuid not null,
  public_key bytea not null,
  type text not null,
  name text,
  created_at timestamptz not null,
  last_used_at timestamptz,
  removed_at timestamptz
);
create unique index sftp_key_of_entity on tollgate.sftp_key (entity_id, public_key) where removed_at is null;
create index sftp_key_entity on tollgate.sftp_key (entity_id, id);

-- Private keys of the servers of plugins, the same in all processes.
create table tollgate.server_key (
  id uuid primary key,
  name text not null unique,
  data_key_id uuid not null,
  sealed bytea not null
);
alter table tollgate.server_key alter column sealed set statistics 0;
`,
  },
  {
    name: '0044_settlement_effects.sql',
    text: `-- A message and a settlement line can tell of one dispute, one of them without the acquirer's reference: the
-- source of the later one.
alter table tollgate.chargeback add column confirmed_by text;

-- When a record that could not take effect yet is tried again.
alter table tollgate.settlement_record add column effect_after timestamptz;

-- Open effects of a scope, in any file.
create index settlement_record_open_effect on tollgate.settlement_record (scope_id) where effect = 'open';
drop index tollgate.settlement_record_effect;
`,
  },
  {
    name: '0045_settlement_exceptions.sql',
    text: `-- Records that operators look at, newest first.
create index settlement_record_exception on tollgate.settlement_record (id)
  where match_status in ('NOT_MATCHED', 'MULTIPLE_MATCHES') or cardinality(discrepancies) > 0 or effect = 'failed';
`,
  },
  {
    name: '0048_simulated_days.sql',
    text: `-- Settlement files of payments with testMode=INTERNAL, which the simulator writes from the engine's own payments.

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
`,
  },
  {
    name: '0049_record_order.sql',
    text: `-- The order in which the records of a run are stored, so that each commit finds its own by an index.
alter table tollgate.settlement_work add position integer;
create index settlement_work_position on tollgate.settlement_work (run_id, position);
`,
  },
  {
    name: '0050_disputes.sql',
    text: `-- breaking
-- What of a chargeback was given back, in the sums or outside of them, also by reversals without a reference. The
-- row changes with every reversal, so that two reversals of one moment cannot both count.
alter table tollgate.chargeback add column given_back bigint not null default 0;
-- The institute's number of the settlement line that told the fact: a line of another number is no repeat.
alter table tollgate.chargeback add column settlement_id text;

update tollgate.chargeback set given_back = reversed
where kind = 'chargeback' and balance_id is not null and reversed > 0;

-- Outside of the sums: reversals that name the chargeback first, then those without a reference, oldest first.
with charged as (
  select fact.connector, fact.account, fact.reference, fact.payment_id, fact.currency, fact.minor, fact.at,
    fact.record_id, least(fact.minor, coalesce((
      select sum(reversal.minor)
      from tollgate.chargeback as reversal
      where reversal.payment_id = fact.payment_id and reversal.kind = 'reversal'
        and reversal.connector = fact.connector and reversal.account = fact.account
        and reversal.reverses = fact.reference and reversal.currency = fact.currency), 0)) as named
  from tollgate.chargeback as fact
  where fact.kind = 'chargeback' and fact.balance_id is null),
nameless as (
  select payment_id, currency, sum(minor) as minor
  from tollgate.chargeback
  where kind = 'reversal' and balance_id is null and reverses is null
  group by payment_id, currency),
spread as (
  select charged.connector, charged.account, charged.reference,
    charged.named + least(charged.minor - charged.named, greatest(0, coalesce(nameless.minor, 0) - (
      sum(charged.minor - charged.named) over (
        partition by charged.payment_id, charged.currency order by charged.at, charged.record_id)
      - (charged.minor - charged.named)))) as given_back
  from charged
  left join nameless on nameless.payment_id = charged.payment_id and nameless.currency = charged.currency)
update tollgate.chargeback as fact set given_back = spread.given_back
from spread
where fact.kind = 'chargeback' and fact.connector = spread.connector and fact.account = spread.account
  and fact.reference = spread.reference and spread.given_back > 0;

alter table tollgate.chargeback add constraint given_back_limited check (given_back between 0 and minor);

update tollgate.chargeback as fact set settlement_id = record.settlement_id
from tollgate.settlement_record as record
where record.settlement_id is not null and record.id = (case
  when fact.source like 'line %' then substr(fact.source, 6)
  when fact.confirmed_by like 'line %' then substr(fact.confirmed_by, 6) end)::uuid;

-- A fact without a reference has the id of its message as a name. No reference can have that name any more: it
-- holds a line break. Reversals that operators recorded are named after their chargeback.
with renamed as (
  select connector, account, reference, regexp_replace(reference, '^[^\\n]*', '\\&' || chr(10) || 'unnamed') as name
  from tollgate.chargeback
  where kind = 'chargeback' and not is_named)
update tollgate.chargeback as reversal
set reverses = renamed.name,
  reference = case when starts_with(reversal.reference, renamed.reference || chr(10) || 'by hand after ')
    then renamed.name || substr(reversal.reference, length(renamed.reference) + 1) else reversal.reference end
from renamed
where reversal.kind = 'reversal' and reversal.connector = renamed.connector and reversal.account = renamed.account
  and reversal.reverses = renamed.reference;

update tollgate.chargeback
set reference = regexp_replace(reference, '^[^\\n]*', '\\&' || chr(10) || 'unnamed')
where not is_named;
`,
  },
  {
    name: '0051_settlement_corrections.sql',
    text: `-- REPEATED: an earlier file with another reference has an equal line without an id.
alter table tollgate.settlement_exception drop constraint settlement_exception_kind_check;
alter table tollgate.settlement_exception add constraint settlement_exception_kind_check
  check (kind in ('UNKNOWN_TYPE', 'UNREADABLE', 'CHANGED', 'UNKNOWN_ACCOUNT', 'REPEATED'));

-- The account of the scope, if it is the only one; known after the next file.
alter table tollgate.settlement_scope add column only_account_id uuid;

-- Records that left a series of report files, because another merchant has them now: its next file takes them out.
create table tollgate.report_departure (
  scope_id uuid not null,
  -- The entity that the record had.
  entity_id uuid not null,
  txid xid8 not null,
  record_id uuid not null,
  -- Of its only version there; zero: it had several. No file has a version that is behind the position of the series.
  was_txid xid8 not null,
  primary key (scope_id, entity_id, txid, record_id)
);

create function tollgate.depart_report() returns trigger
language plpgsql as $$
begin
  insert into tollgate.report_departure (scope_id, entity_id, txid, record_id, was_txid)
  select old.scope_id, old.entity_id, pg_current_xact_id(), old.id,
    case when old.version > 1 then '0'::xid8 else old.txid end
  from tollgate.entity as was
  cross join tollgate.entity as now
  where was.id = old.entity_id and now.id = new.entity_id
    and case when was.kind = 'channel' then was.parent_id else was.id end
      <> case when now.kind = 'channel' then now.parent_id else now.id end
  on conflict do nothing;
  return null;
end
$$;
create trigger depart_report after update of entity_id on tollgate.settlement_record
  for each row when (old.entity_id is distinct from new.entity_id) execute function tollgate.depart_report();

-- A guess that would change its payment, or record a dispute, if it were certain: an operator confirms it.
alter table tollgate.settlement_record add column is_unconfirmed boolean not null default false;
create index settlement_record_exceptional on tollgate.settlement_record (id)
  where match_status in ('NOT_MATCHED', 'MULTIPLE_MATCHES') or cardinality(discrepancies) > 0 or effect = 'failed'
    or is_unconfirmed;
drop index tollgate.settlement_record_exception;

-- One line of a file can have several records. \`line\` counts the records; null: it is the line, too.
alter table tollgate.settlement_stage add column shown_line integer;

-- The entity of the caller who imported the file, or had it read again: lines of merchants above or beside it are
-- not kept. Null: all merchants.
alter table tollgate.settlement_file add column reach_entity_id uuid;
`,
  },
  {
    name: '0053_presses.sql',
    text: `-- Presses of the pay button that an answer ended, by their nonces: no payment follows their soft decline.
alter table tollgate.checkout add column ended text[] not null default '{}';
-- Digests of refused presses that count as tries: the same press sent again is no further try.
alter table tollgate.checkout add column refused bytea[] not null default '{}';
`,
  },
  {
    name: '0054_former_registrations.sql',
    text: `-- Content of a registration before each of its changes: notifications tell the content at their event.
create table tollgate.former_registration (
  registration_id uuid not null,
  -- Sequence number of the change that replaced this content.
  until_seq integer not null,
  request jsonb not null,
  primary key (registration_id, until_seq)
);
alter table tollgate.former_registration alter column request set statistics 0;
`,
  },
  {
    name: '0055_queued_payments.sql',
    text: `-- A payment that an embedding program accepted in a transaction of its own is \`queued\` until a process sends it.
alter table tollgate.attempt drop constraint attempt_state_check;
alter table tollgate.attempt add constraint attempt_state_check check (state in
  ('queued', 'sending', 'pending', 'unknown', 'approved', 'declined', 'not-sent', 'expired', 'late')) not valid;
alter table tollgate.attempt validate constraint attempt_state_check;

-- Followers of the event feed inside embedding programs.
create table tollgate.subscription (
  name text primary key,
  -- A cursor of the feed; the events after it wait.
  cursor text not null,
  -- The last event behind the cursor that its handler took.
  handled text,
  created_at timestamptz not null default now(),
  moved_at timestamptz not null default now()
);
`,
  },
  {
    name: '0060_server_timelines.sql',
    text: `-- Leaders of this database, by the timeline of their server. A row says that the transaction numbers of this
-- timeline are above all numbers of the timelines before, lost ones included.
create table tollgate.server_timeline (
  timeline integer primary key,
  system text,
  since timestamptz not null default now()
);
`,
  },
  {
    name: '0061_pods.sql',
    text: `-- The number of this database in an installation of several databases. Every database from before is pod 0.
alter table tollgate.installation add column pod smallint not null default 0 check (pod between 0 and 49);

-- The key that acquirers' keys derive from, when the pods of an installation share it.
alter table tollgate.data_key drop constraint data_key_purpose_check;
alter table tollgate.data_key add constraint data_key_purpose_check check (purpose in ('seal', 'mac', 'acquirer'));
`,
  },
  {
    name: '0062_wallet_replays.sql',
    text: `-- Tokens of wallets that a payment was made with. A row comes with its payment, and refuses the token to every other
-- payment until the wallet itself refuses it.
create table tollgate.wallet_replay (
  wallet text not null,
  -- Digest of the wallet's own id of the token.
  hash bytea not null,
  payment_id uuid not null,
  until timestamptz not null,
  primary key (wallet, hash)
);
create index wallet_replay_until on tollgate.wallet_replay (until);
`,
  },
  {
    name: '0063_settlement_windows.sql',
    text: `-- Large settlement files are worked on in windows of lines, each in a short transaction.

-- Lines in the stage; null: they are being staged. Lines that are records with the same content are left out.
alter table tollgate.settlement_file add column staged_lines integer;
update tollgate.settlement_file set staged_lines = records where state = 'staged';

-- A name that a line has, and that no payment found so far fits. The first character of the key is the kind of
-- the name. Not logged, like the other tables of a run.
create unlogged table tollgate.settlement_asked (
  run_id uuid not null,
  line integer not null,
  scope_id uuid not null,
  tier smallint not null,
  key text not null,
  -- The time of the payments.
  from_at timestamptz not null,
  to_at timestamptz not null
);
create index settlement_asked_line on tollgate.settlement_asked (run_id, line);

-- A payment with one of these names.
create unlogged table tollgate.settlement_found (
  run_id uuid not null,
  scope_id uuid not null,
  key text not null,
  payment_id uuid not null,
  created_at timestamptz not null
);
create index settlement_found_key on tollgate.settlement_found (run_id, scope_id, key);
`,
  },
  {
    name: '0064_server_place.sql',
    text: `-- The database and the table of this row: a copy that was restored or cloned has others, and then all rows of
-- queued payments are older than the note of its leader.
create table tollgate.server_place (place text not null);
insert into tollgate.server_place (place) values ('');
update tollgate.server_place set place =
  (select oid::text from pg_database where datname = current_database()) || '/' || tableoid::text;
`,
  },
  {
    name: '0065_chargeback_spelling.sql',
    text: `-- An acquirer's message and a settlement line can spell the reference of one chargeback in two ways.
create index chargeback_folded on tollgate.chargeback (connector, account, kind, lower(btrim(reference)));
create index chargeback_told_folded on tollgate.chargeback (connector, account, kind, lower(btrim(told_as)))
  where told_as is not null;
`,
  },
  {
    name: '0066_doubtful_candidates.sql',
    text: `-- A payment whose reference only an operator gave, and a line that names it by its order number has another one.
alter table tollgate.settlement_candidate add column is_doubtful boolean not null default false;
`,
  },
  {
    name: '0067_handed_events.sql',
    text: `-- The account of the merchant whose message an event is, where that is not the account of the payment.
alter table tollgate.inbound_event add column heard_by text;
`,
  },
  {
    name: '0068_event_turns.sql',
    text: `-- Events about one operation take turns at all accounts of a merchant, so that open ones are found without their account.
create index inbound_event_order on tollgate.inbound_event (connector, (claim ->> 'key'), received_at)
  where processed_at is null;
drop index tollgate.inbound_event_turn;
`,
  },
  {
    name: '0069_failed_effects.sql',
    text: `-- Records whose effect failed: few, and asked for before each reversal of a late success.
create index settlement_record_failed_effect on tollgate.settlement_record (scope_id) where effect = 'failed';
`,
  },
  {
    name: '0070_increases_of_increases.sql',
    text: `-- An increase can follow an increase, and money that comes back can be told by the key of either one.
create or replace function tollgate.frozen_from_the_start(payment uuid, parent uuid) returns uuid[]
language sql volatile as $$
  with recursive member as (
    select parent as id
    where parent is not null
    union all
    select increase.id
    from member
    -- A lookup for each member (offset 0): by their estimated number, the planner would read all payments.
    cross join lateral (
      select id
      from tollgate.payment
      where referenced_id = member.id and effect = 'increase'
      offset 0) as increase)
  select coalesce(array_agg(attention.id), '{}')
  from tollgate.attention
  where attention.resolved_at is null and payment = any(attention.freezes)
    and attention.payment_id in (
      select payment
      union all
      select id from member)
$$;
`,
  },
  {
    name: '0071_event_ids.sql',
    text: `-- An event id counts for one operation per merchant number, so that ids are found at all accounts of a number.
create index inbound_event_id on tollgate.inbound_event (connector, event_id);
`,
  },
  {
    name: '0072_failed_effects.sql',
    text: `-- Failed effects that no open entry states any more are listed again: their chargebacks hold refunds until an operator
-- resolves the entry.
insert into tollgate.timer (id, due_at, kind, ref)
select gen_random_uuid(), now(), 'settlement-effect', replace(scope_id::text, '-', '')
from (select distinct scope_id from tollgate.settlement_record where effect = 'failed') as failed
on conflict (kind, ref) do nothing;
`,
  },
  {
    name: '0073_chargeback_places.sql',
    text: `-- Two reports of one chargeback can have nothing in common but the payment and the amount. Each report takes the place
-- after those that it has read, so that of two at one moment one is recorded, and the other reads it.
alter table tollgate.chargeback
  add column family uuid,
  add column place integer;
create unique index chargeback_place on tollgate.chargeback (family, place);
`,
  },
  {
    name: '0074_checked_records.sql',
    text: `-- The version of a record that an operator has checked: a later version is to be checked again.
alter table tollgate.settlement_record add column checked_version integer;
`,
  },
  {
    name: '0075_key_probes.sql',
    text: `-- A key that nothing is sealed with: who can open it has the key-encryption key that wraps it. It is asked for while
-- its row is young, so one that a killed command left is asked for no more.
create table tollgate.key_probe (
  id uuid primary key,
  key_encryption_key_id text not null,
  wrapped bytea not null,
  seen_at timestamptz not null default now()
);

-- The probes that a process has opened, and the data keys in use that it cannot open.
alter table tollgate.data_key_use
  add column probe_ids uuid[] not null default '{}',
  add column shut_key_ids uuid[] not null default '{}';
`,
  },
  {
    name: '0076_chains_of_authorisations.sql',
    text: `-- An acquirer can name the money of an authorisation by the key of one that replaced it or that it replaced, so the
-- entries of a whole chain freeze what begins later.
create or replace function tollgate.frozen_from_the_start(payment uuid, parent uuid) returns uuid[]
language sql volatile as $$
  with recursive member as (
    select id, effect, referenced_id
    from tollgate.payment
    where id = parent
    union
    select other.id, other.effect, other.referenced_id
    from member
    -- Lookups for each member (offset 0): by their estimated number, the planner would read all payments.
    cross join lateral (
      select id, effect, referenced_id
      from tollgate.payment
      where referenced_id = member.id and effect in ('increase', 'replacement')
      union all
      select id, effect, referenced_id
      from tollgate.payment
      where id = member.referenced_id and member.effect in ('increase', 'replacement')
      offset 0) as other)
  select coalesce(array_agg(attention.id), '{}')
  from tollgate.attention
  where attention.resolved_at is null and payment = any(attention.freezes)
    and attention.payment_id in (
      select payment
      union all
      select parent
      union all
      select id from member)
$$;
`,
  },
  {
    name: '0077_freezes_by_balance.sql',
    text: `-- An entry freezes balances that do not exist yet, whichever payment it is about. Not for open entries alone: while they
-- are few, the planner would read them all by another index, and keep that plan.
create index attention_freezes on tollgate.attention using gin (freezes) with (fastupdate = off)
  where freezes <> '{}';

create or replace function tollgate.frozen_from_the_start(payment uuid, parent uuid) returns uuid[]
language sql volatile as $$
  select coalesce(array_agg(attention.id) filter (where attention.resolved_at is null), '{}')
  from tollgate.attention
  where attention.freezes <> '{}' and attention.freezes @> array[payment]
$$;

-- Freezes balances, and those of payments of these effects that follow them and their increases. The lock of an
-- authorisation keeps further ones from beginning, and a volatile function sees those that began before it.
create function tollgate.freeze_below(entry uuid, balances uuid[], effects text[]) returns void
language plpgsql volatile as $$
declare
  held uuid[] := balances;
  below uuid[];
begin
  loop
    perform tollgate.freeze(entry, held);
    with recursive follower as (
      select unnest(held) as id, '' as effect
      union
      select following.id, following.effect
      from follower
      cross join lateral (
        select id, effect
        from tollgate.payment
        where referenced_id = follower.id and effect = any(effects || 'increase'::text)
        offset 0) as following)
    select array_agg(distinct id) into below
    from follower
    where effect = any(effects) and not id = any(held);
    exit when below is null;
    held := held || below;
  end loop;
  update tollgate.attention set freezes = array(select unnest(freezes) union select unnest(held))
  where id = entry and not freezes @> held;
end
$$;

-- Locks payments whose balances an entry freezes: a payment is locked when its balance begins.
create function tollgate.lock_frozen(balances uuid[]) returns void
language sql volatile as $$
  select from tollgate.payment where id = any(balances) order by id for share
$$;

-- Ends the freeze of an entry, also for balances that were committed while the calling statement waited.
create function tollgate.thaw(entry uuid, balances uuid[]) returns void
language sql volatile as $$
  update tollgate.payment_balance set frozen_by = array_remove(frozen_by, entry)
  where payment_id = any(balances) and entry = any(frozen_by)
$$;
`,
  },
  {
    name: '0078_waiting_chargeback_lines.sql',
    text: `-- Chargebacks of settlement files that hold refunds and reversals of the payments that they may be about.
create index settlement_record_waiting on tollgate.settlement_record using gin (candidates) with (fastupdate = off)
  where record_type = 'CHARGEBACK' and status <> 'FAILED'
    and (effect in ('open', 'failed') or match_status = 'MULTIPLE_MATCHES');
`,
  },
]
