/**
 * Two thousand merchants, each with an endpoint, one in ten of them dead: the cost for payments,
 * and the delay of notifications to healthy endpoints.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../../rig/free-port.ts'
import { type Child, startChild, startProgram } from '../child.ts'
import { gatewayOf, type Installation, ownRoot } from '../installation.ts'
import { summarise } from '../latencies.ts'
import { printRows } from '../print.ts'
import { residentBytes } from '../processor-time.ts'
import { median } from '../rounds.ts'
import {
  assertAllApproved,
  type Ground,
  newHost,
  newInstallation,
  newTraffic,
  type Scenario,
  type Target,
  type Traffic,
} from './ground.ts'
import type { StreamReport } from './traffic.ts'
import { type Arrivals, hanging, type ReceiverReady } from './webhook-receiver.ts'

const concurrent = 32
const drainedWithinMs = 120_000

type Shops = Installation & { readonly entityIds: readonly string[] }

/** Merchants with a channel each, and a token for all of them. */
async function openShops(ground: Ground, name: string, count: number): Promise<Shops> {
  const installation = await newInstallation(ground, name)
  const client = await connected(ground, installation)
  const { rows } = await client.query<{ id: string }>(
    `with division as (select id from tollgate.entity where kind = 'division'),
     merchant as (
       insert into tollgate.entity (id, parent_id, kind, name)
       select gen_random_uuid(), division.id, 'merchant', 'Shop ' || no
       from division cross join generate_series(1, $1::integer) as no
       returning id)
     insert into tollgate.entity (id, parent_id, kind, name)
     select gen_random_uuid(), merchant.id, 'channel', 'Channel' from merchant
     returning replace(id::text, '-', '') as id`,
    [count],
  )
  await using gateway = await gatewayOf(installation)
  const { entities } = gateway
  const [psp] = (await entities.list()).filter(({ kind }) => kind === 'psp')
  const { token } = await entities.createToken(psp!.id, 'all shops')
  return { ...installation, token, entityIds: rows.map(({ id }) => id) }
}

async function connected({ stop }: Ground, { url }: Installation): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  stop.defer(() => client.end())
  return client
}

/** One in twenty never answers, one in twenty refuses connections. */
async function openEndpoints(shops: Shops, port: number): Promise<void> {
  const closed = await freePort()
  const urlOf = (no: number) => {
    if (no % 20 === 0) return `http://127.0.0.1:${port}${hanging}${no}`
    return no % 20 === 10 ? `http://127.0.0.1:${closed}/${no}` : `http://127.0.0.1:${port}/${no}`
  }
  await using gateway = await gatewayOf(shops)
  const left = [...shops.entityIds.entries()]
  const lane = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const [no, entityId] = next
      await gateway.webhooks.create({ url: urlOf(no), entityId })
    }
  }
  await Promise.all(Array.from({ length: 8 }, lane))
}

class Told {
  readonly #client: pg.Client
  readonly #receiver: Child

  constructor(client: pg.Client, receiver: Child) {
    this.#client = client
    this.#receiver = receiver
  }

  /** The number of notifications not yet delivered to healthy endpoints. */
  async open(): Promise<number> {
    const { rows } = await this.#client.query<{ open: number }>(
      `select (select count(*) from tollgate.outbox)::integer + (
         select count(*) from tollgate.delivery d join tollgate.webhook_endpoint w on w.id = d.endpoint_id
         where d.state = 'pending' and w.url ~ $1)::integer as open`,
      [`:${(this.#receiver.ready as ReceiverReady).port}/[0-9]`],
    )
    return rows[0]!.open
  }

  async drained(): Promise<void> {
    const until = performance.now() + drainedWithinMs
    while ((await this.open()) > 0) {
      if (performance.now() > until) throw new Error('notifications are not delivered in time')
      await pause(50)
    }
  }

  /** Milliseconds from each event to its arrival, since the previous call. */
  async delays(): Promise<number[]> {
    const arrivals = (await this.#receiver.ask({})) as Arrivals
    const { rows } = await this.#client.query<{ id: string; ms: number }>(
      `select replace(id::text, '-', '') as id, (extract(epoch from at) * 1000)::double precision as ms
       from tollgate.event where id = any($1::uuid[])`,
      [arrivals.map(([id]) => id)],
    )
    const told = new Map(rows.map(({ id, ms }) => [id, ms]))
    return arrivals.flatMap(([id, atMs]) => {
      const ms = told.get(id)
      return ms === undefined ? [] : [atMs - ms]
    })
  }
}

