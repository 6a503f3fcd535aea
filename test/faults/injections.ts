/** Carries a plan out: each kind of fault, on the real processes, connections and servers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Fault as AcquirerOrder } from '../../connectors/simulator/faults.ts'
import { KeyAdministration, localKeys } from '../../core/index.ts'
import { createDatabase } from '../rig/database.ts'
import { testKey } from '../rig/gateway.ts'
import type { Fault as HostFault } from '../rig/installation/fault-plan.ts'
import type { Ground } from '../rig/installation/ground.ts'
import type { Host } from '../rig/installation/host.ts'
import { bundled } from '../rig/programs.ts'
import type { Crew } from './crew.ts'
import { injectEvents } from './events.ts'
import type { History } from './history.ts'
import type { PatroniCluster } from './patroni.ts'
import {
  type AcquirerFault,
  factPoints,
  type Injection,
  lateWordPoints,
  messagePoints,
  type Planned,
  resolutionPoints,
  settlementPoints,
} from './plan.ts'
import type { Pair } from './postgres-pair.ts'
import type { Receivers } from './receivers.ts'
import type { Settlements } from './settlements.ts'

export type Scene = {
  readonly ground: Ground
  readonly crew: Crew
  readonly receivers: Receivers
  readonly history: History
  readonly settlements: Settlements
  /** The two servers of a failover run. */
  readonly pair?: Pair
  /** The cluster of a run whose leaders change. */
  readonly patroni?: PatroniCluster
}

/** The result of an injection: `missed` means that its moment did not occur. */
export type Done = {
  readonly planned: Planned
  readonly startedMs: number
  readonly endedMs: number
  readonly result: 'done' | 'missed'
  readonly why?: string
}

const neverArrived: AcquirerOrder = {
  do: 'drop',
  apply: 'never',
  times: 8,
  when: { on: 'operation', kind: 'capture' },
}

/** The time a host waits for its fault point. */
const armedMs = 15_000

export async function inject(scene: Scene, planned: Planned): Promise<Done> {
  const startedMs = Date.now()
  const end = (result: Done['result'], why?: string): Done => ({
    planned,
    startedMs,
    endedMs: Date.now(),
    result,
    ...(why === undefined ? {} : { why }),
  })
  try {
    return (await carryOut(scene, planned.injection)) ? end('done') : end('missed', 'not reached')
  } catch (error) {
    return end('missed', error instanceof Error ? error.message : String(error))
  }
}

async function carryOut(scene: Scene, injection: Injection): Promise<boolean> {
  const { ground, crew } = scene
  switch (injection.is) {
    case 'kill':
      return onHost(crew, injection.host, (host) => killed(scene, host, injection))
    case 'freeze':
      return onHost(crew, injection.host, (host) => frozen(host, injection))
    case 'outlive':
      return onHost(crew, injection.host, (host) => outlived(ground, host, injection.at))
    case 'clock':
      return onHost(crew, injection.host, (host) => shifted(host, injection))
    case 'postgres':
      return hitServer(ground, injection.how)
    case 'commit':
      return cut(ground, injection)
    case 'pool':
      return fill(ground, injection)
    case 'acquirer':
      await ground.acquirer.plan(ordered(injection.fault, injection.times))
      return true
    case 'events':
      return injectEvents(scene, injection)
    case 'receiver':
      return scene.receivers.inject(injection.fault)
    case 'migration':
      return interruptMigration(ground)
    case 'rotation':
      return rotate(ground)
    case 'settlement':
      await scene.settlements.settle()
      return true
    case 'failover':
      return failOver(scene, injection.behindMs)
    case 'leader':
      if (scene.patroni === undefined) throw new Error('there is no cluster')
      await scene.patroni.strike(injection.fault)
      return true
  }
}

async function onHost(
  crew: Crew,
  name: Parameters<Crew['running']>[0],
  work: (host: Host) => Promise<boolean>,
): Promise<boolean> {
  let isDone = false
  await crew.inTurn(name, async () => {
    const host = await crew.present(name)
    if (host !== undefined) isDone = await work(host)
  })
  return isDone
}

/** Arms a host, and disarms it when its moment does not occur. */
async function armed<T>(
  host: Host,
  fault: HostFault,
  moment: Promise<T>,
  withinMs = armedMs,
): Promise<T | undefined> {
  moment.catch(() => undefined)
  await host.plan(fault)
  const stop = new AbortController()
  const late = pause(withinMs, undefined, { signal: stop.signal }).catch(() => undefined)
  try {
    const came = await Promise.race([moment, late])
    if (came === undefined) await host.plan()
    return came
  } finally {
    stop.abort()
  }
}

