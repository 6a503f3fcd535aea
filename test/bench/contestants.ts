/** The contestants: each answers `run` and runs alone while it is measured. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type Child, startChild } from './child.ts'
import type { Server } from './database.ts'
import type { EmbeddedOrder, EmbeddedReport } from './embedded.ts'
import { install, ownRoot, startHost } from './installation.ts'
import type { Load } from './latencies.ts'
import type { LoadOrder, LoadReport } from './load.ts'

export type Contestant = {
  readonly letter: string
  readonly title: string
  /** The Node process whose processor time belongs to the contestant, or NaN. */
  readonly pid: number
  readonly run: (concurrent: number, durationMs: number) => Promise<Load>
  readonly stop: () => Promise<void>
}

export type Surroundings = {
  readonly server: Server
  readonly load: Child
  /** Folder for processor profiles of every contestant, if any. */
  readonly profile: string | undefined
  /** Connections of the hand-written handlers. */
  readonly pool: number
}

/** Waits for the report of a process; a payment without approval ends the benchmark. */
async function reported(report: Promise<unknown>, who: string): Promise<Load> {
  const load = (await report) as LoadReport | EmbeddedReport
  if ('failure' in load) throw new Error(`${who}: ${load.failure}`)
  return load
}

type Address = Pick<LoadOrder, 'port' | 'path' | 'entityId' | 'token'>

function overHttp(
  { load }: Surroundings,
  who: { letter: string; title: string; pid: number; stop: () => Promise<void> },
  address: Address,
): Contestant {
  return {
    ...who,
    run(concurrent, durationMs) {
      const order: LoadOrder = { ...address, concurrent, durationMs }
      return reported(load.ask(order), who.title)
    },
  }
}

/** Handlers without Tollgate: their script and their arguments. */
const handlers = {
  a: {
    title: 'hand-written, transactions',
    script: 'handwritten/server.ts',
    store: 'transactions',
  },
  b: { title: 'hand-written, statements', script: 'handwritten/server.ts', store: 'statements' },
  e: { title: 'DBOS Transact', script: 'peers/dbos.ts', store: '' },
  f: { title: 'graphile-worker', script: 'peers/graphile-worker.ts', store: '' },
} as const

/** An Express handler without Tollgate, by itself (a, b) or on a workflow engine (e, f). */
export async function handler(
  surroundings: Surroundings,
  letter: keyof typeof handlers,
): Promise<Contestant> {
  const { title, script, store } = handlers[letter]
  const token = randomBytes(32).toString('base64url')
  const child = await startChild(
    new URL(script, import.meta.url),
    {
      BENCH_DATABASE: await surroundings.server.makeDatabase(`handler_${letter}`),
      BENCH_TOKEN: token,
      BENCH_STORE: store,
      BENCH_POOL: String(surroundings.pool),
    },
    surroundings.profile,
  )
  const { port } = child.ready as { port: number }
  return overHttp(
    surroundings,
    { letter, title, pid: child.pid, stop: child.stop },
    { port, path: '/v1/payments', entityId: randomBytes(16).toString('hex'), token },
  )
}

/** Tollgate as `npm start` runs it. `root`: a folder with another version of this project. */
export async function host(surroundings: Surroundings, root?: string): Promise<Contestant> {
  const { server, profile } = surroundings
  const name = root === undefined ? 'host' : 'host_other'
  const installation = await install(server, name)
  const program = await startHost(server, installation, { name, root, profile })
  const { entityId, token } = installation
  return overHttp(
    surroundings,
    {
      letter: root === undefined ? 'c' : "c'",
      title: `Tollgate over HTTP${root === undefined ? '' : ', other'}`,
      pid: program.pid,
      stop: program.stop,
    },
    { port: program.port, path: '/v1/payments', entityId, token },
  )
}

/** Tollgate inside a program, called as a function. */
export async function embedded(surroundings: Surroundings, root?: string): Promise<Contestant> {
  const name = root === undefined ? 'embedded' : 'embedded_other'
  const { url, keys, entityId } = await install(surroundings.server, name)
  const child = await startChild(
    join(root ?? ownRoot, 'test/bench/embedded.ts'),
    { BENCH_DATABASE: url, BENCH_KEYS: keys, BENCH_ENTITY: entityId },
    surroundings.profile,
  )
  const title = `Tollgate embedded${root === undefined ? '' : ', other'}`
  return {
    letter: root === undefined ? 'd' : "d'",
    title,
    pid: child.pid,
    run(concurrent, durationMs) {
      const order: EmbeddedOrder = { concurrent, durationMs }
      return reported(child.ask(order), title)
    },
    stop: child.stop,
  }
}
