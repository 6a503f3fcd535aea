/**
 * The rules that hold under every fault. Each is one statement over the engine's tables, the
 * acquirer's books (`oracle.ledger`) and the merchants' history (`oracle.try`); a returned row is a
 * violation: `about` (a payment's id or a merchant's reference) and `what`.
 */
import { balanceAssertions } from './balance-assertions.ts'
import { eventAssertions } from './event-assertions.ts'
import { lateAssertions } from './late-assertions.ts'
import { scheduleAssertions } from './schedule-assertions.ts'
import { settlementAssertions } from './settlement-assertions.ts'
import { shopperAssertions } from './shopper-assertions.ts'

export type Violation = { readonly about: string; readonly what: string }

/** Answers that state an outcome of a wish, classified by their code. */
const words = `words as (
  select t.*, t.code ~ '^(000\\.000\\.|000\\.100\\.1|000\\.[36])' as approved, t.code like '000.200.%' as pending
  from oracle.try t
  where t.asks in ('payment', 'read') and t.status is not null and t.status < 500 and t.status <> 429)`

const hex = (column: string) => `replace(${column}::text, '-', '')`

/** The effect of carrying an operation out once on the payer's money. */
const moneyOnce = `
select coalesce(l.payment_id, l.key) as about,
  format('%s %s moved held %s, charged %s', l.kind, l.key, l.held, l.charged) as what
from oracle.ledger l
left join oracle.ledger o on o.key = l.original
where l.moved and not case l.kind
  when 'authorize' then l.charged = 0 and (l.held = l.minor or l.replaces and l.held <= l.minor)
  when 'increment' then l.charged = 0 and l.held = l.minor
  when 'debit' then l.held = 0 and l.charged = l.minor
  when 'capture' then l.held = -l.minor and l.charged = l.minor
  when 'credit' then l.held = 0 and l.charged = -l.minor
  when 'refund' then l.held = 0 and l.charged = case o.kind when 'credit' then l.minor else -l.minor end
  when 'reverse' then case o.kind
    when 'authorize' then l.held = -l.minor and l.charged = 0
    when 'increment' then l.held = -l.minor and l.charged = 0
    when 'capture' then l.held in (0, l.minor) and l.charged = -l.minor
    when 'credit' then l.held = 0 and l.charged = l.minor
    else l.held = 0 and l.charged = -l.minor end
  when 'chargeback' then l.held = 0 and l.charged = -l.minor
  when 'chargebackReversal' then l.held = 0 and l.charged = l.minor
  else false end
union all
select l.payment_id, format('%s %s moved money %s times', l.kind, l.payment_id, count(*))
from oracle.ledger l
where l.moved and l.payment_id is not null and l.kind not like 'chargeback%'
group by l.payment_id, l.kind
having count(*) > 1
union all
select p.merchant_transaction_id, format('%s %s moved money %s times', p.payment_type, p.merchant_transaction_id, count(*))
from tollgate.payment p
join oracle.ledger l on l.key = p.attempt_key
where l.moved and p.merchant_transaction_id is not null and p.chain_id is null and p.effect not like 'chargeback%'
group by p.merchant_transaction_id, p.payment_type
having count(*) > 1`

const moneyHasRow = `
select coalesce(l.payment_id, l.key) as about,
  format('%s %s moved held %s, charged %s, and no attempt has this key', l.kind, l.key, l.held, l.charged) as what
from oracle.ledger l
left join tollgate.attempt a on a.key = l.key
where l.moved and l.kind not like 'chargeback%' and a.key is null`

/**
 * The acquirer declined an operation of the same payment and completed it, or failed it later, so
 * the sums cannot know.
 */
const isLiedTo = `exists (
  select from tollgate.payment other
  where (other.root_id = p.root_id or other.id in (p.root_id, p.parent_id, p.referenced_id) or other.parent_id = p.parent_id)
    and (other.result_code = '800.100.100' or other.attempt_key in (select key from oracle.failure)
      -- An operator counted it afterwards.
      or exists (select from tollgate.audit a where a.resource = other.id and a.action = 'payment.kept')))`

/**
 * Answers of an acquirer that was asked for more than the sums allow, or for another operation
 * under one key.
 */
const askedTooMuch = `
select coalesce(l.payment_id, l.key) as about, format('%s %s was refused by the acquirer: %s', l.kind, l.key, l.code) as what
from oracle.entry l
left join tollgate.payment p on p.attempt_key = l.key
where p.effect is distinct from 'undo' and not ${isLiedTo} and l.code in ('over-capture', 'over-refund', 'over-reversal', 'key-reused', 'original-open', 'wrong-original',
  'nothing-to-reverse')`

