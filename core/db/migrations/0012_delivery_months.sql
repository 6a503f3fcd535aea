-- Removes what was told long ago, a month at a time. A month in which something still waits stays, whole.
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
