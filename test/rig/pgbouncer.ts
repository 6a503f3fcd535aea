/** PgBouncer, a real connection pooler, before a database of the tests. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  chooseServerUser,
  identity,
  runsAsRoot,
} from '../../plugins/embedded-postgres/server-user.ts'
import { scratchFolder } from './cluster.ts'
import { freePort } from './free-port.ts'

const program = '/usr/sbin/pgbouncer'

/** Why the tests with a real pooler cannot run here; false: they can. */
export const withoutPgBouncer: string | false = existsSync(program)
  ? false
  : 'PgBouncer is not on this machine: install the Debian package pgbouncer'

export type PgBouncer = {
  /** The database, by the pooler. */
  readonly url: string
  close(): Promise<void>
}

export type PgBouncerOptions = {
  readonly mode: 'session' | 'transaction'
  /** Connections to the server. */
  readonly size?: number
  /** Further lines of its section `pgbouncer`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Whether clients need a password, that of the URL. */
  readonly password?: true
}

export async function startPgBouncer(url: string, options: PgBouncerOptions): Promise<PgBouncer> {
  const { hostname, port, pathname, username, password } = new URL(url)
  const database = pathname.slice(1)
  const user = runsAsRoot() ? chooseServerUser() : null
  const folder = mkdtempSync(join(scratchFolder(), `tollgate-pooler-${process.pid}-`))
  chmodSync(folder, 0o755)
  const own = await freePort()
  const people = join(folder, 'people.txt')
  writeFileSync(people, `"${username}" "${decodeURIComponent(password)}"\n`)
  const file = join(folder, 'pgbouncer.ini')
  const asked = options.password === true
  writeFileSync(
    file,
    `[databases]
${database} = host=${hostname} port=${port} dbname=${database}${asked ? '' : ` user=${username}`} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = ${asked ? 'plain' : 'any'}
auth_file = ${people}
pool_mode = ${options.mode}
default_pool_size = ${options.size ?? 20}
max_client_conn = 500
${Object.entries(options.settings ?? {})
  .map(([name, value]) => `${name} = ${value}\n`)
  .join('')}`,
  )
  if (user !== null) for (const path of [folder, people, file]) chownSync(path, user.uid, user.gid)
  const said: string[] = []
  const child = spawn(program, [file], {
    ...identity(user),
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  child.stderr.on('data', (bytes: Buffer) => said.push(bytes.toString()))
  const end = () => void child.kill('SIGKILL')
  process.once('exit', end)
  await listening(child, own, said)
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String(own)
  return {
    url: through.href,
    async close() {
      process.off('exit', end)
      const isOver = child.exitCode !== null || child.signalCode !== null
      child.kill('SIGKILL')
      if (!isOver) await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function listening(child: ChildProcess, port: number, said: readonly string[]) {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${said.join('')}`)
    const isThere = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true))
      socket.once('connect', () => socket.destroy())
      socket.once('error', () => resolve(false))
    })
    if (isThere) return
    await pause(20)
  }
}
