-- A payment whose shopper is authenticated first: its one attempt has two stages. In `authentication` no
-- acquirer knows of it. `returned_at`: the shopper came back, and nobody has concluded that yet.
alter table tollgate.attempt
  add column stage text not null default 'money' check (stage in ('authentication', 'money')),
  add column returned_at timestamptz;
