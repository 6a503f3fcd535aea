/** What the acquirer tells on its own: forged, twice, in the wrong order, against its own word. */
import { setTimeout as pause } from 'node:timers/promises'
import { sign, signatureHeader } from '../connectors/simulator/event.ts'
import { defaultSecret } from '../connectors/simulator/server.ts'
import { channelId, merchantId } from '../test/faults/support/installation.ts'
import type { Scene } from './injections.ts'
import type { Injection } from './plan.ts'

type Target = { id: string; key: string; minor: bigint; state: string }

const kindOf = 'debit'

/** Old enough that nothing about it is under way, new enough that merchants still work on others. */
const settledDebits = (state: 'approved' | 'declined') => `
  select p.id, p.attempt_key as key, p.amount_minor as minor, p.state
  from tollgate.payment p
  where p.payment_type = 'DB' and p.effect = 'sale' and p.channel_id = $1 and p.state = '${state}'
    and p.settled_at < now() - interval '1 second'
    and not exists (select from oracle.contradiction c where c.payment_id = p.id)
    and not exists (select from oracle.chargeback c where c.payment_id = p.id)
  order by p.id desc limit $2`

export async function injectEvents(
  scene: Scene,
  { how, count }: Injection & { is: 'events' },
): Promise<boolean> {
  const { sql } = scene.ground
  let approved: Target[] = []
  for (const until = performance.now() + 10_000; performance.now() < until; await pause(500)) {
    approved = await sql<Target>(settledDebits('approved'), [channelId, count])
    if (approved.length > 0) break
  }
  const declined = await sql<Target>(settledDebits('declined'), [channelId, count])
  if (approved.length === 0) return false
  let told = 0
  switch (how) {
    case 'forged':
      for (const target of [...approved, ...declined]) {
        const against = target.state === 'approved' ? 'declined' : 'approved'
        told += await tell(scene, target, against, 'forged', 'a secret of somebody else')
      }
      return told > 0
    case 'duplicate':
      for (const { key } of approved) {
        for (let no = 0; no < 3; no += 1) {
          await scene.ground.acquirer.control({ tell: { merchantId, key } })
        }
      }
      return true
    case 'reordered':
      // "Pending" after "approved", and "approved" again after that.
      for (const target of approved) {
        told += await tell(scene, target, 'pending', 'late')
        told += await tell(scene, target, 'approved', 'again')
      }
      return told > 0
    case 'contradicting':
      for (const target of approved) told += await contradict(scene, target, 'declined')
      for (const target of declined) told += await contradict(scene, target, 'approved')
      return told > 0
    case 'chargeback':
      for (const target of approved) told += await chargeBack(scene, target)
      return told > 0
  }
}

/** From now on the acquirer's own events go to this host. */
export async function listen({ ground, crew }: Scene, at = 0): Promise<void> {
  const host = crew.any(at)
  if (host === undefined) return
  await ground.acquirer.control({ events: await addressOf(ground.sql, host.url) })
}

async function addressOf(sql: Scene['ground']['sql'], url: string): Promise<string> {
  const [account] = await sql<{ id: string }>(
    'select id from tollgate.merchant_account where channel_id = $1',
    [channelId],
  )
  return `${url}/connectors/simulator-http/${account!.id}/events`
}

async function tell(
  { ground, crew }: Scene,
  { key, minor }: Target,
  status: 'approved' | 'declined' | 'pending',
  mark: string,
  secret = defaultSecret,
): Promise<0 | 1> {
  const codes = { approved: '00', declined: '05', pending: '09' }
  const body = JSON.stringify({
    eventId: `${key}-${status}-${mark}`,
    kind: kindOf,
    key,
    status,
    code: codes[status],
    reference: `sim-${key}`,
    amount: { minor: String(minor), currency: 'EUR' },
  })
  for (let tries = 0; tries < 5; tries += 1) {
    const host = crew.any(tries % 2 === 0 ? 0 : 0.9)
    if (host === undefined) continue
    try {
      const answer = await fetch(await addressOf(ground.sql, host.url), {
        method: 'POST',
        headers: { [signatureHeader]: sign(body, secret) },
        body,
        signal: AbortSignal.timeout(5_000),
      })
      await answer.arrayBuffer()
      if (answer.status === 200) return 1
    } catch {
      // The host is gone, or stands still: acquirers tell again.
    }
  }
  return 0
}

/** Genuine, acknowledged, and against what was answered: it must be on record afterwards. */
async function contradict(
  scene: Scene,
  target: Target,
  status: 'approved' | 'declined',
): Promise<0 | 1> {
  const { sql } = scene.ground
  await sql(
    'insert into oracle.contradiction (payment_id, told) values ($1, false) on conflict do nothing',
    [target.id],
  )
  const told = await tell(scene, target, status, 'contradicting')
  if (told === 1)
    await sql('update oracle.contradiction set told = true where payment_id = $1', [target.id])
  return told
}

/** The payer's bank takes the money back; every second time it returns it. */
async function chargeBack({ ground }: Scene, { id, key, minor }: Target): Promise<0 | 1> {
  const { acquirer, sql } = ground
  const amount = { minor: String(minor), currency: 'EUR' }
  const own = `cb-${key}`
  await sql(
    'insert into oracle.chargeback (payment_id, key) values ($1, $2) on conflict do nothing',
    [id, own],
  )
  await acquirer.control({
    chargeback: { merchantId, key: own, original: key, amount, reason: '000.100.220' },
  })
  return 1
}

/** Tells again what no host acknowledged, as acquirers do until somebody takes it. */
export async function tellChargebacksAgain(scene: Scene): Promise<void> {
  const rows = await scene.ground.sql<{ key: string }>('select key from oracle.chargeback')
  await tellUntilTaken(scene, rows)
}

async function tellUntilTaken(
  scene: Scene,
  rows: readonly { readonly key: string }[],
): Promise<void> {
  for (const { key } of rows) {
    let told = false
    for (let tries = 0; !told && tries < 6; tries += 1) {
      await listen(scene, tries % 2 === 0 ? 0 : 0.9)
      const answer = await scene.ground.acquirer.control({ tell: { merchantId, key } })
      told = answer.told === true
    }
    if (!told) throw new Error(`no host takes the event about ${key}`)
  }
}

/** The acquirer's own word about debits that it declined in its answer and carried out all the same. */
export async function tellContradicted(scene: Scene): Promise<void> {
  const rows = await scene.ground.sql<{ key: string }>(
    `select attempt_key as key from tollgate.payment
     where state = 'declined' and effect = 'sale' and result_code = '800.100.100' and channel_id = $1`,
    [channelId],
  )
  await tellUntilTaken(scene, rows)
}