const ledgerAgrees = `
select ${hex('p.id')} as about,
  format('%s is %s for %s, at the acquirer %s', p.payment_type, p.state, coalesce(p.approved_minor, p.amount_minor),
    case when l.key is null then 'it is not known' when l.stands then 'moved ' || l.minor else 'nothing moved' end) as what
from tollgate.payment p
left join oracle.ledger l on l.key = p.attempt_key
where p.effect not like 'chargeback%' and p.effect <> 'verification' and (
  p.state = 'approved' and (l.key is null or not l.stands or l.minor <> coalesce(p.approved_minor, p.amount_minor))
    -- It failed at the moment when an enquiry confirmed it for good, and operators have it as a return.
    and not (exists (select from oracle.failure f where f.key = p.attempt_key) and exists (
      select from tollgate.attention t where t.payment_id = p.id and t.kind = 'return'))
  -- What was done all the same and is known has an assertion of its own.
  or p.state in ('declined', 'expired') and l.stands and not exists (
    select from tollgate.attention t where t.payment_id = p.id and t.kind = 'conflict'))`

const oneRecord = `
select p.merchant_transaction_id as about,
  format('%s made %s records of type %s', p.merchant_transaction_id, count(*), p.payment_type) as what
from tollgate.payment p
-- What the engine takes back by itself is no wish of a merchant.
where p.merchant_transaction_id is not null and p.effect <> 'undo'
group by p.merchant_transaction_id, p.payment_type
having count(*) > 1 or not (
  split_part(p.merchant_transaction_id, '-', 1) = p.payment_type
  or p.merchant_transaction_id like 'PA.CP-%' and p.payment_type in ('PA', 'CP', 'RV'))`

const answersHaveRows = `
with ${words}
select w.reference as about,
  format('%s answered %s with %s, %s %s, payment %s: %s', w.host, w.reference, w.code, w.answer_type, w.minor, w.id,
    case when p.id is null then 'there is none' else format('stored is %s %s', p.payment_type, p.minor) end) as what
from words w
left join oracle.readable p on p.id = case when w.id ~ '^[0-9a-f]{32}$' then w.id::uuid end
where p.id is null and (w.approved or w.pending or w.status between 200 and 299)
  or p.id is not null and (w.answer_type <> p.payment_type or w.minor <> p.minor
    or not exists (select from tollgate.payment_request q where q.id = p.row_id))`

const answersAgree = `
with ${words}
select w.reference as about,
  format('%s answered %s with %s, and payment %s is %s with %s', w.host, w.reference, w.code, w.id, p.state,
    p.result_code) as what
from words w
join oracle.readable p on p.id = case when w.id ~ '^[0-9a-f]{32}$' then w.id::uuid end
where not w.pending and not case when w.approved
  -- What counts as done may fail, and an operator may keep what was done all the same.
  then p.state = 'approved' or exists (select from oracle.failure f where f.key = p.attempt_key)
  else p.state in ('declined', 'expired')
    or exists (select from tollgate.audit u where u.resource = p.row_id and u.action = 'payment.kept') end`

const oneAnswer = `
with ${words},
told as (
  select w.reference, w.id, w.code, w.started_ms, w.ended_ms, p.id is not null as is_about
  from words w
  left join oracle.readable p on p.id = case when w.id ~ '^[0-9a-f]{32}$' then w.id::uuid end
  where w.asks = 'payment')
select reference as about,
  format('%s was answered about %s payments; first accepted at %s, last refused at %s with %s', reference,
    count(distinct id) filter (where is_about), min(ended_ms) filter (where is_about),
    max(started_ms) filter (where not is_about), max(code) filter (where not is_about)) as what
from told
group by reference
having count(distinct id) filter (where is_about) > 1
  or max(started_ms) filter (where not is_about) >= min(ended_ms) filter (where is_about)`

const approvedFollowUps = `
follow as (
  select p.parent_id, p.effect, coalesce(p.approved_minor, p.amount_minor) as minor,
    exists (select from tollgate.payment v where v.referenced_id = p.id and v.effect = 'void' and v.state = 'approved') as undone
  from tollgate.payment p
  where p.parent_id is not null and p.state = 'approved'),
sums as (
  select f.parent_id,
    coalesce(sum(minor) filter (where effect = 'capture' and not undone), 0) as captured,
    coalesce(sum(minor) filter (where effect = 'release'), 0) as released,
    coalesce(sum(minor) filter (where effect = 'increase'), 0) as increased,
    coalesce(sum(minor) filter (where effect in ('refund', 'void')), 0) as given_back
  from follow f
  group by f.parent_id)`

const sumsHold = `
with ${approvedFollowUps}
select ${hex('p.id')} as about,
  format('%s over %s (+ %s): captured %s, released %s, given back %s', p.payment_type,
    coalesce(p.approved_minor, p.amount_minor), s.increased, s.captured, s.released, s.given_back) as what
from sums s
join tollgate.payment p on p.id = s.parent_id
-- What an acquirer did all the same goes beyond: by how much is known, and on the operators' list.
left join tollgate.payment_balance b on b.payment_id = p.id
where p.effect in ('authorisation', 'replacement')
    and s.captured + s.released > coalesce(p.approved_minor, p.amount_minor) + s.increased + coalesce(b.excess, 0)
  or p.effect in ('sale', 'capture') and s.given_back > coalesce(p.approved_minor, p.amount_minor) + coalesce(b.excess, 0)`

