-- breaking
-- What is said about a payment after its first answer: late successes that are being taken back, chargebacks
-- as facts, and entries of the operators' list that hold refunds and reversals until somebody ends them.

alter table tollgate.payment_balance
  -- Chargebacks less their reversals, in minor units. Refunds and reversals wait until it is zero again.
  add column charged_back bigint not null default 0 check (charged_back >= 0),
  -- Entries of the operators' list that refunds and reversals wait for.
  add column frozen_by uuid[] not null default '{}',
  -- By how much facts went beyond the limit. Only what an acquirer did can do that, never a request.
  add column excess bigint not null default 0 check (excess >= 0),
  add column excess_captures integer not null default 0 check (excess_captures >= 0);

-- A replaced authorisation is closed by its mark alone: its rest is no longer counted as reversed, so that
-- the later failure of the new authorisation reopens exactly what there was.
update tollgate.payment_balance balance set reversed = (
  select coalesce(sum(release.amount_minor), 0)
  from tollgate.payment release
  where release.parent_id = balance.payment_id and release.effect = 'release' and release.state = 'approved')
where balance.kind = 'authorisation' and balance.closed_by is not null;

do $$
declare
  rule record;
begin
  for rule in
    select conname from pg_constraint
    where conrelid = 'tollgate.payment_balance'::regclass and contype = 'c'
      and (pg_get_constraintdef(oid) like '%max_captures%' or pg_get_constraintdef(oid) like '%<> ''%')
  loop
    execute format('alter table tollgate.payment_balance drop constraint %I', rule.conname);
  end loop;
end
$$;
alter table tollgate.payment_balance
  add constraint captures_limited check (
    captures >= 0 and (max_captures is null or captures <= max_captures + excess_captures)),
  add constraint authorisation_limited check (
    kind <> 'authorisation' or captured + capturing + reversed + reversing <= authorised + excess),
  add constraint sale_limited check (
    kind <> 'sale' or refunded + refunding + reversed + reversing <= captured + excess),
  drop column charged_back_by;

-- What an acquirer reported about money that a payer's bank took back, or gave back again. A fact: it is
-- recorded in one statement and happens once, by the acquirer's reference.
create table tollgate.chargeback (
  connector text not null,
  account text not null,
  kind text not null check (kind in ('chargeback', 'reversal')),
  reference text not null,
  -- Whether the acquirer gave the reference; else the id of its message stands for it.
  is_named boolean not null default true,
  -- Id of the message that said it first: the same again is no second round of its case.
  source text,
  -- Its own record among the payments, and the payment that was charged back.
  record_id uuid not null,
  payment_id uuid not null,
  -- The sums that it counts in; null: outside of them.
  balance_id uuid,
  minor bigint not null,
  currency text not null,
  -- What of it counts in the sums, and what of that was reversed since.
  counted bigint not null,
  reversed bigint not null default 0 check (reversed between 0 and counted),
  -- Of a reversal: the reference of its chargeback.
  reverses text,
  at timestamptz not null default now(),
  primary key (connector, account, kind, reference)
);
create index chargeback_payment on tollgate.chargeback (payment_id);
create index chargeback_record on tollgate.chargeback (record_id);

-- No acquirer gave them a reference, so that a reversal without one finds them.
insert into tollgate.chargeback (connector, account, kind, reference, is_named, record_id, payment_id, balance_id,
  minor, currency, counted, reversed, at)
select record.connector, coalesce(replace(record.account_id::text, '-', ''), 'internal'), 'chargeback',
  replace(record.id::text, '-', ''), false, record.id, record.referenced_id, record.parent_id, record.amount_minor,
  record.currency, record.amount_minor, least(record.amount_minor, (
    select coalesce(sum(reversal.amount_minor), 0)
    from tollgate.payment reversal
    where reversal.referenced_id = record.id and reversal.effect = 'chargeback-reversal'
      and reversal.state = 'approved')), record.created_at
from tollgate.payment record
where record.effect = 'chargeback' and record.state = 'approved';

update tollgate.payment_balance balance set charged_back = facts.minor
from (
  select balance_id, sum(counted - reversed)::bigint as minor
  from tollgate.chargeback
  group by balance_id) facts
where balance.payment_id = facts.balance_id;

-- An attempt is `late` when its payment is over and the acquirer did it all the same.
alter table tollgate.attempt drop constraint attempt_state_check;
alter table tollgate.attempt add constraint attempt_state_check check (state in
  ('sending', 'pending', 'unknown', 'approved', 'declined', 'not-sent', 'expired', 'late'));

-- The capture of a two-step payment has its id from the first commit on, before it has a row.
create index payment_chain on tollgate.payment (chain_id) where chain_id is not null;

-- One next look at each attempt, whatever it is for.
delete from tollgate.timer other
using tollgate.timer kept
where other.kind in ('enquire', 'poll', 'finalise') and kept.kind in ('enquire', 'poll', 'finalise')
  and other.ref = kept.ref and (other.due_at, other.id) > (kept.due_at, kept.id);
update tollgate.timer set kind = 'look' where kind in ('enquire', 'poll', 'finalise');

-- An entry is on the list once while it is open, also when two processes put it there at the same moment.
alter table tollgate.attention
  alter column payment_id drop not null,
  add column reference text not null default '',
  add column freezes uuid[] not null default '{}';
update tollgate.attention later set reference = later.id::text
from tollgate.attention earlier
where later.resolved_at is null and earlier.resolved_at is null
  and later.payment_id = earlier.payment_id and later.kind = earlier.kind and later.id > earlier.id;
create unique index attention_once on tollgate.attention
  (coalesce(payment_id, '00000000-0000-0000-0000-000000000000'), kind, reference) where resolved_at is null;

-- A late success is always taken back; an operator may keep the money by decision.
update tollgate.entity set settings = settings - 'lateSuccess' where settings ? 'lateSuccess';