async function killed(
  scene: Scene,
  host: Host,
  { at, nth }: Injection & { is: 'kill' },
): Promise<boolean> {
  if (at === 'anywhere') {
    await host.kill()
    return true
  }
  const isInResolution = resolutionPoints.includes(at)
  const isInSettlement = settlementPoints.includes(at)
  // Work for resolutions: lost captures are enquired and sent again.
  if (isInResolution) await scene.ground.acquirer.plan(neverArrived)
  // Another host may take the message; a file waits for the earlier files of its merchant.
  const isSlow =
    isInResolution || isInSettlement || messagePoints.includes(at) || factPoints.includes(at)
  const withinMs = isSlow ? 3 * armedMs : armedMs
  const gone = armed(host, { at, do: 'kill', nth }, host.gone(), withinMs)
  // Messages, and those for the processing of late words.
  if (messagePoints.includes(at)) await wordsFor(scene, 'reordered')
  if (lateWordPoints.includes(at)) await wordsFor(scene, 'contradicting')
  if (isInSettlement) {
    // Lines of plain payments need no effect; those of chargebacks do.
    await wordsFor(scene, 'chargeback')
    await scene.settlements.settle()
  }
  if (factPoints.includes(at)) await wordsFor(scene, 'chargeback-in-parts')
  return (await gone) !== undefined
}

/** Half of them reach the other host, so several are needed. */
async function wordsFor(
  scene: Scene,
  how: 'reordered' | 'contradicting' | 'chargeback' | 'chargeback-in-parts',
): Promise<void> {
  await injectEvents(scene, { is: 'events', how, count: 4 })
}

async function frozen(host: Host, { at, nth, ms }: Injection & { is: 'freeze' }): Promise<boolean> {
  try {
    if (at === 'anywhere') host.pause()
    else if ((await armed(host, { at, do: 'stop', nth }, host.reached(at))) === undefined)
      return false
    await pause(ms)
    return true
  } finally {
    await awake(host)
  }
}

/** Also resumes a host that reached its fault point just after the wait for it ended. */
async function awake(host: Host): Promise<void> {
  host.resume()
  await host.plan().catch(() => undefined)
}

const decidedWithinMs = 45_000

/** Pauses the host until another one has taken its lease and decided. */
async function outlived(
  { acquirer, sql, expire }: Ground,
  host: Host,
  at: 'before-send' | 'after-send',
): Promise<boolean> {
  try {
    const visit = await armed(host, { at, do: 'stop', nth: 1 }, host.reached(at))
    if (visit === undefined) return false
    const [row] = await sql<{ key: string }>(
      'select attempt_key as key from tollgate.payment where id = $1',
      [visit.ref],
    )
    if (row === undefined) return false
    await acquirer.plan({ do: 'notFound', when: { key: row.key } })
    // Expires the lease.
    await expire([visit.ref])
    const until = performance.now() + decidedWithinMs
    while (performance.now() < until) {
      const [payment] = await sql<{ state: string }>(
        'select state from tollgate.payment where id = $1',
        [visit.ref],
      )
      if (payment !== undefined && !['processing', 'unknown'].includes(payment.state)) return true
      await pause(200)
    }
    return false
  } finally {
    await awake(host)
  }
}

async function shifted(host: Host, { aheadMs, ms }: Injection & { is: 'clock' }): Promise<boolean> {
  await host.advance(aheadMs)
  await pause(ms)
  await host.advance(-aheadMs).catch(() => undefined)
  return true
}

async function hitServer(
  { cluster, sql }: Ground,
  how: (Injection & { is: 'postgres' })['how'],
): Promise<boolean> {
  if (how === 'terminate') {
    const ended = await sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and application_name like 'tollgate%'`,
    )
    return ended.length > 0
  }
  if (how === 'backend-killed') {
    const [row] = await sql<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and application_name like 'tollgate group%' limit 1`,
    )
    if (row === undefined) return false
    process.kill(row.pid, 'SIGKILL')
    return true
  }
  await cluster.restart(how === 'restart' ? 'SIGINT' : 'SIGQUIT')
  return true
}

const statements = {
  T1: 'insert into tollgate.payment (',
  T2: 'insert into tollgate.event',
  'follow-up T1': 'update tollgate.payment_balance set',
} as const

