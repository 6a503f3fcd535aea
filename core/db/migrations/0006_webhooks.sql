-- Webhooks: who is told what, what is on its way to them, and what they answered.

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
