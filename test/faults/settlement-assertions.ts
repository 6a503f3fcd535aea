/** The rules of settlement: every line has its payment, once, and changes nothing that was right before. */
const hex = (column: string) => `replace(${column}::text, '-', '')`

/**
 * Lines of the acquirer name operations by key; those of the other connector are nobody's. The line of a declined
 * payment is matched with none: it proves a late success, and the payment is its one candidate.
 */
const linesHavePayments = `
select ${hex('a.payment_id')} as about,
  format('line %s of %s %s is %s, and names this payment', r.settlement_id, r.amount_minor, r.currency, r.match_status) as what
from tollgate.settlement_record r
join tollgate.attempt a on a.key = r.named_key and a.connector = 'simulator-http'
join tollgate.payment p on p.id = a.payment_id
where not exists (
  select from tollgate.settlement_match m where m.record_id = r.id and m.payment_id = a.payment_id)
  and not (p.state in ('declined', 'expired') and p.id = any(r.candidates))`

/** An operation settles once: money that went back later is a line about the payout. */
const settledOnce = `
select ${hex('p.id')} as about, format('%s of %s are settled', s.minor, l.minor) as what
from (
  select m.payment_id, sum(m.allocated_minor) as minor
  from tollgate.settlement_match m
  join tollgate.settlement_record r on r.id = m.record_id
  where r.record_type = 'SETTLED' and r.status = 'SUCCESS'
  group by m.payment_id) s
join tollgate.payment p on p.id = s.payment_id
join oracle.ledger l on l.key = p.attempt_key
where s.minor > l.minor`

/** Every operation that moved money, and was not undone before its day ended, has a line. */
const moneyHasLine = `
select ${hex('p.id')} as about, format('%s of %s %s stands at the acquirer, and no line says so', l.kind, abs(l.charged), p.currency) as what
from oracle.ledger l
join tollgate.payment p on p.attempt_key = l.key and p.connector = 'simulator-http'
where exists (select from tollgate.settlement_file)
  and l.stands and l.charged <> 0 and l.kind in ('debit', 'capture', 'credit', 'refund')
  and not exists (select from oracle.ledger u where u.original = l.key and u.kind = 'reverse' and u.stands)
  and not exists (
    select from tollgate.settlement_record r where r.named_key = l.key and r.record_type = 'SETTLED')`

const effectsAreDone = `
select coalesce(${hex('r.named_payment')}, r.named_key) as about, format('the effect of line %s is %s', r.settlement_id, r.effect) as what
from tollgate.settlement_record r
where r.effect in ('open', 'failed')`

export const settlementAssertions: Readonly<Record<string, string>> = {
  'each settlement line names its payment': linesHavePayments,
  'no money settles twice': settledOnce,
  'money that stands has a settlement line': moneyHasLine,
  'settlement lines take effect': effectsAreDone,
}