async function run(ground: Ground): Promise<void> {
  const { isSmall } = ground
  const count = isSmall ? 40 : 2_000
  const receiver = await startChild(new URL('webhook-receiver.ts', import.meta.url), {})
  ground.stop.defer(receiver.stop)
  const plain = await openShops(ground, 'no_webhooks', count)
  const other = await openShops(ground, 'webhooks', count)
  await openEndpoints(other, (receiver.ready as ReceiverReady).port)
  const told = new Told(await connected(ground, other), receiver)
  const traffic = await newTraffic(ground)
  const hosts = {
    plain: { ...(await newHost(ground, plain, { name: 'no_webhooks' })), ...plain },
    other: { ...(await newHost(ground, other, { name: 'webhooks' })), ...other },
  }
  const most = await compare(ground, traffic, hosts, told)
  const rows = [await delaysAt(ground, traffic, hosts.other, told, most * 0.8, '80 % of the most')]
  rows.push(await delaysAt(ground, traffic, hosts.other, told, 50, '50 a second, role all'))
  const megabytes = Math.round(residentBytes(hosts.other.pid) / 2 ** 20)
  await hosts.other.stop()
  const api = await separate(ground, other)
  rows.push(await delaysAt(ground, traffic, api, told, 50, '50 a second, roles api and worker'))
  printRows(['from event to arrival', 'payments/s', 'told', 'p50 ms', 'p99 ms'], rows)
  console.log(`  ${megabytes} MB after that, with one endpoint in ten dead`)
}

type Hosts = Readonly<Record<'plain' | 'other', Target & Shops>>

/** Rounds in alternating order. Notifications after a round do not disturb the next. */
async function compare(
  { isSmall }: Ground,
  traffic: Traffic,
  hosts: Hosts,
  told: Told,
): Promise<number> {
  const rounds: Record<keyof Hosts, StreamReport[]> = { plain: [], other: [] }
  const late: number[] = []
  const durationMs = isSmall ? 500 : 5_000
  for (let round = 0; round < (isSmall ? 2 : 9); round += 1) {
    const order = ['plain', 'other'] as const
    for (const name of round % 2 === 0 ? order : order.toReversed()) {
      const { all } = await traffic({
        streams: [{ ...hosts[name], name: 'all', kind: 'approved', pace: { concurrent } }],
        durationMs,
      })
      assertAllApproved(all!)
      if (name === 'other') {
        late.push((await told.open()) / all!.approved)
        await told.drained()
      }
      // The first round warms both up.
      if (round > 0) rounds[name].push(all!)
    }
  }
  await told.delays()
  const rate = (name: keyof Hosts) => median(rounds[name].map(({ perSecond }) => perSecond))
  const ratios = rounds.other.map(
    ({ perSecond }, round) => perSecond / rounds.plain[round]!.perSecond,
  )
  const titles = { plain: 'without webhooks', other: 'with webhooks' }
  printRows(
    [
      `${concurrent} concurrent`,
      'payments/s',
      'p50 ms',
      'p99 ms',
      'ratio',
      'range',
      'not yet told',
    ],
    (['plain', 'other'] as const).map((name) => [
      titles[name],
      rate(name).toFixed(0),
      median(rounds[name].map(({ p50Ms }) => p50Ms)).toFixed(2),
      median(rounds[name].map(({ p99Ms }) => p99Ms)).toFixed(2),
      name === 'plain' ? '1.00' : median(ratios).toFixed(2),
      name === 'plain' ? '' : `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
      name === 'plain' ? '' : `${(median(late) * 100).toFixed(0)} %`,
    ]),
  )
  return rate('other')
}

/** Payments at an even rate, with the delay of each notification. */
async function delaysAt(
  { isSmall }: Ground,
  traffic: Traffic,
  host: Target & Shops,
  told: Told,
  perSecond: number,
  title: string,
): Promise<string[]> {
  const { all } = await traffic({
    streams: [{ ...host, name: 'all', kind: 'approved', pace: { perSecond } }],
    durationMs: isSmall ? 1_000 : 20_000,
  })
  assertAllApproved(all!)
  await told.drained()
  const delays = await told.delays()
  const wanted = Math.floor(all!.approved * 0.85)
  if (delays.length < wanted) {
    throw new Error(`${delays.length} notifications arrived, at least ${wanted} had to`)
  }
  const { p50Ms, p99Ms } = summarise(delays, 1)
  return [
    title,
    all!.perSecond.toFixed(0),
    String(delays.length),
    p50Ms.toFixed(0),
    p99Ms.toFixed(0),
  ]
}

/** One process that takes payments and one that sends notifications. */
async function separate(ground: Ground, shops: Shops): Promise<Target & Shops> {
  const { server, stop } = ground
  const api = await newHost(ground, shops, {
    name: 'webhooks_api',
    settings: { TOLLGATE_ROLE: 'api' },
  })
  const worker = startProgram(
    join(ownRoot, 'host/bin/tollgate.js'),
    ['serve'],
    {
      DATABASE_URL: shops.url,
      TOLLGATE_KEYS: shops.keys,
      TOLLGATE_DATA_DIR: join(server.folder, 'webhooks_worker'),
      TOLLGATE_ROLE: 'worker',
    },
    join(server.folder, 'webhooks_worker.log'),
  )
  stop.defer(worker.stop)
  const client = await connected(ground, shops)
  const works = `select from tollgate.process where role = 'worker' and seen_at > now() - interval '10 seconds'`
  while ((await client.query(works)).rowCount === 0) await pause(50)
  return { ...api, ...shops }
}

export const webhooks: Scenario = {
  name: 'webhooks',
  title:
    'Two thousand endpoints, one in ten dead: their cost for payments, and the delay of notifications',
  run,
}
