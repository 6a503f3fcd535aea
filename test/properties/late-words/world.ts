/** Two engines on one database, an acquirer, and nights in which all overdue work is done. */
import type { Claim, Inbound } from '@tollgate/plugin-kit'
import type { Gateway } from '../../../core/index.ts'
import { sentAgain } from '../../rig/acquirer.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { type Line, lineTo } from '../../rig/proxy.ts'
import { type Ability, abilities, acquirers, connectorOf, proof } from './acquirer.ts'
import { arrive, Books } from './books.ts'
import type { Sequence } from './command.ts'
import { issuerName } from './issuer.ts'

export type Place = {
  readonly channel: string
  readonly connector: string
  readonly account: string
}

/** A message of the acquirer under way. */
export type Message = {
  readonly sequence: string
  readonly place: Place
  readonly eventId: string
  readonly key: string
  /** Neither a chargeback nor its reversal. */
  readonly isWord: boolean
  /** Recognised as the same under another event id. */
  readonly isRepeatable: boolean
  readonly inbound: Inbound
}

export type World = {
  readonly run: TestGateway
  readonly engines: readonly [Gateway, Gateway]
  readonly books: Books
  readonly line: Line | undefined
  place(sequence: Sequence): Place
  deliver(message: Message): Promise<void>
  night(isLast: boolean): Promise<void>
  close(): Promise<void>
}

const settings = [false, true].map((partialApproval) => ({
  partialApproval,
  // All shoppers have one card and one address.
  cardTestingNumber: 0,
  cardTestingAddress: 0,
  cardTestingBin: 0,
  cardTestingChannel: 0,
}))
const placeName = (ability: string, partial: boolean) => `${ability} ${partial}`

export async function openWorld(cuts: boolean): Promise<World> {
  const books = new Books()
  let line: Line | undefined
  const run = await startGateway({
    plugins: [acquirers(books)],
    shutdownGraceMs: 200,
    connectorTimeoutMs,
    stepDays: 0,
    publicUrl,
    ...(cuts
      ? {
          through: async (url) => {
            line = await lineTo(url)
            return line.url
          },
        }
      : {}),
  })
  const second = await run.another()
  const places = new Map<string, Place>()
  for (const ability of Object.keys(abilities) as Ability[]) {
    for (const setting of settings) {
      const name = placeName(ability, setting.partialApproval)
      const channel = await run.gateway.entities.create({
        kind: 'channel',
        name,
        parentId: run.merchant,
        // Half of the shoppers go to their acquirer without an authentication.
        settings: { ...setting, threeDSecure: ability === 'plain' ? 'off' : 'on' },
      })
      const connector = connectorOf(ability)
      const account = await run.gateway.entities.createAccount({
        channelId: channel,
        connector,
        mode: 'EXTERNAL',
        settings: {},
      })
      await run.gateway.entities.createAccount({
        channelId: channel,
        connector: issuerName,
        mode: 'EXTERNAL',
        settings: {},
      })
      places.set(name, { channel, connector, account })
    }
  }
  const engines = [run.gateway, second] as const
  const post = postman(run)
  const world: World = {
    run,
    engines,
    books,
    line,
    place: ({ ability, partial }) => places.get(placeName(ability, partial))!,
    async deliver(message) {
      const { place, inbound } = message
      const bringing = run.gateway.inbound(place.connector, place.account, inbound)
      await (Object.keys(inbound.headers).length === 0 ? sentAgain(bringing) : bringing)
      await post.processed(message.eventId)
    },
    night: (isLast) => night(world, isLast),
    async close() {
      try {
        await run.close()
      } finally {
        await line?.close()
      }
    },
  }
  return world
}

