-- breaking
-- What of a chargeback was given back, in the sums or outside of them, also by reversals without a reference. The
-- row changes with every reversal, so that two reversals of one moment cannot both count.
alter table tollgate.chargeback add column given_back bigint not null default 0;
-- The institute's number of the settlement line that told the fact: a line of another number is no repeat.
alter table tollgate.chargeback add column settlement_id text;

update tollgate.chargeback set given_back = reversed
where kind = 'chargeback' and balance_id is not null and reversed > 0;

-- Outside of the sums: reversals that name the chargeback first, then those without a reference, oldest first.
with charged as (
  select fact.connector, fact.account, fact.reference, fact.payment_id, fact.currency, fact.minor, fact.at,
    fact.record_id, least(fact.minor, coalesce((
      select sum(reversal.minor)
      from tollgate.chargeback as reversal
      where reversal.payment_id = fact.payment_id and reversal.kind = 'reversal'
        and reversal.connector = fact.connector and reversal.account = fact.account
        and reversal.reverses = fact.reference and reversal.currency = fact.currency), 0)) as named
  from tollgate.chargeback as fact
  where fact.kind = 'chargeback' and fact.balance_id is null),
nameless as (
  select payment_id, currency, sum(minor) as minor
  from tollgate.chargeback
  where kind = 'reversal' and balance_id is null and reverses is null
  group by payment_id, currency),
spread as (
  select charged.connector, charged.account, charged.reference,
    charged.named + least(charged.minor - charged.named, greatest(0, coalesce(nameless.minor, 0) - (
      sum(charged.minor - charged.named) over (
        partition by charged.payment_id, charged.currency order by charged.at, charged.record_id)
      - (charged.minor - charged.named)))) as given_back
  from charged
  left join nameless on nameless.payment_id = charged.payment_id and nameless.currency = charged.currency)
update tollgate.chargeback as fact set given_back = spread.given_back
from spread
where fact.kind = 'chargeback' and fact.connector = spread.connector and fact.account = spread.account
  and fact.reference = spread.reference and spread.given_back > 0;

alter table tollgate.chargeback add constraint given_back_limited check (given_back between 0 and minor);

update tollgate.chargeback as fact set settlement_id = record.settlement_id
from tollgate.settlement_record as record
where record.settlement_id is not null and record.id = (case
  when fact.source like 'line %' then substr(fact.source, 6)
  when fact.confirmed_by like 'line %' then substr(fact.confirmed_by, 6) end)::uuid;

-- A fact without a reference has the id of its message as a name. No reference can have that name any more: it
-- holds a line break. Reversals that operators recorded are named after their chargeback.
with renamed as (
  select connector, account, reference, regexp_replace(reference, '^[^\n]*', '\&' || chr(10) || 'unnamed') as name
  from tollgate.chargeback
  where kind = 'chargeback' and not is_named)
update tollgate.chargeback as reversal
set reverses = renamed.name,
  reference = case when starts_with(reversal.reference, renamed.reference || chr(10) || 'by hand after ')
    then renamed.name || substr(reversal.reference, length(renamed.reference) + 1) else reversal.reference end
from renamed
where reversal.kind = 'reversal' and reversal.connector = renamed.connector and reversal.account = renamed.account
  and reversal.reverses = renamed.reference;

update tollgate.chargeback
set reference = regexp_replace(reference, '^[^\n]*', '\&' || chr(10) || 'unnamed')
where not is_named;
