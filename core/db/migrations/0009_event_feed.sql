-- The feed of events: each merchant reads its own channels' in the order of their transactions, and
-- within one, which may write several of one resource, in theirs.
-- Made on the parent, so every month's partition has it. Within a channel entries are added at the
-- end, and a reader's page is one descent for each of its channels and months.
create index event_feed on tollgate.event (channel_id, txid, seq, id);
