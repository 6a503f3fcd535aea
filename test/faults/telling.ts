/**
 * Delivery of the acquirer's own messages: signed, to the address of the payment's account, and
 * repeated until a host accepts them. They are recorded, so that no genuine one is lost with a
 * host.
 */
import { sign, signatureHeader } from '../../connectors/simulator/event.ts'
import { defaultSecret } from '../../connectors/simulator/server.ts'
import { authenticatorName } from '../rig/installation/acquirer-plugin.ts'
import { channelId } from '../rig/installation/installation.ts'
import type { Scene } from './injections.ts'

/** A payment that messages are about. */
export type Target = {
  readonly id: string
  readonly key: string
  readonly minor: bigint
  readonly state: string
  readonly effect: string
  readonly channel: string
}

export type Status = 'approved' | 'declined' | 'pending'

export type Message = {
  readonly eventId: string
  readonly status: Status
  /** The requested amount by default. */
  readonly minor?: bigint
  readonly currency?: string
  /** The dispute, which has its own key. */
  readonly dispute?: {
    readonly kind: 'chargeback' | 'chargebackReversal'
    readonly reference: string | undefined
  }
}

const codes = { approved: '00', declined: '05', pending: '09' } as const

function bodyOf({ key, minor }: Target, message: Message): string {
  const { eventId, status, currency = 'EUR', dispute } = message
  return JSON.stringify({
    eventId,
    kind: dispute?.kind ?? 'debit',
    key: dispute === undefined ? key : eventId,
    ...(dispute === undefined ? {} : { original: key, reason: '000.100.220' }),
    ...(dispute?.reference === undefined ? {} : { dispute: dispute.reference }),
    status,
    code: codes[status],
    reference: `sim-${key}`,
    amount: { minor: String(message.minor ?? minor), currency },
  })
}

/** Sends a genuine message: it is recorded, and repeated at the end when no host accepts it now. */
export async function say(scene: Scene, target: Target, message: Message): Promise<0 | 1> {
  const { sql } = scene.ground
  const body = bodyOf(target, message)
  await sql(
    `insert into oracle.message (channel_id, body, taken) values ($1, $2, false) on conflict do nothing`,
    [target.channel, body],
  )
  return tellKept(scene, target.channel, body)
}

async function tellKept(scene: Scene, channel: string, body: string): Promise<0 | 1> {
  if (!(await post(scene, channel, body, defaultSecret))) return 0
  await scene.ground.sql('update oracle.message set taken = true where body = $1', [body])
  return 1
}

/** Sends a message that the acquirer never sent. */
export const forge = (scene: Scene, target: Target, message: Message): Promise<boolean> =>
  post(scene, target.channel, bodyOf(target, message), 'a secret of somebody else')

const mostTries = 5
let told = 0

/** Messages reach both ends of the crew in turn, so that each host works on some. */
async function post(
  { ground, crew }: Scene,
  channel: string,
  body: string,
  secret: string,
): Promise<boolean> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    told += 1
    const host = crew.any(told % 2 === 0 ? 0 : 0.9)
    if (host === undefined) continue
    try {
      const answer = await fetch(await addressOf(ground.sql, host.url, channel), {
        method: 'POST',
        headers: { [signatureHeader]: sign(body, secret) },
        body,
        signal: AbortSignal.timeout(5_000),
      })
      await answer.arrayBuffer()
      // A message that is not proven has to come again.
      if (answer.status === (secret === defaultSecret ? 200 : 503)) return true
    } catch {
      // The host is gone or paused, and acquirers repeat their messages.
    }
  }
  return false
}

async function addressOf(
  sql: Scene['ground']['sql'],
  url: string,
  channel: string,
): Promise<string> {
  const [account] = await sql<{ id: string; connector: string }>(
    'select id, connector from tollgate.merchant_account where channel_id = $1 and connector <> $2',
    [channel, authenticatorName],
  )
  return `${url}/connectors/${account!.connector}/${account!.id}/events`
}

/** Directs the events of the simulated acquirer's process to this host. */
export async function listen({ ground, crew }: Scene, at = 0): Promise<void> {
  const host = crew.any(at)
  if (host === undefined) return
  await ground.acquirer.control({ events: await addressOf(ground.sql, host.url, channelId) })
}

/** Repeats unacknowledged messages, as acquirers do until one is accepted. */
export async function tellAgain(scene: Scene): Promise<void> {
  const { ground } = scene
  const kept = await ground.sql<{ channel: string; body: string }>(
    'select channel_id as channel, body from oracle.message where not taken',
  )
  for (const { channel, body } of kept) {
    if ((await tellKept(scene, channel, body)) === 0) {
      throw new Error(`no host takes the event ${body.slice(0, 80)}`)
    }
  }
  const booked = await ground.sql<{ key: string }>(
    'select key from oracle.fact where is_booked order by key',
  )
  for (const { key } of booked) await tellBooked(scene, key)
}

/** The event of an entry in the books of the acquirer's process. */
async function tellBooked(scene: Scene, key: string): Promise<void> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    await listen(scene, tries % 2 === 0 ? 0 : 0.9)
    const answer = await scene.ground.acquirer.control({ tell: { key } })
    if (answer.told === true) return
  }
  throw new Error(`no host takes the event about ${key}`)
}