/** A message on the wire; without headers it is unproven. */
export function messageOf(
  place: Place,
  sequence: string,
  claim: Omit<Claim, 'amount'> & {
    reference?: string
    amount: { minor: bigint; currency: string }
  },
  isProven = true,
): Message {
  const body = JSON.stringify([claim], (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  const isWord = !claim.outcome.is.startsWith('chargeback')
  return {
    sequence,
    place,
    eventId: claim.eventId,
    key: claim.key,
    isWord,
    isRepeatable: isWord || claim.reference !== undefined,
    inbound: { body: Buffer.from(body), headers: isProven ? proof : {}, query: {} },
  }
}

const processedWithinMs = 300
const askAgainMs = 15

/** Short, because late answers wait this long. */
const connectorTimeoutMs = 2_000

const publicUrl = 'https://pay.example'

const twoTicksMs = 2_200

/** Awaits many messages with one statement at a time, except waiting ones. */
function postman(run: TestGateway) {
  const waiting = new Map<string, { sinceMs: number; done: () => void }>()
  let isAsking = false
  const look = async () => {
    while (waiting.size > 0) {
      const rows = await run.sql<{ event_id: string }>(
        'select event_id from tollgate.inbound_event where event_id = any($1) and processed_at is not null',
        [[...waiting.keys()]],
      )
      const done = new Set(rows.map((row) => row.event_id))
      for (const [eventId, { sinceMs, done: tell }] of waiting) {
        if (!done.has(eventId) && performance.now() - sinceMs < processedWithinMs) continue
        waiting.delete(eventId)
        tell()
      }
      await new Promise((next) => setTimeout(next, askAgainMs))
    }
  }
  return {
    processed: (eventId: string) =>
      new Promise<void>((done) => {
        waiting.set(eventId, { sinceMs: performance.now(), done })
        if (isAsking) return
        isAsking = true
        void look().finally(() => {
          isAsking = false
        })
      }),
  }
}

/**
 * Delayed requests arrive at the acquirer; then an hour passes: leases expire, open payments are
 * enquired, and every timer fires.
 */
async function night(world: World, isLast: boolean): Promise<void> {
  const { run, books } = world
  // Outside of nights an event waits as long as a dead process's lease.
  await quiet(run, 0)
  for (const entry of books.all) {
    arrive(entry)
  }
  await run.sql(`
    update tollgate.attempt set sent_at = sent_at - interval '1 hour',
      lease_until = case when lease_until is null then null else now() - interval '1 second' end
    where state in ('sending', 'pending', 'unknown', 'late')`)
  const open = await run.sql<{ id: string }>(
    `select id from tollgate.payment where state in ('processing', 'pending', 'unknown')`,
  )
  await inParallel(open, 16, async ({ id }, index) => {
    // Every follow-up enquires first, whether or not it is possible.
    await world.engines[index % 2]!.payments.followUp(id, { paymentType: 'CR' }).catch(() => {})
  })
  await run.sql(`update tollgate.timer set due_at = now() where $1::boolean or kind <> 'look'`, [
    isLast,
  ])
  await run.sql(`update tollgate.inbound_event set next_at = now() where processed_at is null`)
  if (isLast) {
    await run.sql(
      `update tollgate.inbound_event set received_at = received_at - interval '4 days' where processed_at is null`,
    )
  }
  await quiet(run, twoTicksMs)
}

/**
 * Waits until nothing is due and no job runs. Failed work that waits for its retry is not awaited,
 * and events that cannot be processed are left.
 */
async function quiet(run: TestGateway, stuckAfterMs: number): Promise<void> {
  let openEvents = ''
  let sinceMs = performance.now()
  await until(async () => {
    const [row] = await run.sql<{ busy: boolean; events: string }>(`
      select exists (select from tollgate.timer where due_at <= now())
          or exists (select from tollgate.attempt where state = 'sending' and lease_until < now())
          or exists (select from tollgate_boss.job where state in ('created', 'active') and name in ('charge', 'capture'))
          as busy,
        (select coalesce(string_agg(event_id, ' ' order by event_id), '')
         from tollgate.inbound_event where processed_at is null) as events`)
    if (row!.events !== openEvents) {
      openEvents = row!.events
      sinceMs = performance.now()
    }
    const isStuck = performance.now() - sinceMs > stuckAfterMs
    return !row!.busy && (openEvents === '' || isStuck) ? true : undefined
  }, 120_000)
}

/** Runs the work for each, a bounded number at a time. */
export async function inParallel<T>(
  list: readonly T[],
  atOnce: number,
  act: (one: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < list.length) {
      const index = next
      next += 1
      await act(list[index]!, index)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
