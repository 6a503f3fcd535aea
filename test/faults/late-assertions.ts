/** The rules for late words: no contradicting message is lost, and no money with it. */
const hex = (column: string) => `replace(${column}::text, '-', '')`

/**
 * Whether a reference is that of a fact `f`: the acquirer's, or the id of its message without one. A settlement line
 * has a reference of a fact that the acquirer's own process booked, and can be the first to tell of it.
 */
const isNameOf = (reference: string) =>
  `(${reference} = f.reference or f.is_booked and ${reference} = 'sim-' || f.key)`

/** Whether the chargeback or reversal `c` records the fact `f`. */
const isFact = `c.kind = f.kind and ${isNameOf("replace(c.reference, chr(10) || 'unnamed', '')")}`

/** The excess of an entry in minor units. */
const amountOf = (entry: string) => `greatest(
    coalesce((${entry}.detail ->> 'beyondMinor')::bigint, 0) + coalesce((${entry}.detail ->> 'chargedBackMinor')::bigint, 0),
    -coalesce((${entry}.detail ->> 'leftMinor')::bigint, 0), coalesce((${entry}.detail ->> 'minor')::bigint, 0))`

/** Money received by a charge, and returned by refunds, reversals and chargebacks. */
const outNotAboveIn = `
with charge as (
  select p.id, l.key, case when l.stands then l.charged else 0 end as came
  from oracle.ledger l
  join tollgate.payment p on p.attempt_key = l.key
  where l.kind in ('debit', 'capture')),
given as (
  select original, sum(-charged) as minor
  from oracle.ledger where stands and kind in ('refund', 'reverse') and charged < 0 group by original),
disputed as (
  select c.payment_id, sum(case c.kind when 'chargeback' then f.minor else -f.minor end) as minor
  from oracle.fact f
  join tollgate.chargeback c on ${isFact}
  where not f.is_other and f.currency = 'EUR'
  group by c.payment_id),
sums as (
  select c.id, c.came, coalesce(g.minor, 0) + greatest(0, coalesce(d.minor, 0)) as went
  from charge c
  left join given g on g.original = c.key
  left join disputed d on d.payment_id = c.id)
select ${hex('s.id')} as about, format('%s came in at the acquirer, and %s went out; listed are %s', s.came, s.went, t.minor) as what
from sums s
cross join lateral (
  select coalesce(sum(${amountOf('l')}), 0) as minor
  from tollgate.attention l
  where l.payment_id = s.id or l.payment_id in (select id from tollgate.payment where referenced_id = s.id)) t
where s.went > s.came and s.went > s.came + t.minor
union all
select ${hex('p.id')}, format('it failed, and %s was captured of it; listed are %s', u.minor, t.minor)
from oracle.failure f
join tollgate.payment p on p.attempt_key = f.key and p.effect in ('authorisation', 'replacement')
cross join lateral (
  select coalesce(sum(l.charged), 0) as minor
  from oracle.ledger l where l.original = f.key and l.kind = 'capture' and l.stands) u
cross join lateral (
  select coalesce(sum(${amountOf('l')}), 0) as minor
  from tollgate.attention l
  where l.payment_id = p.id or l.payment_id in (select id from tollgate.payment where referenced_id = p.id)) t
where u.minor > t.minor and p.state <> 'approved'`

/**
 * By the reversal of its key, a reversal of the engine's own, or an operator; otherwise it is
 * listed.
 */
const lateIsUndone = `
select ${hex('p.id')} as about,
  format('%s is %s with %s, at the acquirer it stands, and no operator is told', p.payment_type, p.state, p.result_code) as what
from tollgate.payment p
join tollgate.attempt a on a.key = p.attempt_key
join oracle.ledger l on l.key = a.key and l.stands
where p.state in ('declined', 'expired') and a.state <> 'late'
  and exists (select from tollgate.attention t where t.payment_id = p.id and t.kind = 'conflict')
  and not exists (
    select from tollgate.payment u
    where u.referenced_id = p.id and u.effect = 'undo' and u.state = 'approved')
union all
select ${hex('a.payment_id')}, 'a late success stands, and is not on the list'
from tollgate.attempt a
where a.state = 'late' and not exists (
  select from tollgate.attention t
  where t.payment_id = a.payment_id and t.kind = 'conflict' and t.reference = '' and t.resolved_at is null)
union all
select ${hex('p.id')}, format('%s was done late, and nobody tried to take it back', p.payment_type)
from tollgate.attempt a
join tollgate.payment p on p.id = a.payment_id
where a.state = 'late' and p.effect not in ('release', 'void') and not exists (
  select from tollgate.audit u where u.resource = p.id and u.action = 'late-success-stands')
  -- Settled money is for operators to judge.
  and not exists (
    select from tollgate.attention t
    where t.payment_id = p.id and t.kind = 'conflict' and t.detail ->> 'source' = 'settlement')
union all
select ${hex('p.id')}, 'kept by an operator, and it is not approved'
from tollgate.audit u
join tollgate.payment p on p.id = u.resource
where u.action = 'payment.kept' and p.state <> 'approved'
  and not exists (select from oracle.failure f where f.key = p.attempt_key)`

