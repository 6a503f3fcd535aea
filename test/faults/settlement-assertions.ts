/** The rules of settlement: every line has its payment, once, and changes nothing that was right before. */
const hex = (column: string) => `replace(${column}::text, '-', '')`

/**
 * Lines of the acquirer name operations by key; those of the other connector are nobody's. The line of a declined
 * or wholly reversed payment is matched with none: operators get it, with the payment as its candidate, and may keep
 * the money afterwards.
 */
const linesHavePayments = `
select ${hex('a.payment_id')} as about,
  format('line %s of %s %s is %s, and names this payment', r.settlement_id, r.amount_minor, r.currency, r.match_status) as what
from tollgate.settlement_record r
join tollgate.attempt a on a.key = r.named_key and a.connector = 'simulator-http'
join tollgate.payment p on p.id = a.payment_id
where not exists (
  select from tollgate.settlement_match m where m.record_id = r.id and m.payment_id = a.payment_id)
  and not (p.id = any(r.candidates) and (p.state in ('declined', 'expired') or (a.settled_by = 'operator' and 'STATE' = any(r.discrepancies)) or exists (
    select from tollgate.payment_balance b where b.payment_id = p.id and b.reversed >= p.approved_minor)))`

/** What lines settle of each payment: by its names, and by amount and card alone. */
const settled = `
select m.payment_id, m.tier = 'composite' as is_guess, sum(m.allocated_minor) as minor,
  string_agg(format('%s by %s', r.settlement_id, m.tier), ', ' order by r.settlement_id) as lines,
  bool_and('DUPLICATE_SETTLEMENT' = any(r.discrepancies)) as are_marked
from tollgate.settlement_match m
join tollgate.settlement_record r on r.id = m.record_id
where r.record_type = 'SETTLED' and r.status = 'SUCCESS'
group by m.payment_id, m.tier = 'composite'`

/** An operation settles once: money that went back later is a line about the payout. */
const settledOnce = `
select ${hex('p.id')} as about, format('%s of %s are settled: %s', s.minor, l.minor, s.lines) as what
from (${settled}) s
join tollgate.payment p on p.id = s.payment_id
join oracle.ledger l on l.key = p.attempt_key
where s.minor > l.minor and not s.is_guess`

/** Lines of the other connector name keys that are unknown here, and may look like a payment. */
const guessesAreMarked = `
select ${hex('p.id')} as about, format('%s of %s are settled: %s', s.minor, p.amount_minor, s.lines) as what
from (${settled}) s
join tollgate.payment p on p.id = s.payment_id
where s.minor > coalesce(p.approved_minor, p.amount_minor) and s.is_guess and not s.are_marked`

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
  'lines that look like one payment are marked': guessesAreMarked,
  'money that stands has a settlement line': moneyHasLine,
  'settlement lines take effect': effectsAreDone,
}
