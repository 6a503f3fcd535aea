-- Channel dispatching: which channel takes a payment that names only its merchant.

-- All rules of a merchant in one row, so that a change of several takes effect at once or not at all.
create table tollgate.dispatching (
  merchant_id uuid primary key references tollgate.entity (id),
  -- [{priority, channelId, brands, currencies, paymentTypes, countries}]; a list that is absent takes everything.
  rules jsonb not null check (jsonb_typeof(rules) = 'array'),
  -- Counts changes: two operators who change the same version do not overwrite each other.
  version integer not null default 1,
  changed_at timestamptz not null default now()
);
