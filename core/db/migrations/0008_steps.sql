-- What was said between us and acquirers. Everything else that happened to a payment stands in its
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

-- The lowest id that a row made at `moment` can have.
create function tollgate.id_at(moment timestamptz) returns uuid
language sql stable as $$
  select (lpad(to_hex((extract(epoch from moment) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;

-- Makes the partitions of the months from `first` on that do not exist yet, of every partitioned table.
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

-- Drops the steps of payments of months that lie wholly before `moment`. Gives the number of partitions.
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
