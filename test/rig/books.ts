/** Compares every balance of a database with its payments. */
import assert from 'node:assert/strict'
import type { TestGateway } from './gateway.ts'

/**
 * The sums of every balance, computed again from the payments alone: `done` from approved ones,
 * `open` from undecided ones. A returned row is a difference.
 */
const differences = `
with member as (
  -- A late success counts like a reservation until it is undone, and holds the amount told if that is more; a
  -- release that happened after all is done.
  select p.*, coalesce(p.approved_minor, p.amount_minor) as minor,
    case
      when p.state <> 'approved' and a.state = 'late' and p.effect <> 'increase'
        and p.answer #>> '{late,currency}' = p.currency
        then greatest(p.amount_minor, (p.answer #>> '{late,minor}')::bigint)
      else coalesce(p.approved_minor, p.amount_minor) end as held,
    p.state = 'approved' or coalesce(a.state = 'late', false) and p.effect in ('release', 'void') as done,
    p.state in ('processing', 'pending', 'unknown')
      or coalesce(a.state = 'late', false) and p.effect not in ('release', 'void') as open
  from tollgate.payment p
  left join tollgate.attempt a on a.key = p.attempt_key),
taken as (
  -- A capture that was reversed counts no longer on the authorisation it came from.
  select c.parent_id, c.held, c.done, c.open, v.id is not null as undone
  from member c
  left join member v on v.referenced_id = c.id and v.effect = 'void' and v.done
  where c.effect = 'capture'),
sums as (
  select b.payment_id, b.kind,
    case when b.kind = 'authorisation' then own.minor
      + (select coalesce(sum(i.minor), 0) from member i
         where i.parent_id = b.payment_id and i.effect = 'increase' and i.done) else 0 end as authorised,
    (select coalesce(sum(i.minor), 0) from member i
     where i.parent_id = b.payment_id and i.effect = 'increase' and i.open) as increasing,
    (select coalesce(sum(t.held), 0) from taken t where t.parent_id = b.payment_id and t.open) as capturing,
    case when b.kind = 'authorisation' then
      (select coalesce(sum(t.held), 0) from taken t where t.parent_id = b.payment_id and t.done and not t.undone)
      else own.minor end as captured,
    (select count(*) from taken t where t.parent_id = b.payment_id and (t.open or t.done and not t.undone)) as captures,
    (select coalesce(sum(r.held), 0) from member r
     where r.parent_id = b.payment_id and r.effect in ('release', 'void') and r.open) as reversing,
    (select coalesce(sum(r.held), 0) from member r
     where r.parent_id = b.payment_id and r.effect in ('release', 'void') and r.done) as reversed,
    (select coalesce(sum(f.held), 0) from member f
     where f.parent_id = b.payment_id and f.effect = 'refund' and f.open) as refunding,
    (select coalesce(sum(f.held), 0) from member f
     where f.parent_id = b.payment_id and f.effect = 'refund' and f.done) as refunded,
    (select coalesce(sum(c.counted - c.reversed), 0) from tollgate.chargeback c
     where c.balance_id = b.payment_id and c.kind = 'chargeback') as charged_back
  from tollgate.payment_balance b
  join member own on own.id = b.payment_id),
expected as (
  select s.*, greatest(0, case s.kind
    when 'authorisation' then s.captured + s.capturing + s.reversed + s.reversing - s.authorised
    when 'sale' then s.refunded + s.refunding + s.reversed + s.reversing - s.captured
    else 0 end) as excess
  from sums s)
select e.payment_id, to_jsonb(e) as expected, to_jsonb(b) as found
from expected e
join tollgate.payment_balance b on b.payment_id = e.payment_id
where (b.authorised, b.increasing, b.capturing, b.captured, b.captures::bigint, b.reversing, b.refunding, b.refunded)
    is distinct from
    (e.authorised, e.increasing, e.capturing, e.captured, e.captures, e.reversing, e.refunding, e.refunded)
  or b.reversed <> e.reversed or b.charged_back <> e.charged_back or b.excess <> e.excess`

/** Approved payments that limit others and lack a balance, and balances without such a payment. */
const strays = `
select p.id, p.payment_type, p.state, b.kind
from tollgate.payment p
full join tollgate.payment_balance b on b.payment_id = p.id
where (b.payment_id is null and p.state = 'approved'
    and p.effect in ('authorisation', 'replacement', 'sale', 'capture', 'refund'))
  or p.id is null
  or (b.payment_id is not null and p.state not in ('approved', 'declined'))`

/** Reservations and marks that outlived their requests. */
const reservations = `
select payment_id, increasing, capturing, reversing, refunding
from tollgate.payment_balance
where increasing + capturing + reversing + refunding <> 0`

/** @throws AssertionError listing every balance that differs from its payments. */
export async function checkBooks(
  run: Pick<TestGateway, 'sql'>,
  options: { readonly quiet?: boolean } = {},
): Promise<void> {
  assert.deepEqual(await run.sql(differences), [], 'balances that differ from their payments')
  assert.deepEqual(
    await run.sql(strays),
    [],
    'payments without balance, or balances without payment',
  )
  if (options.quiet !== false) {
    assert.deepEqual(await run.sql(reservations), [], 'reservations left at rest')
  }
}

/** Ends a file of tests: its books must be right, and everything is closed in any case. */
export async function closeChecked(run: Pick<TestGateway, 'sql' | 'close'>): Promise<void> {
  try {
    await checkBooks(run)
  } finally {
    await run.close()
  }
}

export type BalanceRow = {
  readonly authorised: bigint
  readonly increasing: bigint
  readonly capturing: bigint
  readonly captured: bigint
  readonly reversing: bigint
  readonly reversed: bigint
  readonly refunding: bigint
  readonly refunded: bigint
  readonly captures: number
}

/** The stored balance of a payment. */
export async function balanceOf(run: Pick<TestGateway, 'sql'>, id: string): Promise<BalanceRow> {
  const [row] = await run.sql<BalanceRow>(
    `select authorised, increasing, capturing, captured, reversing, reversed, refunding, refunded, captures
       from tollgate.payment_balance where payment_id = $1`,
    [id],
  )
  assert.ok(row !== undefined, `payment ${id} has no balance`)
  return row
}
