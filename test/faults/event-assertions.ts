/** The rules for notifications and the feed. Like all assertions: a returned row is a violation. */
import { strangerEntityId } from '../rig/installation/installation.ts'

const hex = (column: string) => `replace(${column}::text, '-', '')`

/**
 * Events for merchants, with their types. An open outcome is not among them. A registration begins
 * with the payment of the same id that verified its account.
 */
const tellable = `tellable as (
  select e.id, ${hex('e.id')} as name, e.resource, e.type, e.channel_id, e.at,
    case when e.type like 'payment.%' and p.payment_type = 'RG' then 0 else e.seq end as seq,
    case when e.type like 'schedule.%' then 'SCHEDULE'
      when e.type like 'registration.%' or p.payment_type = 'RG' then 'REGISTRATION' else 'PAYMENT' end as kind
  from tollgate.event e
  left join tollgate.payment p on p.id = e.resource
  where e.type in ('payment.pending', 'payment.approved', 'payment.declined', 'payment.expired',
      'registration.updated', 'registration.removed', 'schedule.created', 'schedule.changed', 'schedule.cancelled',
      'schedule.ended', 'schedule.missed', 'schedule.execution.failed')
    and not coalesce(p.payment_type = 'RG' and e.type like 'payment.%' and e.type <> 'payment.approved', false))`

const strangers = `select id from tollgate.entity where parent_id = '${strangerEntityId}'`

/** The merchant reads the feed of all channels but the stranger's. */
const feedWhole = `
with ${tellable}
select ${hex('t.resource')} as about, format('event %s, %s of %s, is not in the feed', t.name, t.type, t.seq) as what
from tellable t
where t.channel_id not in (${strangers})
  and not exists (select from oracle.followed f where left(f.id, 32) = t.name)
union all
select f.resource, format('notification %s came %s times in one reading of the feed', f.id, count(*))
from oracle.followed f
group by f.resource, f.id
having count(*) > 1
union all
select f.resource, format('notification %s is about no event of the merchant', f.id)
from oracle.followed f
where not exists (
  select from tellable t
  where t.name = left(f.id, 32) and t.channel_id not in (${strangers}))`

const feedInOrder = `
with ${tellable},
told as (
  select f.no, t.resource, t.kind, t.seq
  from oracle.followed f
  join tellable t on t.name = left(f.id, 32))
select ${hex('later.resource')} as about, format('event %s came after event %s in the feed', earlier.seq, later.seq) as what
from told later
join told earlier on earlier.resource = later.resource and earlier.kind = later.kind
  and earlier.seq < later.seq and earlier.no > later.no`

/**
 * The notifications due to each endpoint. A disabled endpoint is due those of its active time:
 * the ones with a delivery.
 */
const expected = `${tellable},
expected as (
  select n.name as path, n.id as endpoint, t.id, t.name, t.resource, t.seq, t.type, t.kind
  from oracle.endpoint n
  join tollgate.webhook_endpoint w on w.id = n.id
  join tellable t on t.kind = any(w.types) and t.at >= w.created_at
  join tollgate.entity c on c.id = t.channel_id and c.parent_id = w.entity_id
  where n.name <> 'leaving' or exists (
    select from tollgate.delivery d where d.endpoint_id = n.id and d.event_id = t.id)),
heard as (
  select r.path, left(r.id, 32) as name, min(r.no) as first, min(r.no) filter (where r.accepted) as taken
  from oracle.received r
  group by r.path, left(r.id, 32))`

const everybodyTold = `
with ${expected}
select ${hex('e.resource')} as about, format('%s was not told of event %s, %s of %s', e.path, e.name, e.type, e.seq) as what
from expected e
left join heard h on h.path = e.path and h.name = e.name
where h.taken is null and not exists (
  select from oracle.dead d where d.endpoint_id = e.endpoint and d.event_id = e.id and d.reason <> '')`

const deadComeHome = `
with ${expected}
select ${hex('d.event_id')} as about, format('given up at %s (%s), and not delivered by a replay', n.name, d.reason) as what
from oracle.dead d
join oracle.endpoint n on n.id = d.endpoint_id
left join heard h on h.path = n.name and h.name = ${hex('d.event_id')}
where h.taken is null`

const oneId = `
select coalesce(r.resource, r.id) as about, format('%s got notification %s: %s', r.path, r.id, r.problem) as what
from oracle.received r
join oracle.endpoint n on n.name = r.path
where n.sure and r.problem is not null
union all
select r.resource, format('%s got %s notifications for number %s', r.path, count(distinct r.id), r.sequence)
from oracle.received r
group by r.path, r.resource, r.type, r.sequence
having count(distinct r.id) > 1`

/**
 * An endpoint gets the next event only after it accepted the previous one, or that one was given
 * up.
 */
const inOrder = `
with ${expected},
told as (
  select e.path, e.endpoint, e.id, e.resource, e.kind, e.seq, h.first, h.taken
  from expected e
  left join heard h on h.path = e.path and h.name = e.name)
select ${hex('later.resource')} as about,
  format('%s was told %s before it had taken %s', later.path, later.seq, earlier.seq) as what
from told later
join told earlier on earlier.path = later.path and earlier.resource = later.resource and earlier.kind = later.kind
  and earlier.seq < later.seq and coalesce(earlier.taken > later.first, later.first is not null)
where not exists (
  select from oracle.dead d where d.endpoint_id = earlier.endpoint and d.event_id = earlier.id)`

const strangersHearNothing = `
with ${tellable}
select coalesce(r.resource, r.id) as about, format('%s was told of %s, which is not its own', r.path, coalesce(t.type, r.id)) as what
from oracle.received r
left join tellable t on t.name = left(r.id, 32)
join oracle.endpoint n on n.name = r.path
join tollgate.webhook_endpoint w on w.id = n.id
where t.id is null or not t.kind = any(w.types) or not exists (
  select from tollgate.entity c where c.id = t.channel_id and c.parent_id = w.entity_id)`

export const eventAssertions: Readonly<Record<string, string>> = {
  'every endpoint is told of every change, or its list says why not': everybodyTold,
  'what was given up comes home by a replay': deadComeHome,
  'a notification keeps its id, and its receiver can open it': oneId,
  'the events of a resource reach an endpoint in order': inOrder,
  'nobody is told what is not its own': strangersHearNothing,
  'the feed tells each event once': feedWhole,
  'the feed tells the events of a resource in order': feedInOrder,
}
