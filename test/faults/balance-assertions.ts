/** The rules for balances: each sum is computed again from the payments and facts alone. */
const hex = (column: string) => `replace(${column}::text, '-', '')`

/**
 * A late success counts like a reservation until it is undone, with the amount told if that is more. A
 * completed reversal cannot be undone and counts as done. A reversed capture counts for nothing.
 */
const expected = `
member as (
  select p.id, p.parent_id, p.referenced_id, p.effect, case
      when p.state <> 'approved' and a.state = 'late' and p.effect <> 'increase'
        and p.answer #>> '{late,currency}' = p.currency
        then greatest(p.amount_minor, (p.answer #>> '{late,minor}')::bigint)
      else coalesce(p.approved_minor, p.amount_minor) end as minor,
    p.state = 'approved' or a.state = 'late' and p.effect in ('release', 'void') as done,
    p.state in ('processing', 'pending', 'unknown') or a.state = 'late' and p.effect not in ('release', 'void') as open
  from tollgate.payment p
  join tollgate.attempt a on a.key = p.attempt_key
  where p.parent_id is not null),
undone as (
  select distinct referenced_id as id from member where effect = 'void' and done),
sums as (
  select m.parent_id,
    sum(minor) filter (where effect = 'increase' and done) as increased,
    sum(minor) filter (where effect = 'increase' and open) as increasing,
    sum(minor) filter (where effect = 'capture' and done and u.id is null) as captured,
    sum(minor) filter (where effect = 'capture' and open) as capturing,
    count(*) filter (where effect = 'capture' and (open or done and u.id is null)) as captures,
    sum(minor) filter (where effect in ('release', 'void') and done) as reversed,
    sum(minor) filter (where effect in ('release', 'void') and open) as reversing,
    sum(minor) filter (where effect = 'refund' and done) as refunded,
    sum(minor) filter (where effect = 'refund' and open) as refunding
  from member m
  left join undone u on u.id = m.id
  group by m.parent_id),
facts as (
  select balance_id, sum(case kind when 'chargeback' then counted else -counted end) as charged_back
  from tollgate.chargeback where balance_id is not null group by balance_id),
added as (
  select b.payment_id, b.kind,
    case b.kind when 'authorisation' then coalesce(p.approved_minor, p.amount_minor) + coalesce(s.increased, 0) else 0 end as authorised,
    coalesce(s.increasing, 0) as increasing, coalesce(s.capturing, 0) as capturing,
    case b.kind when 'authorisation' then coalesce(s.captured, 0) else coalesce(p.approved_minor, p.amount_minor) end as captured,
    coalesce(s.captures, 0) as captures, coalesce(s.reversing, 0) as reversing, coalesce(s.reversed, 0) as reversed,
    coalesce(s.refunding, 0) as refunding, coalesce(s.refunded, 0) as refunded,
    coalesce(f.charged_back, 0) as charged_back
  from tollgate.payment_balance b
  join tollgate.payment p on p.id = b.payment_id
  left join sums s on s.parent_id = b.payment_id
  left join facts f on f.balance_id = b.payment_id),
expected as (
  select *, greatest(0, case kind
    when 'authorisation' then captured + capturing + reversed + reversing - authorised
    when 'sale' then refunded + refunding + reversed + reversing - captured
    else 0 end) as excess
  from added)`

const booksAgree = `
with ${expected},
compared as (
  select b.payment_id,
    jsonb_build_object('authorised', b.authorised, 'increasing', b.increasing, 'capturing', b.capturing,
      'captured', b.captured, 'captures', b.captures, 'reversing', b.reversing, 'reversed', b.reversed,
      'refunding', b.refunding, 'refunded', b.refunded, 'charged_back', b.charged_back, 'excess', b.excess) as found,
    jsonb_build_object('authorised', e.authorised, 'increasing', e.increasing, 'capturing', e.capturing,
      'captured', e.captured, 'captures', e.captures, 'reversing', e.reversing, 'reversed', e.reversed,
      'refunding', e.refunding, 'refunded', e.refunded, 'charged_back', e.charged_back, 'excess', e.excess) as wanted
  from tollgate.payment_balance b
  join expected e on e.payment_id = b.payment_id)
select ${hex('payment_id')} as about,
  format('the balance says %s, its payments and facts %s',
    (select jsonb_object_agg(key, value) from jsonb_each(found) where wanted -> key <> value),
    (select jsonb_object_agg(key, value) from jsonb_each(wanted) where found -> key <> value)) as what
from compared
where found <> wanted
union all
select coalesce(${hex('p.id')}, ${hex('b.payment_id')}), 'a payment that limits others has no balance, or a balance no payment'
from tollgate.payment p
full join tollgate.payment_balance b on b.payment_id = p.id
where b.payment_id is null and p.state = 'approved' and p.effect in ('authorisation', 'replacement', 'sale', 'capture', 'refund')
  or p.id is null`

/** Without operations under way, only an open late success holds a reservation. */
const nothingReserved = `
with late as (
  select p.parent_id, sum(case
      when p.effect <> 'increase' and p.answer #>> '{late,currency}' = p.currency
        then greatest(p.amount_minor, (p.answer #>> '{late,minor}')::bigint)
      else p.amount_minor end) as minor
  from tollgate.attempt a
  join tollgate.payment p on p.id = a.payment_id
  where a.state = 'late' and p.effect not in ('release', 'void')
  group by p.parent_id)
select ${hex('b.payment_id')} as about,
  format('reserved on it: capturing %s, reversing %s, refunding %s, increasing %s', capturing, reversing, refunding, increasing) as what
from tollgate.payment_balance b
left join late l on l.parent_id = b.payment_id
where capturing + reversing + refunding + increasing <> coalesce(l.minor, 0)`

/** Each payment that waits for operators has an entry that they can close. */
const frozenHasEntry = `
select ${hex('b.payment_id')} as about, format('frozen by %s, which is not on the list', f.by) as what
from tollgate.payment_balance b
cross join unnest(b.frozen_by) as f (by)
where not exists (select from tollgate.attention l where l.id = f.by and l.resolved_at is null)
union all
select ${hex('b.payment_id')}, format('not frozen by an open entry, %s', l.kind)
from tollgate.attention l
join tollgate.payment_balance b on b.payment_id = any(l.freezes)
where l.resolved_at is null and not l.id = any(b.frozen_by)
union all
select ${hex('l.payment_id')}, 'a return freezes nothing'
from tollgate.attention l
where l.kind = 'return' and l.freezes = '{}'`

export const balanceAssertions: Readonly<Record<string, string>> = {
  'balances say what their payments add up to': booksAgree,
  'nothing is reserved when all is quiet': nothingReserved,
  'what is frozen has an open entry, and the other way round': frozenHasEntry,
}
