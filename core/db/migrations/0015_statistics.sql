-- No search goes by what requests, answers, events and sealed numbers hold. Collecting what is common in them took
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
        perform tollgate.without_statistics(name);
        made := made + 1;
      end if;
    end loop;
  end loop;
  return made;
end
$$;
