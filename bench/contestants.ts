/** Who takes part: each answers `run`, and runs alone while it is measured. */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import simulator from '../connectors/simulator/index.ts'
import { createGateway, localKeys, makeKey } from '../core/index.ts'
import { type Child, startChild, startProgram } from './child.ts'
import type { Server } from './database.ts'
import type { EmbeddedOrder, EmbeddedReport } from './embedded.ts'
import type { Load } from './latencies.ts'
import type { LoadOrder, LoadReport } from './load.ts'

export type Contestant = {
  readonly letter: string
  readonly title: string
  /** The Node process whose processor time is the contestant's own. */
  readonly pid: number
  readonly run: (concurrent: number, durationMs: number) => Promise<Load>
  readonly stop: () => Promise<void>
}

export type Surroundings = {
  readonly server: Server
  readonly load: Child
  /** Folder for processor profiles of every contestant, if they are wanted. */
  readonly profile: string | undefined
  /** Connections of the hand-written handlers. */
  readonly pool: number
}

const ownRoot = fileURLToPath(new URL('..', import.meta.url))

/** Waits for the report of a process; a payment that was not approved ends the benchmark. */
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

/** An Express handler without Tollgate, in one of two ways to write its commits. */
export async function handwritten(
  surroundings: Surroundings,
  store: 'transactions' | 'statements',
): Promise<Contestant> {
  const token = randomBytes(32).toString('base64url')
  const child = await startChild(
    new URL('handwritten/server.ts', import.meta.url),
    {
      BENCH_DATABASE: await surroundings.server.makeDatabase(`handwritten_${store}`),
      BENCH_TOKEN: token,
      BENCH_STORE: store,
      BENCH_POOL: String(surroundings.pool),
    },
    surroundings.profile,
  )
  const { port } = child.ready as { port: number }
  const [letter, title] =
    store === 'transactions'
      ? ['a', 'hand-written, transactions']
      : ['b', 'hand-written, statements']
  const entityId = randomBytes(16).toString('hex')
  return overHttp(
    surroundings,
    { letter, title, pid: child.pid, stop: child.stop },
    { port, path: '/v1/payments', entityId, token },
  )
}

type Installation = { url: string; keys: string; entityId: string; token: string }

/** A database of the engine with one channel and a token for it. */
async function install(server: Server, name: string): Promise<Installation> {
  const url = await server.makeDatabase(name)
  const keys = makeKey('bench')
  await using gateway = await createGateway({
    database: { url },
    plugins: [simulator],
    environment: 'test',
    keys: localKeys(keys),
  })
  const { entities } = gateway
  const psp = await entities.create({ kind: 'psp', name: 'Bench' })
  const division = await entities.create({ kind: 'division', name: 'Bench', parentId: psp })
  const merchant = await entities.create({ kind: 'merchant', name: 'Bench', parentId: division })
  const entityId = await entities.create({ kind: 'channel', name: 'Bench', parentId: merchant })
  const { token } = await entities.createToken(entityId, 'bench')
  return { url, keys, entityId, token }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => probe.once('listening', listening))
  const { port } = probe.address() as { port: number }
  await new Promise((closed) => probe.close(closed))
  return port
}

const readyMs = 60_000

/** Resolves once the host says that it takes requests. */
async function ready(port: number, ended: Promise<string>): Promise<void> {
  let why: string | undefined
  ended.then((reason) => {
    why = reason
  })
  for (const until = performance.now() + readyMs; performance.now() < until; await pause(50)) {
    if (why !== undefined) throw new Error(`the host did not start: ${why}`)
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (answer?.ok === true) return
  }
  throw new Error(`the host was not ready after ${readyMs / 1000} s`)
}

/** Tollgate as `npm start` runs it. `root`: a folder with another version of this project. */
export async function host(surroundings: Surroundings, root?: string): Promise<Contestant> {
  const other = root === undefined ? '' : '_other'
  const { url, keys, entityId, token } = await install(surroundings.server, `host${other}`)
  const port = await freePort()
  const program = startProgram(
    join(root ?? ownRoot, 'host/bin/tollgate.js'),
    ['serve'],
    {
      DATABASE_URL: url,
      TOLLGATE_KEYS: keys,
      TOLLGATE_DATA_DIR: join(surroundings.server.folder, `host${other}`),
      HOST: '127.0.0.1',
      PORT: String(port),
    },
    join(surroundings.server.folder, `host${other}.log`),
    surroundings.profile,
  )
  await ready(port, program.ended).catch(async (error: unknown) => {
    await program.stop()
    throw error
  })
  return overHttp(
    surroundings,
    {
      letter: root === undefined ? 'c' : "c'",
      title: `Tollgate over HTTP${root === undefined ? '' : ', other'}`,
      pid: program.pid,
      stop: program.stop,
    },
    { port, path: '/v1/payments', entityId, token },
  )
}

/** Tollgate inside a program, called as a function. */
export async function embedded(surroundings: Surroundings, root?: string): Promise<Contestant> {
  const name = root === undefined ? 'embedded' : 'embedded_other'
  const { url, keys, entityId } = await install(surroundings.server, name)
  const child = await startChild(
    join(root ?? ownRoot, 'bench/embedded.ts'),
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
