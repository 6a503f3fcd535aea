/** The rules for checkouts: a shopper pays once, and is told so. A returned row is a violation. */
import { securityCode } from './shoppers.ts'

const hex = (column: string) => `replace(${column}::text, '-', '')`

/** A decision of an operator against the answer, which may keep a second payment. */
const isKept = (payment: string) => `exists (
  select from tollgate.audit u where u.resource = ${payment} and u.action = 'payment.kept')`

/** A late success that could not be taken back is on the list, and an operator's now. */
const isListedLate = (payment: string) => `exists (
  select from tollgate.attempt a
  join tollgate.attention t on t.payment_id = a.payment_id and t.kind = 'conflict'
  where a.payment_id = ${payment} and a.state = 'late')`

/** The money of a payment at the acquirer, without what went back. */
const money = `money as (
  select p.checkout_id, p.id, l.held + l.charged + coalesce((
    select sum(b.held + b.charged) from oracle.ledger b
    where b.original = l.key and b.stands and b.kind in ('reverse', 'refund')), 0) as minor
  from tollgate.payment p
  join oracle.ledger l on l.key = p.attempt_key and l.stands
  where p.checkout_id is not null and p.effect in ('sale', 'authorisation'))`

const paidOnce = `
with ${money}
select m.checkout_id as about, format('%s of its payments hold money at the acquirer', count(*)) as what
from money m
where m.minor > 0 and not ${isKept('m.id')} and not ${isListedLate('m.id')}
group by m.checkout_id
having count(*) > 1
union all
select p.checkout_id, format('%s of its payments are approved', count(*))
from tollgate.payment p
where p.checkout_id is not null and p.state = 'approved' and p.effect <> 'undo' and not ${isKept('p.id')}
group by p.checkout_id
having count(*) > 1`

/** Each nonce with the payments that it made, in their order. */
const tries = `tries as (
  select c.id as checkout_id, n.nonce, n.no, s.payment_id
  from tollgate.checkout c
  cross join lateral unnest(c.nonces) with ordinality as n(nonce, no)
  join lateral unnest(c.earlier || c.payment_id) with ordinality as s(payment_id, no) on s.no = n.no)`

const onePress = `
with ${tries}
select t.checkout_id as about, format('press %s made %s payments', t.nonce, count(*)) as what
from tries t
join tollgate.payment p on p.id = t.payment_id
group by t.checkout_id, t.nonce
-- After a soft decline, a second payment belongs to the press.
having count(*) > 1 + least(1, count(*) filter (where p.result_code = '300.100.100'))
union all
select p.checkout_id, format('payment %s is %s and never had the slot', ${hex('p.id')}, p.state)
from tollgate.payment p
where p.checkout_id is not null and p.effect in ('sale', 'authorisation', 'verification')
  and p.state not in ('declined', 'expired')
  and not exists (select from tries t where t.payment_id = p.id)`

/** What was approved once, and failed or was contradicted later. */
const wasPaid = (checkout: string) => `exists (
  select from tollgate.payment p
  where p.checkout_id = ${checkout} and (p.state = 'approved'
    or exists (select from oracle.failure f where f.payment_id = p.id)
    or exists (select from oracle.contradiction c where c.payment_id = p.id)))`

const paidMeansMoney = `
select h.checkout as about, format('a shopper was told %s (%s), and nothing of it is approved', h.state, h.what) as what
from oracle.shopper h
where h.state = 'paid' and not ${wasPaid('h.checkout')}`

const declinedMeansNone = `
with ${tries},
last as (select distinct on (checkout_id, nonce) * from tries order by checkout_id, nonce, no desc)
select h.checkout as about, format('press %s was told declined, and its payment is approved', h.nonce) as what
from oracle.shopper h
join last t on t.checkout_id = h.checkout and t.nonce = h.nonce
join tollgate.payment p on p.id = t.payment_id
where h.state = 'declined' and p.state = 'approved' and not ${isKept('p.id')}`