/** A failure moves the payment despite other reports; otherwise an operator reads the reason. */
const failuresCount = `
select ${hex('p.id')} as about, format('it failed at the acquirer and is %s', p.state) as what
from oracle.failure f
join tollgate.payment p on p.attempt_key = f.key
where p.state = 'approved' and not exists (
  select from tollgate.attention l where l.payment_id = p.id and l.kind in ('conflict', 'return'))`

const chargebacksOnce = `
select ${hex('f.payment_id')} as about,
  format('%s %s of %s %s is recorded %s times', f.kind, f.reference, f.minor, f.currency, count(c.record_id)) as what
from oracle.fact f
left join tollgate.chargeback c on ${isFact}
  and c.minor = f.minor and c.currency = f.currency
where not f.is_other
group by f.kind, f.reference, f.payment_id, f.minor, f.currency
having count(c.record_id) <> 1
union all
select ${hex('c.payment_id')}, format('the acquirer knows no %s %s of %s %s', c.kind, c.reference, c.minor, c.currency)
from tollgate.chargeback c
where not exists (
  select from oracle.fact f
  where ${isFact} and f.minor = c.minor and f.currency = c.currency and not f.is_other)
union all
select ${hex('c.payment_id')}, format('%s %s has %s records', c.kind, c.reference, count(p.id))
from tollgate.chargeback c
left join tollgate.payment p on p.id = c.record_id and p.effect like 'chargeback%' and p.amount_minor = c.minor
group by c.kind, c.reference, c.payment_id
having count(p.id) <> 1
union all
select ${hex('p.id')}, format('a %s without its fact', p.effect)
from tollgate.payment p
where p.effect like 'chargeback%' and not exists (select from tollgate.chargeback c where c.record_id = p.id)`

/** Every deviation from the sums is listed for operators. */
const misfitsListed = `
select ${hex('f.payment_id')} as about,
  format('%s %s of %s %s is on no list', f.kind, f.reference, f.minor, f.currency) as what
from oracle.fact f
left join tollgate.chargeback c on ${isFact}
left join tollgate.chargeback r on f.kind = 'reversal' and r.kind = 'chargeback' and r.reference = c.reverses
where (f.is_other or f.currency <> 'EUR' or f.kind = 'chargeback' and c.balance_id is null
    or f.kind = 'reversal' and c.counted < c.minor)
  and not exists (
    select from tollgate.attention l
    where l.kind = 'beyond-sums' and ${isNameOf("l.detail ->> 'reference'")}
      and (l.detail ->> 'minor')::bigint = f.minor)
union all
select ${hex('f.payment_id')}, format('chargeback %s in %s, and refunds do not wait', f.reference, f.currency)
from oracle.fact f
join tollgate.chargeback c on ${isFact}
join tollgate.payment p on p.id = c.payment_id and p.state = 'approved'
where f.currency <> 'EUR' and not exists (
  select from tollgate.attention l
  where l.kind = 'beyond-sums' and ${isNameOf("l.detail ->> 'reference'")} and p.root_id = any(l.freezes))
union all
select ${hex('r.payment_id')}, format('event %s came again with other content, and is on no list', r.event_id)
from oracle.repeated r
where not exists (
  select from tollgate.attention l
  where l.payment_id = r.payment_id and l.kind = 'event' and l.reference like r.event_id || ' says %')
union all
select ${hex('b.payment_id')}, format('its facts exceed the limit by %s, and nothing is on the list', b.excess)
from tollgate.payment_balance b
where b.excess > 0 and not exists (
  select from tollgate.attention l
  where l.kind in ('conflict', 'late-failure', 'return', 'beyond-sums') and (
    l.payment_id = b.payment_id
    or l.payment_id in (select id from tollgate.payment where parent_id = b.payment_id or referenced_id = b.payment_id)))`

/** Every genuine message was processed and is not quarantined. */
const heard = `
select ${hex('p.id')} as about, format('event %s is %s', e.event_id, coalesce(e.outcome, 'still open')) as what
from tollgate.inbound_event e
join tollgate.payment p on p.attempt_key = e.claim ->> 'key'
where e.claim ->> 'verified' = 'true' and coalesce(e.outcome, 'quarantined') in ('quarantined', 'unknown-key')
union all
select m.channel_id::text, format('no event has the id of %s', left(m.body, 100))
from oracle.message m
where not exists (
  select from tollgate.inbound_event e
  where e.event_id = m.body::jsonb ->> 'eventId' and e.claim ->> 'verified' = 'true')`

const refundsWait = `
select t.on_id as about, format('%s was answered with %s %s while it had to wait', t.type, t.status, t.code) as what
from oracle.try t
where t.asks = 'waits' and t.status between 200 and 299
  -- Two faults can choose one payment: its chargeback was reversed meanwhile.
  and not exists (
    select from tollgate.chargeback c
    where c.payment_id = t.on_id::uuid and c.kind = 'reversal'
      and extract(epoch from c.at) * 1000 < t.ended_ms)`

export const lateAssertions: Readonly<Record<string, string>> = {
  'no more goes out at the acquirer than came in, or the rest is listed': outNotAboveIn,
  'what was done late is undone at the acquirer, listed, or kept': lateIsUndone,
  'what failed later counts no more': failuresCount,
  'chargebacks are recorded once': chargebacksOnce,
  'what does not fit the sums is listed': misfitsListed,
  'what the acquirer said is worked on': heard,
  'refunds wait for chargebacks and returns': refundsWait,
}
