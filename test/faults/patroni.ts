/**
 * A high-availability cluster on this machine: three PostgreSQL servers under Patroni, etcd, and haproxy, which
 * leads new connections to the leader and closes those to a former one. The programs are Debian's packages.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  chooseServerUser,
  identity,
  runsAsRoot,
} from '../../plugins/embedded-postgres/server-user.ts'
import { scratchFolder, type TestCluster } from '../rig/cluster.ts'
import { createDatabase } from '../rig/database.ts'
import { freePort } from '../rig/free-port.ts'
import { installed } from '../rig/installation/installation.ts'
import {
  examplePassword,
  haproxyFile,
  lockSeconds,
  ofOperators,
  type PatroniMode,
  type PatroniNode,
  type ProxyHabit,
  patroniFile,
} from './patroni-files.ts'
import { ask, eventually } from './postgres-servers.ts'

export const packages = ['patroni', 'python3-etcd', 'etcd-server', 'haproxy', 'postgresql-15']

/**
 * `kill`: the leader's machine loses its power. `behind`: the same, two seconds after its standbys got their
 * last news. `stall`: the machine stands still for longer than the leader's lock lives. `wake`: the same, and
 * its server wakes up eight seconds before its Patroni. `standbys`: both standbys are gone for 25 seconds.
 * `registry`: etcd stands still for 40 seconds.
 */
export type LeaderFault =
  | 'kill'
  | 'behind'
  | 'switchover'
  | 'stall'
  | 'wake'
  | 'standbys'
  | 'registry'

/** Faults after which the same server may go on leading. */
const keepLeader = new Set<LeaderFault>(['standbys', 'registry'])

export type PatroniCluster = {
  readonly cluster: TestCluster
  /** The database, by haproxy. */
  readonly url: string
  /** Resolves once the cluster is whole again. */
  strike(fault: LeaderFault): Promise<void>
}

export type PatroniSetup = { readonly mode: PatroniMode; readonly proxy: ProxyHabit }

const programsOf = () => {
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : []
  const bin = join('/usr/lib/postgresql', versions.sort().at(-1) ?? 'none', 'bin')
  return { bin, patroni: '/usr/bin/patroni', etcd: '/usr/bin/etcd', haproxy: '/usr/sbin/haproxy' }
}

/** The Debian packages whose programs this machine lacks, or undefined. */
export function missingPrograms(): string | undefined {
  const { bin, ...programs } = programsOf()
  const isWhole = [join(bin, 'pg_rewind'), ...Object.values(programs)].every(existsSync)
  return isWhole ? undefined : `install the Debian packages ${packages.join(', ')}`
}

