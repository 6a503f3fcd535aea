-- The feed is read in the order of transactions, and a resource's events have to come in theirs. A transaction has its
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