const nobodyWaits = `
select h.checkout as about, format('it is %s when all is quiet', coalesce(h.state, 'unanswered')) as what
from oracle.shopper h
where h.what = 'end' and coalesce(h.state, 'busy') = 'busy'
  and not exists (select from oracle.shopper l where l.checkout = h.checkout and l.what = 'end'
    and l.at_ms > h.at_ms)
  and not exists (
    select from tollgate.payment p where p.checkout_id = h.checkout and ${isListedLate('p.id')})`

const everyTryDecided = `
select h.checkout as about, format('press %s was never answered', h.nonce) as what
from oracle.shopper h
where h.nonce is not null
group by h.checkout, h.nonce
having count(h.state) = 0
union all
select h.checkout, format('press %s was told it is invalid: %s', h.nonce, h.about)
from oracle.shopper h
where h.state = 'invalid'
union all
select p.checkout_id, format('payment %s is %s', ${hex('p.id')}, p.state)
from tollgate.payment p
where p.checkout_id is not null and p.state in ('processing', 'pending', 'unknown')
  and not exists (
    select from tollgate.attention t where t.payment_id = p.id and t.resolved_at is null)`

/** A result that was read is called about no more, unless a call was under way: frozen hosts send theirs late. */
const underWayMs = 12_000

/** A call of a host that died before it is sent by another one: after its lease, with the database back. */
const takenOverMs = 120_000
const calledOnce = `
select c.checkout as about, format('%s calls about %s payments', c.calls, p.payments) as what
from (
  select callback ->> 'id' as checkout, count(*) as calls
  from tollgate.delivery where kind = 'CALLBACK' group by 1) c
join (
  select checkout_id as checkout, count(*) as payments
  from tollgate.payment where effect in ('sale', 'authorisation', 'verification') group by 1) p
  on p.checkout = c.checkout
where c.calls > p.payments
union all
select r.checkout, format('its page was called %s ms after the merchant had read %s', min(k.at_ms) - r.at_ms, r.state)
from oracle.shopper r
join tollgate.checkout c on c.id = r.checkout
join oracle.shopper k on k.checkout = r.checkout and k.what = 'call'
where r.what = 'result' and r.state not like '000.200.%'
  and ${hex('c.payment_id')} = r.about
  -- A call that failed was repeated.
  and not exists (
    select from tollgate.delivery d
    where d.kind = 'CALLBACK' and d.callback ->> 'id' = r.checkout and d.attempts > 1)
group by r.checkout, r.at_ms, r.state
having min(k.at_ms) > r.at_ms + case when exists (
    select from tollgate.delivery d
    where d.kind = 'CALLBACK' and d.callback ->> 'id' = r.checkout
      and d.created_at < to_timestamp(r.at_ms / 1000.0))
  then ${takenOverMs} else ${underWayMs} end`

/** In any table, as a value of its own; and no sealed card holds more than its number. */
const codesNowhere = `
select t.table_schema || '.' || t.table_name as about, 'it holds a security code' as what
from information_schema.tables t
where t.table_schema like 'tollgate%' and t.table_type = 'BASE TABLE'
  and query_to_xml(format(
    'select 1 from %I.%I r where to_jsonb(r)::text ~ %L limit 1', t.table_schema, t.table_name,
    '("|=|%3D)${securityCode}(["&\\\\]|$)'), true, false, '')::text like '%<row%'
union all
select ${hex('p.id')}, format('%s bytes are sealed for a card', octet_length(i.sealed))
from tollgate.payment p
join tollgate.instrument i on i.id = p.id
where p.checkout_id is not null and p.method = 'card'
  -- A nonce of 12 bytes, the number as JSON, and a tag of 16 bytes.
  and octet_length(i.sealed) <> 28 + octet_length('{"card.number":"4200000000000000"}')`

export const shopperAssertions: Readonly<Record<string, string>> = {
  'a checkout is paid once': paidOnce,
  'a press of the pay button makes one payment': onePress,
  'shoppers are told paid only where money is': paidMeansMoney,
  'a press that was told declined is not approved': declinedMeansNone,
  'no checkout stays busy': nobodyWaits,
  'every press is answered and decided': everyTryDecided,
  'the page of a shop is called as documented': calledOnce,
  'no table holds a security code': codesNowhere,
}