async function cut(
  { proxy }: Ground,
  { of, lose, every, times }: Injection & { is: 'commit' },
): Promise<boolean> {
  const before = proxy.cuts[lose]
  proxy.plan({ statement: statements[of], lose, every, times })
  const until = performance.now() + 5_000
  while (performance.now() < until && proxy.cuts[lose] < before + times) await pause(50)
  return proxy.cuts[lose] > before
}

async function fill(
  { proxy, sql, database }: Ground,
  { how, ms }: Injection & { is: 'pool' },
): Promise<boolean> {
  if (how === 'stalled') {
    await proxy.stall(ms)
    return true
  }
  if (how === 'locked') {
    await sql(`do $$ begin
      lock table tollgate.attempt in access exclusive mode;
      perform pg_sleep(${ms / 1000});
    end $$`)
    return true
  }
  return crowd(database.url, ms, sql)
}

/** Takes every connection of the server, and then closes those of the hosts. */
async function crowd(url: string, ms: number, sql: Ground['sql']): Promise<boolean> {
  const guests: pg.Client[] = []
  let isFull = false
  try {
    while (guests.length < 400) {
      const guest = new pg.Client({ connectionString: url, application_name: 'guest' })
      guest.on('error', () => {})
      try {
        await guest.connect()
      } catch (error) {
        isFull = (error as { code?: string }).code === '53300'
        break
      }
      guests.push(guest)
    }
    if (guests.length > 0) {
      await sql(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name like 'tollgate single%'`,
      )
    }
    await pause(ms)
    return isFull
  } finally {
    await Promise.allSettled(guests.map((guest) => guest.end()))
  }
}

function ordered(fault: AcquirerFault, times: number): AcquirerOrder {
  const operation = { times, when: { on: 'operation' } } as const
  switch (fault.what) {
    case 'lost':
      return {
        do: fault.by,
        apply: fault.apply,
        times,
        when: { on: 'operation', ...(fault.kind === undefined ? {} : { kind: fault.kind }) },
      }
    case 'late':
      return { do: 'delay', ms: fault.ms, apply: fault.apply, ...operation }
    case 'unreadable':
      return { do: fault.as, ...(fault.as === 'drip' ? { ms: 20 } : {}), ...operation }
    case 'contradicting':
      // Declined with an unknown code but carried out: only an event reports it.
      return { do: fault.as, times, when: { on: 'operation', kind: fault.kind } }
    case 'altered':
      return {
        do: 'alterAmount',
        amount: { minor: String(fault.minor), currency: 'EUR' },
        ...operation,
      }
    case 'duplicate':
      return { do: 'twice', ...operation }
    case 'not-found-first':
      // Carried out, answered after the caller's deadline, and invisible to enquiries at first.
      return { do: 'hide', ms: fault.ms, ...operation }
    case 'enquiry-not-found':
      return { do: 'notFound', times, when: { on: 'enquiry' } }
    case 'enquiry-unreadable':
      return { do: '500', times, when: { on: 'enquiry' } }
    case 'reversal-lost':
      return { do: 'drop', apply: fault.apply, times, when: { on: 'reversal' } }
  }
}

/** The hosts' connections lead to the new primary from its first write on. */
async function failOver({ ground, pair }: Scene, behindMs: number): Promise<boolean> {
  if (pair === undefined) throw new Error('there is no standby')
  ground.proxy.redirect(await pair.failOver(behindMs))
  return true
}

/**
 * A rotation takes turns with other work; after an outage of the database the next one continues.
 */
async function rotate({ database }: Ground): Promise<boolean> {
  await using keys = await KeyAdministration.open({
    database: { url: database.url },
    keys: localKeys(testKey),
  })
  await keys.rotate({ graceMs: 300, waitMs: 20_000 })
  return true
}

/** A migration dies half-way, and the next one finds nothing of it and does all. */
async function interruptMigration({ cluster }: Ground): Promise<boolean> {
  const database = await createDatabase(undefined, cluster.url)
  try {
    if ((await migrate(database.url, 'in-migration')) !== 'SIGKILL') return false
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    try {
      const left = await client.query("select to_regclass('tollgate.payment') as payment")
      if (left.rows[0].payment !== null) throw new Error('a migration that died left tables behind')
    } finally {
      await client.end()
    }
    const how = await migrate(database.url)
    if (how !== '0') throw new Error(`the migration after one that died ended with ${how}`)
    return true
  } finally {
    await database.drop()
  }
}

async function migrate(url: string, dies?: string): Promise<string> {
  const program = await bundled('test/faults/migrate-process.ts')
  const child = spawn(process.execPath, [program, url, ...(dies === undefined ? [] : [dies])], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  return String(code ?? signal)
}
