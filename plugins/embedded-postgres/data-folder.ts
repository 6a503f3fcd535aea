import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { chown, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { program } from './binaries.ts'
import { EmbeddedPostgresError, reasonOf } from './error.ts'
import type { Place } from './location.ts'
import { markOf } from './processes.ts'
import { identity } from './server-user.ts'
import { readLine, syncFolder, writeLine } from './small-file.ts'

/** The administrator of the embedded cluster, as whom the gateway connects. */
export const administrator = 'tollgate'

const filledWithinMs = 10_000

/** What a program of PostgreSQL may see of our environment: none of our secrets. */
export const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/** Makes the data folder unless it is there; answers whether it was made. Runs under the start lock. */
export async function ensureData(
  binaries: string,
  place: Place,
  durable: boolean,
): Promise<{ created: boolean; password: string }> {
  const data = join(place.root, 'data')
  const passwordFile = join(place.directory, 'password')
  const kept = await readLine(passwordFile)
  const major = await programVersion(binaries, place)
  if (existsSync(data)) {
    const made = (await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => '?')).trim()
    if (made !== major) {
      throw new EmbeddedPostgresError(
        `${data} was made by PostgreSQL ${made}, and PostgreSQL ${major} is installed; install the earlier version of this project, dump the data and restore it`,
      )
    }
    if (kept === null) {
      throw new EmbeddedPostgresError(
        `${passwordFile}, the password of the database in ${data}, is missing; restore it from a backup`,
      )
    }
    return { created: false, password: kept }
  }
  const password = kept ?? randomBytes(24).toString('hex')
  if (kept === null) await writeLine(passwordFile, password)
  await createData(binaries, place, { data, password, durable })
  return { created: true, password }
}

/** Creates beside and renames, so that a folder named `data` is always a whole one. */
async function createData(
  binaries: string,
  place: Place,
  { data, password, durable }: { data: string; password: string; durable: boolean },
): Promise<void> {
  await removeDrafts(place.root)
  const draft = join(place.root, `new-data-${randomBytes(6).toString('hex')}`)
  const passwordFile = `${draft}.password`
  try {
    await mkdir(draft, { mode: 0o700 })
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' })
    if (place.user !== null) {
      await chown(draft, place.user.uid, place.user.gid)
      await chown(passwordFile, place.user.uid, place.user.gid)
    }
    const choices = [
      `--pgdata=${draft}`,
      `--username=${administrator}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Sorts the same on every machine and in every later version.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--set=huge_pages=off',
      '--no-instructions',
      ...(durable ? [] : ['--no-sync']),
    ]
    await runProgram(program(binaries, 'initdb'), choices, place)
    await rename(draft, data)
    if (durable) await syncFolder(place.root)
  } finally {
    await removeDrafts(place.root)
  }
}

/** Removes what a killed host left half made, once the server process that still fills it is gone. */
async function removeDrafts(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith('new-data-')) continue
    const draft = join(root, name)
    const since = performance.now()
    while (isBeingFilled(draft) && performance.now() - since < filledWithinMs) await pause(20)
    await rm(draft, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}

function isBeingFilled(draft: string): boolean {
  try {
    // A server without connections, as initdb uses it, notes its number with a minus sign.
    const line = readFileSync(join(draft, 'postmaster.pid'), 'utf8').split('\n', 1)[0]
    const pid = Math.abs(Number(line))
    return Number.isSafeInteger(pid) && pid > 0 && markOf(pid) !== null
  } catch {
    return false
  }
}

/** The major version of the programs. Asking them also proves that this system can run them. */
async function programVersion(binaries: string, place: Place): Promise<string> {
  const answer = await runProgram(program(binaries, 'postgres'), ['--version'], place)
  return /\) (\d+)/.exec(answer)?.[1] ?? '?'
}

/** Runs one program to its end and answers what it said. */
function runProgram(path: string, choices: readonly string[], place: Place): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, choices, {
      ...identity(place.user),
      // Our own working folder may be closed to the server's user.
      cwd: place.root,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    const hear = (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-4096)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('error', (thrown) => reject(cannotStart(path, thrown)))
    child.once('close', (code, signal) => {
      if (code === 0) resolve(said)
      else reject(cannotRun(path, `ended by ${signal ?? `code ${code}`}: ${said.trim()}`))
    })
  })
}

/** The program ran and failed; `why` is what it said. */
export function cannotRun(path: string, why: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(`${path} failed: ${why.slice(-1500)}`)
}

/** The system did not run the program at all. */
export function cannotStart(path: string, thrown: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `this system cannot run ${path} (${reasonOf(thrown)}); it is built for glibc, which Alpine lacks: set DATABASE_URL to a PostgreSQL of your own`,
  )
}
