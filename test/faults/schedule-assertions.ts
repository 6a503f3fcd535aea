/** The rules for schedules. Like all assertions: a returned row is a violation. */

const hex = (column: string) => `replace(${column}::text, '-', '')`

/** Each payment occupies one occurrence, or was declined for good before the next one. */
const onePayment = `
with slots as (
  select o.id, o.schedule_id, o.at, o.payment_id as payment, true as holds
  from tollgate.occurrence o
  where o.payment_id is not null
  union all
  select o.id, o.schedule_id, o.at, unnest(o.earlier), false
  from tollgate.occurrence o)
select coalesce(${hex('p.id')}, ${hex('s.payment')}) as about,
  format('a charge of schedule %s is %s and stands in %s slots', coalesce(p.schedule_id, s.schedule_id),
    coalesce(p.state, 'not there'), count(s.id)) as what
from (select * from tollgate.payment where schedule_id is not null) p
full join slots s on s.payment = p.id
group by p.id, p.state, p.schedule_id, s.payment, s.schedule_id
having count(s.id) <> 1 or p.id is null or bool_or(not s.holds and p.state not in ('declined', 'expired'))`

const allDone = `
select ${hex('o.schedule_id')} as about, format('the execution for %s was never tried', o.at) as what
from tollgate.occurrence o
where o.payment_id is null and o.failure is null`

/**
 * Every instant from a schedule's creation to its end is charged or recorded as missed, once. The
 * last ones are those after its cancellation: none is later.
 */
const everyInstant = `
with told as (
  -- A cancellation at once records an instant of the very same millisecond as missed.
  select s.id, s.created_at, coalesce(s.effective_end, now())
      + case when s.effective_end = s.cancelled_at then interval '1 millisecond' else interval '0' end as until,
    substring(s.expression from '^[*]/([0-9]+)')::integer as pace
  from tollgate.schedule s
  where not exists (select from tollgate.record r where r.resource = s.id and r.type = 'RS')),
expected as (
  select t.id, t.pace, i.at
  from told t
  cross join lateral generate_series(
    to_timestamp(ceil((extract(epoch from t.created_at) + 0.001) / t.pace) * t.pace),
    t.until - interval '1 millisecond', t.pace * interval '1 second') as i(at)),
found as (
  select o.schedule_id as id, o.at, 1 as how from tollgate.occurrence o join told t on t.id = o.schedule_id
  union all
  select m.schedule_id, i.at, 2
  from tollgate.missed m
  join told t on t.id = m.schedule_id
  cross join lateral generate_series(m.first_at, m.last_at, t.pace * interval '1 second') as i(at)),
last as (select id, max(at) as at from found group by id)
select ${hex('coalesce(e.id, f.id)')} as about,
  format('the instant %s is there %s times', coalesce(e.at, f.at), count(f.at)) as what
from expected e
full join found f on f.id = e.id and f.at = e.at
left join last l on l.id = e.id
where f.at is not null or e.at < l.at
group by e.id, f.id, e.at, f.at
having count(f.at) <> 1 or e.at is null`

const endedForGood = `
select ${hex('s.id')} as about, format('cancelled with effect from %s, and charged for %s', s.effective_end, o.at) as what
from tollgate.schedule s
join tollgate.occurrence o on o.schedule_id = s.id
where o.at >= s.effective_end
union all
select ${hex('s.id')}, 'a cancelled schedule still has something to come'
from tollgate.schedule s
where s.cancelled_at is not null and s.next_at is not null`

const oneEventEach = `
with e as (
  select resource, count(*) as events, max(seq) as highest, min(seq) as lowest, count(distinct seq) as different
  from tollgate.event where type like 'schedule.%' or type like 'registration.%' group by resource),
r as (
  select id, seq from tollgate.schedule
  union all
  select id, seq from tollgate.registration)
select coalesce(${hex('r.id')}, ${hex('e.resource')}) as about,
  format('changed %s times, with %s events', r.seq, coalesce(e.events, 0)) as what
from r
full join e on e.resource = r.id
where r.id is null or coalesce(e.events, 0) <> r.seq
  or r.seq > 0 and (e.different <> r.seq or e.lowest <> 1 or e.highest <> r.seq)`

const oneRegistration = `
select t.reference as about, format('%s was answered with %s ids', t.reference, count(distinct t.id)) as what
from oracle.try t
where t.asks = 'schedule' and t.type = 'POST' and t.status = 200
group by t.reference
having count(distinct t.id) > 1`

const failsForReason = `
select ${hex('o.schedule_id')} as about, format('the execution for %s failed with %s', o.at, o.failure) as what
from tollgate.occurrence o
join tollgate.schedule s on s.id = o.schedule_id
left join tollgate.registration g on g.id = s.registration_id
where o.failure is not null and not coalesce(o.failure = '100.150.202' and g.removed_at is not null, false)`

export const scheduleAssertions: Readonly<Record<string, string>> = {
  'an instant of a schedule has one approved or open payment at most': onePayment,
  'every execution that was begun is finished': allDone,
  'every instant is charged or recorded as missed, once': everyInstant,
  'nothing is charged after a cancellation': endedForGood,
  'every change of a schedule or registration has exactly one event': oneEventEach,
  'a key makes one registration or schedule': oneRegistration,
  'an execution fails for a reason alone': failsForReason,
}
