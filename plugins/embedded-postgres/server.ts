import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { program } from './binaries.ts'
import { cannotRun, cannotStart, environment } from './data-folder.ts'
import { EmbeddedPostgresError, systemCode } from './error.ts'
import type { Place } from './location.ts'
import { isServerOf } from './processes.ts'
import { boundLog } from './server-log.ts'
import { commandLine, type ServerSettings } from './server-settings.ts'
import { identity } from './server-user.ts'
import { readLine, writeLine } from './small-file.ts'

const pollMs = 10
const readyWithinMs = 10 * 60_000
const stopWithinMs = 60_000
const attempts = 150
const attemptEveryMs = 100
const youngMs = 1_000

/** Below the ports that systems hand out to outgoing connections, so that a remembered one stays free. */
const ports = { from: 20_000, to: 30_000 }

/** A server that runs on a data folder. */
export interface RunningServer {
  readonly pid: number
  readonly port: number
  readonly status: string
}

export interface ServerParts {
  readonly binaries: string
  readonly place: Place
  readonly settings: ServerSettings
  readonly log: (line: string) => void
  /** Called when the server begins to start. */
  readonly onProgram: () => void
}

/** The server that runs on this data folder; null also when a dead one left its file behind. */
export function findServer(data: string): RunningServer | null {
  const noted = readPidFile(data)
  return noted !== null && isServerOf(noted.pid, data) ? noted : null
}

/** Lines of postmaster.pid: process, folder, start, port, sockets, address, memory, status. */
function readPidFile(data: string): RunningServer | null {
  let lines: string[]
  try {
    lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return null
    throw thrown
  }
  const pid = Number(lines[0])
  if (!Number.isSafeInteger(pid) || pid <= 0) return null
  return { pid, port: Number(lines[3]), status: (lines[7] ?? '').trim() }
}

/**
 * Finds the server of a place or starts it, on the previous port if free. PostgreSQL lets only one
 * of two concurrent processes start, and the other one finds its server.
 */
export async function ensureServer(
  parts: ServerParts,
): Promise<RunningServer & { readonly isNew: boolean }> {
  const { place, log } = parts
  const data = join(place.root, 'data')
  const portFile = join(place.directory, 'port')
  const remembered = Number(await readLine(portFile))
  let port = remembered || randomInt(ports.from, ports.to)
  let failure = ''
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const running = await untilReady(data, () => findServer(data) !== null, log)
    if (running !== null) return { ...running, isNew: false }
    const started = await startServer(parts, data, port)
    if (typeof started !== 'string') {
      if (port !== remembered) await writeLine(portFile, String(port))
      return started
    }
    failure = started
    if (failure === 'taken') {
      const taken = port
      port = randomInt(ports.from, ports.to)
      log(`port ${taken} is taken; PostgreSQL moves to ${port}`)
    } else await pause(attemptEveryMs)
  }
  throw new EmbeddedPostgresError(
    failure === 'taken'
      ? 'no port on 127.0.0.1 could be opened for the database'
      : `processes of an earlier PostgreSQL server still use ${data}; end them and start again`,
  )
}

/** Starts a server and waits until it accepts connections; else reports the reason. */
async function startServer(
  { binaries, place, settings, log, onProgram }: ServerParts,
  data: string,
  port: number,
): Promise<(RunningServer & { isNew: boolean }) | 'taken' | 'in use'> {
  removeStalePidFile(data)
  const logPath = join(place.directory, 'postgres.log')
  boundLog(logPath)
  const logFile = openSync(logPath, 'a', 0o600)
  const from = statSync(logPath).size
  const path = program(binaries, 'postgres')
  let child: ChildProcess
  try {
    // In a session of its own: Ctrl-C and a closed terminal reach the gateway, not the database.
    child = spawn(path, ['-D', data, ...commandLine(port, settings)], {
      ...identity(place.user),
      cwd: place.root,
      env: environment,
      detached: true,
      stdio: ['ignore', logFile, logFile],
    })
  } finally {
    closeSync(logFile)
  }
  child.unref()
  onProgram()
  let failure: unknown = null
  let hasEnded = false
  child.once('error', (thrown) => {
    failure = thrown
    hasEnded = true
  })
  child.once('exit', () => {
    hasEnded = true
  })
  const running = await untilReady(data, () => !hasEnded, log)
  if (running !== null) return { ...running, isNew: running.pid === child.pid }
  if (failure !== null) throw cannotStart(path, failure)
  const said = readFileSync(logPath).subarray(from).toString('utf8').trim()
  if (/could not bind|Address already in use/.test(said)) return 'taken'
  if (/pre-existing shared memory block|lock file "[^"]*" (already exists|is empty)/.test(said)) {
    return 'in use'
  }
  throw cannotRun(path, said === '' ? `it wrote nothing to ${logPath}` : said)
}

/**
 * PostgreSQL sees by itself that a process in the file is dead, but not that its number now belongs
 * to another program, or that a power cut emptied the file. A young file can be of a server that is
 * just starting. PostgreSQL still refuses to start while processes of the earlier server use its memory.
 */
function removeStalePidFile(data: string): void {
  const path = join(data, 'postmaster.pid')
  const writtenMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
  if (Math.abs(Date.now() - writtenMs) > youngMs && findServer(data) === null) {
    rmSync(path, { force: true })
  }
}

/** Waits until the server takes connections; null when `lives` ends before. */
async function untilReady(
  data: string,
  lives: () => boolean,
  log: (line: string) => void,
): Promise<RunningServer | null> {
  const since = performance.now()
  let noticed = false
  while (performance.now() - since < readyWithinMs) {
    const server = findServer(data)
    if (server?.status === 'ready') return server
    if (!lives()) return null
    if (!noticed && performance.now() - since > 3_000) {
      noticed = true
      log('PostgreSQL is recovering after an interruption; this can take a while')
    }
    await pause(pollMs)
  }
  throw new EmbeddedPostgresError(
    `the PostgreSQL server of ${data} did not become ready within ${readyWithinMs / 60_000} minutes; see its log`,
  )
}

/** Ends a server and waits for its end: sessions are closed, and committed data is on the disk. */
export async function shutDown(binaries: string, data: string): Promise<void> {
  const server = findServer(data)
  if (server === null) return
  const { pid } = server
  // Windows has no such signal; PostgreSQL has a program that speaks to its own.
  if (process.platform === 'win32') {
    spawnSync(program(binaries, 'pg_ctl'), ['kill', 'INT', String(pid)], { stdio: 'ignore' })
  } else process.kill(pid, 'SIGINT')
  const since = performance.now()
  while (isServerOf(pid, data)) {
    if (performance.now() - since > stopWithinMs) {
      throw new EmbeddedPostgresError(
        `the PostgreSQL server, process ${pid}, did not end within ${stopWithinMs / 1000} s; it was asked to and may still be writing to the disk`,
      )
    }
    await pause(pollMs)
  }
}
