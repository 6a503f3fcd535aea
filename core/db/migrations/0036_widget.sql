-- Every version of the widget that a process served: pages that were opened under one version go on with it, also at
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
