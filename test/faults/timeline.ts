/** All records about one payment in order of time. */
import type { Sql } from '../rig/installation/ground.ts'
import type { Done } from './injections.ts'
import { shown } from './plan.ts'

type Line = { readonly atMs: number; readonly text: string }

/** @param about a payment's id or a merchant's reference */
export async function timelineOf(
  sql: Sql,
  about: string,
  injected: readonly Done[],
): Promise<string[]> {
  const rows = await sql<{ at: bigint | null; text: string }>(statement, [about])
  const lines: Line[] = rows.map(({ at, text }) => ({ atMs: Number(at ?? 0), text }))
  const times = lines.map(({ atMs }) => atMs).filter((at) => at > 0)
  const [from, to] = [Math.min(...times) - aroundMs, Math.max(...times) + aroundMs]
  for (const { planned, startedMs, endedMs, result } of injected) {
    if (endedMs < from || startedMs > to) continue
    lines.push({ atMs: startedMs, text: `fault    ${shown(planned)} (${result})` })
  }
  return lines
    .toSorted((one, other) => one.atMs - other.atMs)
    .slice(0, mostLines)
    .map(
      ({ atMs, text }) =>
        `  ${atMs === 0 ? '-'.repeat(12) : new Date(atMs).toISOString().slice(11, 23)} ${text}`,
    )
}

const aroundMs = 2_000
const mostLines = 120

/**
 * The payments of the reference, or the payment with this id, with all that refer to the same one or to one of those.
 */
const statement = `
with named as (
  select p.id, p.root_id, p.referenced_id, p.merchant_transaction_id as reference, p.attempt_key
  from tollgate.payment p
  where p.merchant_transaction_id = $1 or p.id = case when $1 ~ '^[0-9a-f]{32}$' then $1::uuid end),
near as (
  select p.* from tollgate.payment p
  where p.id in (select id from named union select root_id from named union select referenced_id from named)
    or p.referenced_id in (select id from named union select referenced_id from named)),
-- The reversal of a capture gives back to the authorisation of the others.
family as (
  select p.* from tollgate.payment p
  where p.id in (
    select id from near
    union select child.id from tollgate.payment child where child.referenced_id in (select id from near))),
line as (
  select t.started_ms as at, format('merchant %s %s to %s: %s %s %s after %s ms', t.reference, t.asks, t.host,
    coalesce(t.status::text, 'no answer'), t.code, t.id, t.ended_ms - t.started_ms) as text
  from oracle.try t
  where t.reference = $1 or t.reference in (select merchant_transaction_id from family)
    or t.on_id in (select replace(id::text, '-', '') from named)
  union all
  select e.at_ms, format('acquirer %s %s is %s (%s), %s: held %s, charged %s', e.kind, e.key, e.state, e.code, e.minor, e.held, e.charged)
  from oracle.entry e
  where e.key = $1 or e.payment_id = $1 or e.key in (select attempt_key from family)
  union all
  select (extract(epoch from v.at) * 1000)::bigint, format('event    %s %s of %s (%s)', v.seq, v.type, replace(v.resource::text, '-', ''), v.data ->> 'code')
  from tollgate.event v where v.resource in (select id from family)
  union all
  select (extract(epoch from l.at) * 1000)::bigint, format('listed   %s %s', l.kind, l.detail)
  from tollgate.attention l where l.payment_id in (select id from family)
  union all
  select (extract(epoch from u.at) * 1000)::bigint, format('audit    %s %s', u.action, u.detail)
  from tollgate.audit u where u.resource in (select id from family)
  union all
  select (extract(epoch from i.received_at) * 1000)::bigint, format('told     %s: %s', i.event_id, i.outcome)
  from tollgate.inbound_event i where i.claim ->> 'key' in (select attempt_key from family)
  union all
  select r.at_ms, format('told     %s %s number %s (%s)%s %s', r.path, r.type, r.sequence, r.id,
    case when r.accepted then ', taken' else '' end, r.problem)
  from oracle.received r
  where r.resource = $1 or left(r.id, 32) = $1 or r.resource in (select replace(id::text, '-', '') from family)
  union all
  select null, format('stored   %s %s is %s %s, %s of %s, moved %s times, attempt %s: %s by %s, lease %s, %s enquiries',
    p.payment_type, replace(p.id::text, '-', ''), p.state, p.result_code, p.approved_minor, p.amount_minor, p.seq,
    a.key, a.state, a.settled_by, a.lease, a.enquiries)
  from family p left join tollgate.attempt a on a.payment_id = p.id)
select at, text from line order by at nulls first limit 200`
