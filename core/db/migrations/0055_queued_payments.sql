-- A payment that an embedding program accepted in a transaction of its own is `queued` until a process sends it.
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
