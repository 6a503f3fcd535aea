/**
 * Events sent by the acquirer on its own: forged, repeated, out of order, contradicting, for
 * another amount, under a used id, and long after every answer.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { channelId } from '../rig/installation/installation.ts'
import { dispute, type Shape } from './disputes.ts'
import { confirm, fail } from './failures.ts'
import type { Scene } from './injections.ts'
import type { Injection } from './plan.ts'
import { forge, type Message, type Status, say, type Target } from './telling.ts'
import { tryToRefund } from './waiting.ts'

type Events = Injection & { is: 'events' }

/**
 * Old enough to have nothing under way, new enough that merchants still follow up. No event has
 * been sent about it.
 */
const settled = `
  select p.id, p.attempt_key as key, p.amount_minor as minor, p.state, p.effect, p.channel_id as channel
  from tollgate.payment p
  where p.state = any($1) and p.effect = any($2) and p.mode = 'EXTERNAL' and p.payment_type <> 'RG'
    and p.schedule_id is null and p.settled_at < now() - interval '1 second'
    and (p.final_by is null) = $3 and (not $5 or p.payment_type <> 'CD')
    and not exists (select from oracle.contradiction c where c.payment_id = p.id)
    and not exists (select from oracle.fact f where f.payment_id = p.id)
    and not exists (select from oracle.failure f where f.payment_id = p.id)`

const withMoney = [
  'sale',
  'authorisation',
  'replacement',
  'increase',
  'capture',
  'refund',
  'release',
  'void',
]
const charges = ['sale', 'capture']

type Wanted = {
  readonly states: readonly string[]
  readonly effects?: readonly string[]
  /** Whether a done operation can still fail. */
  readonly mayFail?: boolean
  /** Leaves out credits, which have no money to take back. */
  readonly tookMoney?: boolean
}

async function targets(
  { ground }: Scene,
  { states, effects = withMoney, mayFail = false, tookMoney = false }: Wanted,
  count: number,
): Promise<Target[]> {
  // Some of each kind, rare ones included.
  return ground.sql<Target>(
    `with settled as (${settled}),
     ranked as (select *, row_number() over (partition by effect order by id desc) as rank from settled)
     select id, key, minor, state, effect, channel from ranked order by rank, id desc limit $4`,
    [states, effects, !mayFail, count, tookMoney],
  )
}

const withinMs = 10_000

/** Waits for matching payments, because a run may have just begun or the database may be away. */
async function awaited(scene: Scene, wanted: Wanted, count: number): Promise<Target[]> {
  for (const until = performance.now() + withinMs; ; await pause(250)) {
    const found = await targets(scene, wanted, count)
    if (found.length > 0 || performance.now() > until) return found
  }
}

const approved: Wanted = { states: ['approved'] }
const over: Wanted = { states: ['declined', 'expired'] }
const against = ({ state }: Target): Status => (state === 'approved' ? 'declined' : 'approved')