/** Starts everything, and waits until two standbys follow, one of them synchronously where one has to. */
export async function startPatroni({ mode, proxy: habit }: PatroniSetup): Promise<PatroniCluster> {
  const user = runsAsRoot() ? chooseServerUser() : null
  const programs = programsOf()
  const folder = mkdtempSync(join(scratchFolder(), `tollgate-faults-${process.pid}-patroni-`))
  chmodSync(folder, 0o755)
  if (user !== null) chownSync(folder, user.uid, user.gid)
  const children = new Map<string, ChildProcess>()
  const start = (name: string, program: string, options: readonly string[]) => {
    const child = spawn(program, options, {
      ...identity(user),
      cwd: folder,
      stdio: 'ignore',
      env: { PATH: `/usr/bin:/bin:${programs.bin}`, HOME: folder, LC_ALL: 'C.UTF-8' },
    })
    children.set(name, child)
    endWithThisProcess(folder, child)
    return child
  }
  const [client, peer, proxy] = [await freePort(), await freePort(), await freePort()]
  const nodes: PatroniNode[] = []
  for (const name of ['one', 'two', 'three']) {
    nodes.push({ name, port: await freePort(), rest: await freePort() })
  }
  start('etcd', programs.etcd, [
    ...['--enable-v2=true', '--name', 'etcd', '--data-dir', join(folder, 'etcd')],
    ...['--listen-client-urls', `http://127.0.0.1:${client}`],
    ...['--advertise-client-urls', `http://127.0.0.1:${client}`],
    ...['--listen-peer-urls', `http://127.0.0.1:${peer}`],
    ...['--initial-advertise-peer-urls', `http://127.0.0.1:${peer}`],
    ...['--initial-cluster', `etcd=http://127.0.0.1:${peer}`],
  ])
  await eventually('etcd answers', async () => {
    const { ok } = await fetch(`http://127.0.0.1:${client}/health`)
    return ok
  })
  const startNode = (node: PatroniNode) =>
    start(node.name, programs.patroni, [join(folder, node.name, 'patroni.json')])
  for (const node of nodes) {
    const own = join(folder, node.name)
    mkdirSync(own)
    const file = patroniFile(node, { own, etcd: client, bin: programs.bin, mode })
    writeFileSync(join(own, 'patroni.json'), file, { mode: 0o644 })
    if (user !== null) chownSync(own, user.uid, user.gid)
  }
  startNode(nodes[0]!)
  const leader = async (): Promise<PatroniNode> => {
    for (const node of nodes) {
      const answer = await ofNode(node, 'primary').catch(() => undefined)
      if (answer?.ok === true) return node
    }
    throw new Error('no server leads')
  }
  await eventually('a first server leads', async () => (await leader()) !== undefined)
  startNode(nodes[1]!)
  startNode(nodes[2]!)
  writeFileSync(join(folder, 'haproxy.cfg'), haproxyFile(proxy, nodes, habit))
  start('haproxy', programs.haproxy, ['-db', '-f', join(folder, 'haproxy.cfg')])
  const administrator = `postgres://postgres:${examplePassword}@127.0.0.1:${proxy}/postgres`
  const whole = () =>
    eventually('two standbys follow', async () => {
      const [row] = await ask<{ streaming: number; synchronous: number }>(
        administrator,
        `select count(*)::integer as streaming,
           (count(*) filter (where sync_state in ('sync', 'quorum')))::integer as synchronous
         from pg_stat_replication where state = 'streaming'`,
      )
      return row!.streaming === 2 && (row!.synchronous > 0 || mode === 'asynchronous')
    })
  await whole()
  const database = await createDatabase(installed, administrator)
  const cutPower = ({ name }: PatroniNode) => {
    // Patroni first, so that it does not start its server again.
    const servers = serverPids(folder, name)
    children.get(name)!.kill('SIGKILL')
    signal(servers, 'SIGKILL')
  }
  /** @param wakesEarlyMs How long the server runs before its Patroni does. */
  const standStill = async ({ name }: PatroniNode, wakesEarlyMs: number) => {
    const servers = serverPids(folder, name)
    const patroni = children.get(name)!
    patroni.kill('SIGSTOP')
    signal(servers, 'SIGSTOP')
    // Its lock has run out, and another server took it.
    await pause(lockSeconds * 1500)
    signal(servers, 'SIGCONT')
    await pause(wakesEarlyMs)
    patroni.kill('SIGCONT')
  }
  const strikes: Readonly<Record<LeaderFault, (node: PatroniNode) => Promise<void>>> = {
    kill: async (node) => cutPower(node),
    behind: async (node) => {
      // The senders: a stopped standby would still read what was sent before the leader's end.
      signal(serverPids(folder, node.name, 'walsender'), 'SIGSTOP')
      await pause(2_000)
      cutPower(node)
    },
    switchover: async (node) => {
      const body = JSON.stringify({ leader: node.name })
      const url = `http://127.0.0.1:${node.rest}/switchover`
      const stranger = await fetch(url, { method: 'POST', body })
      if (stranger.status !== 401) throw new Error('a stranger may hand over the leader')
      await fetch(url, { method: 'POST', body, headers: ofOperators })
    },
    stall: (node) => standStill(node, 0),
    wake: (node) => standStill(node, 8_000),
    standbys: async (node) => {
      const standbys = nodes.filter((one) => one !== node)
      for (const standby of standbys) cutPower(standby)
      await pause(25_000)
    },
    registry: async () => {
      children.get('etcd')!.kill('SIGSTOP')
      await pause(40_000)
      children.get('etcd')!.kill('SIGCONT')
    },
  }
  const strikeNow = async (fault: LeaderFault) => {
    const former = await leader()
    await strikes[fault](former)
    try {
      if (!keepLeader.has(fault)) {
        await eventually('another server leads', async () => (await leader()) !== former)
      }
    } finally {
      // The power comes back, also where nobody could take over.
      for (const node of nodes) if (children.get(node.name)!.signalCode !== null) startNode(node)
    }
    await whole()
  }
  // One after the other, because each needs a whole cluster.
  let last: Promise<void> = Promise.resolve()
  return {
    url: database.url,
    cluster: {
      url: administrator,
      folder,
      restart: () => Promise.reject(new Error('a cluster fails over')),
      async stop() {
        for (const name of ['haproxy', ...nodes.map(({ name }) => name), 'etcd']) {
          const servers = serverPids(folder, name)
          const child = children.get(name)!
          if (child.exitCode === null && child.signalCode === null) {
            child.kill('SIGKILL')
            await once(child, 'exit')
          }
          signal(servers, 'SIGKILL')
        }
        rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 20 })
      },
    },
    strike(fault) {
      const struck = last.then(() => strikeNow(fault))
      last = struck.catch(() => {})
      return struck
    },
  }
}

/** Asks a node's Patroni. */
const ofNode = (node: PatroniNode, path: string) =>
  fetch(`http://127.0.0.1:${node.rest}/${path}`, { signal: AbortSignal.timeout(1_000) })

/** The processes of a node's PostgreSQL, or those of one kind. */
function serverPids(folder: string, name: string, kind?: string): number[] {
  const file = join(folder, name, 'data/postmaster.pid')
  if (!existsSync(file)) return []
  const first = Number(readFileSync(file, 'utf8').split('\n')[0])
  const ofKind = kind === undefined ? [] : ['-f', kind]
  const { stdout } = spawnSync('pgrep', ['-P', String(first), ...ofKind], { encoding: 'utf8' })
  const children = stdout.split('\n').filter(Boolean).map(Number)
  return kind === undefined ? [first, ...children] : children
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It ended meanwhile.
    }
  }
}

/** Ends a child and the server that it started when this process ends early. */
function endWithThisProcess(folder: string, child: ChildProcess): void {
  const end = () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    for (const name of ['one', 'two', 'three']) signal(serverPids(folder, name), 'SIGKILL')
    child.kill('SIGKILL')
  }
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
}
