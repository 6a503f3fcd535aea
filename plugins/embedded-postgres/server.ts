import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { closeSync, fstatSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { program } from './binaries.ts'
import { cannotRun, cannotStart, environment } from './data-folder.ts'
import { EmbeddedPostgresError, systemCode } from './error.ts'
import type { Place } from './location.ts'
import { isServerOf } from './processes.ts'
import { openLog, readLog } from './server-log.ts'
import { commandLine, type ServerSettings } from './server-settings.ts'
import { identity } from './server-user.ts'

const pollMs = 10
const readyWithinMs = 10 * 60_000
const stopWithinMs = 60_000
const leftoversGoneWithinMs = 15_000

/** A server that runs on a data folder. */
export interface RunningServer {
  readonly pid: number
  readonly port: number
  readonly status: string
}

export type StartFailure = 'port-taken' | 'leftovers'

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

/** Starts a server and waits until it takes connections. */
export async function startServer(start: {
  readonly binaries: string
  readonly place: Place
  readonly port: number
  readonly settings: ServerSettings
  readonly log: (line: string) => void
}): Promise<RunningServer | 'port-taken'> {
  const choices = commandLine(start.port, start.settings)
  const deadline = performance.now() + leftoversGoneWithinMs
  for (;;) {
    const started = await startOnce(start, choices)
    if (started !== 'leftovers') return started
    if (performance.now() > deadline) {
      throw new EmbeddedPostgresError(
        `processes of an earlier PostgreSQL server still use ${join(start.place.root, 'data')}; end them and start again`,
      )
    }
    await pause(100)
  }
}

async function startOnce(
  { binaries, place, log }: Parameters<typeof startServer>[0],
  choices: readonly string[],
): Promise<RunningServer | StartFailure> {
  const data = join(place.root, 'data')
  removeStalePidFile(data)
  const logPath = join(place.directory, 'postgres.log')
  const logFile = openLog(logPath)
  const from = fstatSync(logFile).size
  const path = program(binaries, 'postgres')
  try {
    // In a session of its own: Ctrl-C and a closed terminal reach the gateway, not the database.
    const child = spawn(path, ['-D', data, ...choices], {
      ...identity(place.user),
      cwd: place.root,
      env: environment,
      detached: true,
      stdio: ['ignore', logFile, logFile],
    })
    child.unref()
    const ready = await becomesReady(child, data, path, log)
    if (ready !== null) return ready
  } finally {
    closeSync(logFile)
  }
  const said = readLog(logPath, from)
  if (/could not bind|Address already in use/.test(said)) return 'port-taken'
  if (/pre-existing shared memory block|lock file "[^"]*" already exists/.test(said)) {
    return 'leftovers'
  }
  throw cannotRun(path, said.trim() === '' ? `it wrote nothing to ${logPath}` : said.trim())
}

/** Waits for the status in the server's pid file; null when the server ended instead. */
async function becomesReady(
  child: ChildProcess,
  data: string,
  path: string,
  log: (line: string) => void,
): Promise<RunningServer | null> {
  let ended = false
  let failure: unknown = null
  child.once('error', (thrown) => {
    failure = thrown
  })
  child.once('exit', () => {
    ended = true
  })
  const since = performance.now()
  let noticed = false
  while (performance.now() - since < readyWithinMs) {
    if (failure !== null) throw cannotStart(path, failure)
    if (ended) return null
    const noted = readPidFile(data)
    if (noted !== null && noted.pid === child.pid && noted.status === 'ready') return noted
    if (!noticed && performance.now() - since > 3_000) {
      noticed = true
      log('PostgreSQL is recovering after an interruption; this can take a while')
    }
    await pause(pollMs)
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL did not take connections within ${readyWithinMs / 60_000} minutes; see its log`,
  )
}

/** Waits until a server that somebody else started takes connections; null when it ended instead. */
export async function untilReady(data: string): Promise<RunningServer | null> {
  const since = performance.now()
  while (performance.now() - since < readyWithinMs) {
    const server = findServer(data)
    if (server === null || server.status === 'ready') return server
    await pause(pollMs)
  }
  throw new EmbeddedPostgresError(
    `the PostgreSQL server of ${data} did not become ready within ${readyWithinMs / 60_000} minutes; end its process and start again`,
  )
}

/** Ends a server: sessions are cut off, what was committed is on the disk. Waits for its end. */
export async function shutDown(binaries: string, data: string, pid: number): Promise<void> {
  sendInterrupt(binaries, pid)
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

function sendInterrupt(binaries: string, pid: number): void {
  if (process.platform === 'win32') {
    // Windows has no such signal; PostgreSQL has a program that speaks to its own.
    spawnSync(program(binaries, 'pg_ctl'), ['kill', 'INT', String(pid)], { stdio: 'ignore' })
    return
  }
  try {
    process.kill(pid, 'SIGINT')
  } catch (thrown) {
    if (systemCode(thrown) !== 'ESRCH') throw thrown
  }
}

/**
 * PostgreSQL sees by itself that a process in the file is dead, but not that its number now belongs
 * to another program. It still refuses to start while processes of the earlier server use its memory.
 */
function removeStalePidFile(data: string): void {
  const noted = readPidFile(data)
  if (noted !== null && !isServerOf(noted.pid, data)) {
    rmSync(join(data, 'postmaster.pid'), { force: true })
  }
}
