-- What a token may do, until when, and from where. Null means as before: every right of tokens, for good, from
-- everywhere. Rights are names, so that the place of a right in the engine's table can never change what is stored.
alter table tollgate.token
  add column rights text[] check (cardinality(rights) > 0),
  add column networks text[] check (cardinality(networks) > 0),
  add column expires_at timestamptz,
  -- What took its place when it was rotated.
  add column successor_id uuid,
  -- Written now and then, so it is a little behind.
  add column last_used_at timestamptz;