export async function injectEvents(scene: Scene, { how, count }: Events): Promise<boolean> {
  switch (how) {
    case 'forged': {
      const found = [
        ...(await awaited(scene, approved, count)),
        ...(await targets(scene, over, count)),
      ]
      for (const target of found) {
        const status = against(target)
        await forge(scene, target, { eventId: `${target.key}-${status}-forged`, status })
      }
      return found.length > 0
    }
    case 'duplicate': {
      const found = await awaited(scene, { ...approved, effects: ['sale'] }, count)
      for (const { key } of found.filter(({ channel }) => channel === channelId)) {
        for (let no = 0; no < 3; no += 1) {
          await scene.ground.acquirer.control({ tell: { key } })
        }
      }
      return found.length > 0
    }
    case 'reordered':
      // "Pending" after "approved", then "approved" again.
      return each(await awaited(scene, approved, count), async (target) => {
        const { key } = target
        await say(scene, target, { eventId: `${key}-late`, status: 'pending' })
        return say(scene, target, { eventId: `${key}-again`, status: 'approved' })
      })
    case 'contradicting':
      return each(await awaited(scene, approved, count), async (target) => {
        const told = await contradict(scene, target)
        if (told === 1 && charges.includes(target.effect))
          await tryToRefund(scene, target, 'return')
        return told
      })
    case 'late-approval':
      return each(await awaited(scene, over, count), (target) => contradict(scene, target))
    case 'other-amount':
      return each(
        [...(await awaited(scene, approved, count)), ...(await targets(scene, over, count))],
        (target, no) => sayOther(scene, target, no),
      )
    case 'repeated-id':
      return each(await awaited(scene, approved, count), (target) => repeat(scene, target))
    case 'forged-first':
      return each(await awaited(scene, approved, count), async (target) => {
        // Ids can be guessed: the genuine event follows the forged one under the same id.
        const eventId = `${target.key}-${against(target)}-guessed`
        await forge(scene, target, { eventId, status: 'approved' })
        return contradict(scene, target, { eventId })
      })
    case 'owning-up':
      return ownUp(scene)
    case 'failing':
      return each(await awaited(scene, { ...approved, mayFail: true }, count), (target) =>
        fail(scene, target),
      )
    case 'confirming':
      return each(await awaited(scene, { ...approved, mayFail: true }, count), (target) =>
        confirm(scene, target),
      )
    default:
      return disputed(scene, how, count)
  }
}

async function disputed(scene: Scene, how: Shape, count: number): Promise<boolean> {
  const wanted: Wanted =
    how === 'chargeback-of-declined'
      ? { ...over, effects: charges }
      : {
          ...approved,
          effects: how === 'chargeback-by-authorisation' ? ['authorisation'] : charges,
        }
  const found = await awaited(scene, { ...wanted, tookMoney: true }, count)
  return each(found, (target) => dispute(scene, target, how))
}

async function each(
  found: readonly Target[],
  tell: (target: Target, no: number) => Promise<0 | 1>,
): Promise<boolean> {
  for (const [no, target] of found.entries()) await tell(target, no)
  return found.length > 0
}

/** A genuine event that contradicts the answer: it must be recorded. */
async function contradict(
  scene: Scene,
  target: Target,
  more: Partial<Message> = {},
): Promise<0 | 1> {
  const status = more.status ?? against(target)
  await scene.ground.sql(
    'insert into oracle.contradiction (payment_id) values ($1) on conflict do nothing',
    [target.id],
  )
  return say(scene, target, { eventId: `${target.key}-${status}-against`, status, ...more })
}

/** An approval of the acquirer for another amount or in another currency. */
function sayOther(scene: Scene, target: Target, no: number): Promise<0 | 1> {
  const other = [{ minor: target.minor - 1n }, { minor: target.minor + 100n }, { currency: 'USD' }][
    no % 3
  ]!
  return contradict(scene, target, {
    eventId: `${target.key}-other`,
    status: 'approved',
    ...other,
  })
}

/** A known event, and then other content under the same id. */
async function repeat(scene: Scene, target: Target): Promise<0 | 1> {
  const eventId = `${target.key}-used`
  if ((await say(scene, target, { eventId, status: 'approved' })) === 0) return 0
  await scene.ground.sql(
    'insert into oracle.repeated (payment_id, event_id) values ($1, $2) on conflict do nothing',
    [target.id, eventId],
  )
  return say(scene, target, { eventId, status: 'approved', minor: target.minor + 1n })
}

/** The acquirer's event about an operation that it declined in its answer and carried out. */
export async function ownUp(scene: Scene): Promise<boolean> {
  const found = await scene.ground.sql<Target>(
    `select id, attempt_key as key, amount_minor as minor, state, effect, channel_id as channel
     from tollgate.payment
     where state = 'declined' and mode = 'EXTERNAL' and result_code = '800.100.100'`,
  )
  for (const target of found) {
    await say(scene, target, { eventId: `${target.key}-owned`, status: 'approved' })
  }
  return found.length > 0
}

/** Approvals of payments that have expired. */
export async function approveExpired(scene: Scene): Promise<void> {
  for (const target of await targets(scene, { states: ['expired'] }, 20)) {
    await contradict(scene, target)
  }
}