/** Holds during a run, too: an unanswered question is on the list at once. */
export const listedWhenAsked = `
select ${hex('a.payment_id')} as about,
  format('undecided after an enquiry (%s, %s enquiries) and not on the operators'' list', a.settled_by, a.enquiries + a.questions) as what
from tollgate.attempt a
where a.state in ('sending', 'unknown') and a.lease_until is null and a.enquiries + a.questions > 0
  and not exists (select from tollgate.attention l where l.payment_id = a.payment_id and l.resolved_at is null)`

const nothingForgotten = `
${listedWhenAsked}
union all
select ${hex('a.payment_id')}, format('the attempt is %s, its payment %s', a.state, coalesce(p.state, 'not there'))
from tollgate.attempt a
left join tollgate.payment p on p.id = a.payment_id
where p.id is null or (a.state in ('sending', 'unknown')) <> (p.state in ('processing', 'unknown'))
union all
select ${hex('p.id')}, 'the payment has no attempt'
from tollgate.payment p
-- Chargebacks are facts: nothing was attempted.
where p.effect not like 'chargeback%' and not exists (select from tollgate.attempt a where a.payment_id = p.id and a.key = p.attempt_key)`

const oneEvent = `
with e as (
  select resource, count(*) as events, count(distinct seq) as different, min(seq) as lowest, max(seq) as highest
  from tollgate.event where type like 'payment.%' group by resource)
select coalesce(${hex('p.id')}, ${hex('e.resource')}) as about,
  format('%s moved %s times, with %s events', coalesce(p.payment_type, 'nothing'), p.seq, coalesce(e.events, 0)) as what
from tollgate.payment p
full join e on e.resource = p.id
where p.id is null or coalesce(e.events, 0) <> p.seq
  or p.seq > 0 and (e.different <> p.seq or e.lowest <> 1 or e.highest <> p.seq)
union all
select ${hex('p.id')}, format('it is %s %s, its last event %s %s', p.state, p.result_code, l.type, l.data ->> 'code')
from tollgate.payment p
join tollgate.event l on l.resource = p.id and l.seq = p.seq and l.type like 'payment.%'
where l.type <> 'payment.' || p.state or l.data ->> 'code' is distinct from p.result_code`

const conflictsRecorded = `
select ${hex('c.payment_id')} as about, 'the acquirer contradicted itself, and nothing is on record' as what
from oracle.contradiction c
where not exists (
  select from tollgate.attention l where l.payment_id = c.payment_id and l.kind in ('conflict', 'return'))
union all
select ${hex('p.id')}, 'declined by an answer and carried out by the acquirer, and nothing is on record'
from tollgate.payment p
join tollgate.attempt a on a.key = p.attempt_key
where p.state = 'declined' and a.settled_by = 'answer' and p.effect = 'sale'
  and exists (select from oracle.entry e where e.key = a.key and e.state = 'approved')
  and not exists (select from tollgate.attention l where l.payment_id = p.id and l.kind = 'conflict')`

const strangersSeeNothing = `
select t.on_id as about, format('another merchant''s %s was answered with %s %s', t.type, t.status, t.code) as what
from oracle.try t
where t.asks = 'stranger' and (t.status between 200 and 299 or t.answer_type is not null or t.minor is not null)`

const everybodyIsAnswered = `
select t.reference as about, 'nobody ever had a word about it' as what
from oracle.try t
where t.asks = 'payment'
group by t.reference
having count(*) filter (where t.status < 500 and t.status <> 429) = 0`

/** Named in the words of the report. */
export const assertions: Readonly<Record<string, string>> = {
  ...scheduleAssertions,
  ...settlementAssertions,
  ...eventAssertions,
  ...balanceAssertions,
  ...lateAssertions,
  ...shopperAssertions,
  'money moves at most once for a key': moneyOnce,
  'money that moved has its payment': moneyHasRow,
  'the acquirer never had to refuse what our own sums forbid': askedTooMuch,
  'ledger and payments agree': ledgerAgrees,
  'a key makes one payment': oneRecord,
  'whoever was told approved or pending finds the payment': answersHaveRows,
  'answers agree with the final state, or said pending': answersAgree,
  'all answers to a key are about one payment': oneAnswer,
  'every wish gets a word': everybodyIsAnswered,
  'captures, reversals and refunds stay within what they refer to': sumsHold,
  'what stays undecided is on the operators’ list': nothingForgotten,
  'every move has exactly one event': oneEvent,
  'contradictions are on record': conflictsRecorded,
  'no merchant sees another’s payments': strangersSeeNothing,
}
