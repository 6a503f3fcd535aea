-- People who work on the installation: operators with a name, a password and an authenticator.
create table tollgate.person (
  id uuid primary key,
  -- In lower case: what is typed in at login.
  name text not null unique check (name = lower(name)),
  role text not null,
  -- They see this node and all below it; null: everything.
  entity_id uuid references tollgate.entity (id),
  -- A digest by scrypt, with its parameters and salt.
  password text not null,
  -- The secret of the authenticator.
  data_key_id uuid not null,
  sealed bytea not null,
  -- The last step whose code was used: neither it nor an earlier one is taken again.
  code_step bigint not null default 0,
  created_at timestamptz not null default now(),
  last_login_at timestamptz,
  disabled_at timestamptz
);

-- In the place of a code of the authenticator, once each.
create table tollgate.recovery_code (
  person_id uuid not null references tollgate.person (id) on delete cascade,
  hash bytea not null,
  used_at timestamptz,
  primary key (person_id, hash)
);

create table tollgate.person_session (
  -- Of what the browser holds.
  hash bytea primary key,
  person_id uuid not null references tollgate.person (id) on delete cascade,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  address text
) with (fillfactor = 80);
create index person_session_person on tollgate.person_session (person_id);
create index person_session_created on tollgate.person_session (created_at);

-- Failed logins of a name, whether anybody has it or not, and from an address: under keyed digests.
create table tollgate.login_failure (
  subject bytea primary key,
  failures integer not null,
  failed_at timestamptz not null,
  -- Nothing is tried until then.
  paused_until timestamptz
) with (fillfactor = 80);
create index login_failure_time on tollgate.login_failure (failed_at);

-- What one person asked for and another has to agree with before it is carried out, once.
create table tollgate.proposal (
  id uuid primary key,
  kind text not null,
  entity_id uuid,
  -- Of what is to be done, to the letter.
  digest bytea not null,
  -- The same before people, without secrets.
  facts jsonb not null,
  -- Of secrets that belong to it: by scrypt, as a password.
  secrets text,
  proposed_at timestamptz not null,
  proposer_kind text not null,
  proposer_id text not null,
  proposer text not null,
  confirmed_at timestamptz,
  confirmer_kind text,
  confirmer_id text,
  confirmer text,
  rejected_at timestamptz,
  used_at timestamptz,
  -- One of the two is an operator who logged in, and they are not the same.
  check (confirmed_at is null or confirmer_kind is not null and confirmer_id is not null
    and 'operator' in (proposer_kind, confirmer_kind)
    and (proposer_kind, proposer_id) <> (confirmer_kind, confirmer_id))
);
create index proposal_time on tollgate.proposal (proposed_at);

-- Nobody searches them, and what is counted of a column is a copy of some of it.
select tollgate.without_statistics('person');
select tollgate.without_statistics('proposal');
alter table tollgate.person alter column password set statistics 0;
alter table tollgate.person_session alter column hash set statistics 0;
alter table tollgate.recovery_code alter column hash set statistics 0;
