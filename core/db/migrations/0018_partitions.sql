-- A month can be made whatever lies in the default partition, and without holding payments up. Rows of its own
-- there, of a machine whose clock was ahead for instance, refused it for good; and whoever used the default
-- partition made all wait behind who wanted to change it.

-- The months from `first` on for which a partitioned table has no partition, the nearest first.
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

-- Makes the partitions of the months from `first` on that do not exist yet, of every partitioned table, all in the
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
