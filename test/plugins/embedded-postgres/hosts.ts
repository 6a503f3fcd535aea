import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { packagedBinaries, usableBinaries } from '../../../plugins/embedded-postgres/binaries.ts'
import type { EmbeddedPostgresOptions } from '../../../plugins/embedded-postgres/index.ts'
import { findServer } from '../../../plugins/embedded-postgres/server.ts'
import {
  chooseServerUser,
  runsAsRoot,
  type ServerUser,
} from '../../../plugins/embedded-postgres/server-user.ts'
import { endServer, scratchFolder } from '../../rig/cluster.ts'
import { bundled } from '../../rig/programs.ts'

export interface HostOrder {
  readonly user: ServerUser | null
  readonly options: Omit<EmbeddedPostgresOptions, 'log' | 'onOtherHost'>
}

/** Who starts the gateway. As root both root and an ordinary user can be tried. */
export const starters: readonly { readonly name: string; readonly user: ServerUser | null }[] =
  runsAsRoot()
    ? [
        { name: 'root', user: null },
        { name: 'an ordinary user', user: chooseServerUser() },
      ]
    : [{ name: 'this ordinary user', user: null }]

/** Who runs the server when `starter` starts the gateway; null is the user of this process. */
export function serverUser(starter: ServerUser | null): ServerUser | null {
  return starter ?? (runsAsRoot() ? chooseServerUser() : null)
}

export interface Started {
  readonly url: string
  readonly location: string
}

/** One running host. */
export interface Host extends Started {
  /** The number of its process. */
  readonly pid: number | undefined
  readonly lines: readonly string[]
  /** Resolves with the line that matches, said already or later. */
  line(pattern: RegExp): Promise<string>
  stop(): Promise<void>
  /** kill -9, as the system does when memory is short. */
  kill(): Promise<void>
}

const cleaners = new WeakMap<TestContext, (() => void | Promise<void>)[]>()

/** Cleans up after the test, last things first: a server ends before its folder goes. */
export function afterwards(test: TestContext, clean: () => void | Promise<void>): void {
  const known = cleaners.get(test)
  if (known !== undefined) {
    known.push(clean)
    return
  }
  const list = [clean]
  cleaners.set(test, list)
  test.after(async () => {
    for (const one of list.reverse()) await one()
  })
}

/** A new project folder that `user` owns. Whatever server runs for it is ended after the test. */
export function newProject(
  test: TestContext,
  user: ServerUser | null,
  mode = 0o755,
  parent = scratchFolder(),
): string {
  const project = mkdtempSync(join(parent, 'tollgate-launcher-'))
  if (user !== null) chownSync(project, user.uid, user.gid)
  chmodSync(project, mode)
  afterwards(test, () => rmSync(project, { recursive: true, force: true, maxRetries: 20 }))
  return project
}

export function options(project: string): HostOrder['options'] {
  return { directory: '.tollgate', projectDirectory: project }
}

/** Starts a host in a process of its own and waits until it has its database. */
export async function startHost(
  test: TestContext,
  user: ServerUser | null,
  wanted: HostOrder['options'],
  onFork: (child: ChildProcess) => void = () => undefined,
): Promise<Host> {
  const order: HostOrder = { user, options: { binaries: binariesFor(test, user), ...wanted } }
  const program = await bundled('test/plugins/embedded-postgres/host-process.ts')
  const child = fork(program, [JSON.stringify(order)], {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  onFork(child)
  const lines: string[] = []
  const exited = once(child, 'exit')
  const listen = (message: unknown) => {
    const { line }: { line?: unknown } = Object(message)
    if (typeof line !== 'string') return
    lines.push(line)
    child.emit('line', line)
  }
  child.on('message', listen)
  const started = await answer(child)
  const end = async (ask: () => void) => {
    if (child.exitCode === null && child.signalCode === null) ask()
    await exited
  }
  afterwards(test, async () => {
    await end(() => child.kill('SIGKILL'))
    // Killed outright it would leave its shared memory to the machine.
    await endServer(join(started.location, 'data'), 'SIGQUIT')
  })
  return {
    ...started,
    pid: child.pid,
    lines,
    async line(pattern) {
      for (;;) {
        const found = lines.find((one) => pattern.test(one))
        if (found !== undefined) return found
        await once(child, 'line')
      }
    },
    stop: () => end(() => child.send('stop')),
    kill: () => end(() => child.kill('SIGKILL')),
  }
}

/** The first message that tells of success or failure. */
function answer(child: ChildProcess): Promise<Started> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the host ended with ${code}`)))
    child.on('message', (message) => {
      const { started, failed }: { started?: Started; failed?: string } = Object(message)
      if (started !== undefined) resolve(started)
      if (failed !== undefined) reject(new Error(failed))
    })
  })
}

/** PostgreSQL's programs where this user can read them, wherever the project lies. */
function binariesFor(test: TestContext, user: ServerUser | null): string {
  if (user === null) return packagedBinaries()
  const root = mkdtempSync(join(tmpdir(), 'tollgate-programs-'))
  chmodSync(root, 0o755)
  afterwards(test, () => rmSync(root, { recursive: true, force: true }))
  return usableBinaries(packagedBinaries(), { directory: root, root, user }, () => undefined)
}

/** The process number of the server of this place, null when none runs. */
export function serverProcess(location: string): number | null {
  return findServer(join(location, 'data'))?.pid ?? null
}

/** kill -9 of the server, not of its processes. */
export function killServer(location: string): void {
  process.kill(serverProcess(location) ?? Number.NaN, 'SIGKILL')
}

/** Runs statements on a connection of their own. */
export async function onDatabase<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  // Servers are killed in these tests; what was lost shows in the statements.
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

/** Kills a session of the server: PostgreSQL then ends all sessions and recovers, as when memory is short. */
export async function killSession(url: string): Promise<void> {
  await onDatabase(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    process.kill(rows[0]?.pid ?? Number.NaN, 'SIGKILL')
    await once(client, 'end')
  }).catch(() => undefined)
}

export function newFolder(parent: string, name: string, mode: number): string {
  const path = join(parent, name)
  mkdirSync(path, { mode })
  chmodSync(path, mode)
  return path
}
