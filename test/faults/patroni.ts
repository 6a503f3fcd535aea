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
  type ServerUser,
} from '../../plugins/embedded-postgres/server-user.ts'
import { scratchFolder, type TestCluster } from '../rig/cluster.ts'
import { createDatabase } from '../rig/database.ts'
import { freePort } from '../rig/free-port.ts'
import { installed } from '../rig/installation/installation.ts'
import { ask, eventually } from './postgres-servers.ts'

export const packages = ['patroni', 'python3-etcd', 'etcd-server', 'haproxy', 'postgresql-15']

/** `kill`: the leader loses its power. `stall`: it stands still for longer than its lock lives. */
export type LeaderFault = 'kill' | 'switchover' | 'stall'

export type PatroniCluster = {
  readonly cluster: TestCluster
  /** The database, by haproxy. */
  readonly url: string
  /** Resolves once another server leads, and the former leader runs again. */
  strike(fault: LeaderFault): Promise<void>
}

type Node = { readonly name: string; readonly port: number; readonly rest: number }

/** In seconds: how long a leader's lock lives, how often it is renewed, and how long a try may last. */
const ttl = 20
const loopWait = 5
const retryTimeout = 5

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

/** Starts everything, and waits until two standbys follow, one of them synchronously. */
export async function startPatroni(): Promise<PatroniCluster> {
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
  const nodes: Node[] = []
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
  const startNode = (node: Node) =>
    start(node.name, programs.patroni, [join(folder, node.name, 'patroni.json')])
  for (const node of nodes) writeNode(folder, node, { client, bin: programs.bin, user })
  startNode(nodes[0]!)
  const leader = async (): Promise<Node> => {
    for (const node of nodes) {
      const answer = await ofNode(node, 'primary').catch(() => undefined)
      if (answer?.ok === true) return node
    }
    throw new Error('no server leads')
  }
  await eventually('a first server leads', async () => (await leader()) !== undefined)
  startNode(nodes[1]!)
  startNode(nodes[2]!)
  writeFileSync(join(folder, 'haproxy.cfg'), proxyConfiguration(proxy, nodes))
  start('haproxy', programs.haproxy, ['-db', '-f', join(folder, 'haproxy.cfg')])
  const administrator = `postgres://postgres:postgres@127.0.0.1:${proxy}/postgres`
  const whole = () =>
    eventually('two standbys follow', async () => {
      const [row] = await ask<{ streaming: number; synchronous: number }>(
        administrator,
        `select count(*)::integer as streaming,
           (count(*) filter (where sync_state in ('sync', 'quorum')))::integer as synchronous
         from pg_stat_replication where state = 'streaming'`,
      )
      return row!.streaming === 2 && row!.synchronous > 0
    })
  await whole()
  const database = await createDatabase(installed, administrator)
  const strikes: Readonly<Record<LeaderFault, (node: Node) => Promise<void>>> = {
    kill: async ({ name }) => {
      // Patroni first, so that it does not start its server again.
      const servers = serverPids(folder, name)
      children.get(name)!.kill('SIGKILL')
      signal(servers, 'SIGKILL')
    },
    switchover: async (node) => {
      const body = JSON.stringify({ leader: node.name })
      await fetch(`http://127.0.0.1:${node.rest}/switchover`, { method: 'POST', body })
    },
    stall: async ({ name }) => {
      const servers = serverPids(folder, name)
      const patroni = children.get(name)!
      patroni.kill('SIGSTOP')
      signal(servers, 'SIGSTOP')
      // Its lock has run out, and another server took it.
      await pause(ttl * 1500)
      signal(servers, 'SIGCONT')
      patroni.kill('SIGCONT')
    },
  }
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
    async strike(fault) {
      const former = await leader()
      await strikes[fault](former)
      await eventually('another server leads', async () => (await leader()) !== former)
      if (children.get(former.name)!.signalCode !== null) startNode(former)
      await whole()
    },
  }
}

/** Asks a node's Patroni. */
const ofNode = (node: Node, path: string) =>
  fetch(`http://127.0.0.1:${node.rest}/${path}`, { signal: AbortSignal.timeout(1_000) })

function writeNode(
  folder: string,
  { name, port, rest }: Node,
  { client, bin, user }: { client: number; bin: string; user: ServerUser | null },
): void {
  const own = join(folder, name)
  mkdirSync(own)
  // Patroni reads YAML, of which JSON is a part.
  const configuration = {
    scope: 'tollgate',
    name,
    restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
    etcd: { hosts: `127.0.0.1:${client}` },
    bootstrap: {
      dcs: {
        ...{ ttl, loop_wait: loopWait, retry_timeout: retryTimeout },
        maximum_lag_on_failover: 1_048_576,
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: { max_connections: 200, shared_buffers: '128MB', wal_log_hints: 'on' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      pg_hba: ['host replication replicator 127.0.0.1/32 md5', 'host all all 127.0.0.1/32 md5'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(own, 'data'),
      bin_dir: bin,
      pgpass: join(own, 'pgpass'),
      authentication: {
        replication: { username: 'replicator', password: 'replicator' },
        superuser: { username: 'postgres', password: 'postgres' },
        rewind: { username: 'rewinder', password: 'rewinder' },
      },
      parameters: { unix_socket_directories: own },
    },
  }
  writeFileSync(join(own, 'patroni.json'), JSON.stringify(configuration))
  if (user !== null) chownSync(own, user.uid, user.gid)
}

const proxyConfiguration = (port: number, nodes: readonly Node[]) => `global
    maxconn 400
defaults
    mode tcp
    retries 2
    timeout client 30m
    timeout connect 4s
    timeout server 30m
    timeout check 1s
listen leader
    bind 127.0.0.1:${port}
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server inter 1s fastinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${nodes.map(({ name, port: own, rest }) => `    server ${name} 127.0.0.1:${own} maxconn 200 check port ${rest}`).join('\n')}
`

/** The processes of a node's PostgreSQL. */
function serverPids(folder: string, name: string): number[] {
  const file = join(folder, name, 'data/postmaster.pid')
  if (!existsSync(file)) return []
  const first = Number(readFileSync(file, 'utf8').split('\n')[0])
  const children = spawnSync('pgrep', ['-P', String(first)], { encoding: 'utf8' }).stdout
  return [first, ...children.split('\n').filter(Boolean).map(Number)]
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
