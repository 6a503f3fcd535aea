import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { program } from './binaries.ts'
import { EmbeddedPostgresError, reasonOf } from './error.ts'
import type { Place } from './location.ts'
import { isRunning } from './processes.ts'
import { identity } from './server-user.ts'
import { createLine, readLine, syncFolder } from './small-file.ts'

/** The administrator of the embedded cluster, as whom the gateway connects. */
export const administrator = 'tollgate'

const draftPrefix = 'new-data-'

/** The environment of PostgreSQL's programs, without any of our secrets. */
export const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

/**
 * Creates the data folder if missing and returns its password. Two concurrent processes both use
 * the first one's.
 */
export async function ensureData(
  binaries: string,
  place: Place,
  durable: boolean,
  onProgram: () => void = () => {},
): Promise<string> {
  const data = join(place.root, 'data')
  const passwordFile = join(place.directory, 'password')
  const kept = await readLine(passwordFile)
  if (!existsSync(data)) {
    const password = kept ?? (await createLine(passwordFile, randomBytes(24).toString('hex')))
    await createData(binaries, place, { data, password, durable, onProgram })
    return password
  }
  if (kept !== null) return kept
  throw new EmbeddedPostgresError(
    `${passwordFile}, the password of the database in ${data}, is missing; restore it from a backup`,
  )
}

/** Creates beside and renames, so that a folder named `data` is always a whole one. */
async function createData(
  binaries: string,
  place: Place,
  {
    data,
    password,
    durable,
    onProgram,
  }: { data: string; password: string; durable: boolean; onProgram: () => void },
): Promise<void> {
  await removeDrafts(place.root)
  const draft = join(place.root, `${draftPrefix}${process.pid}`)
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
    const made = runProgram(program(binaries, 'initdb'), choices, place)
    onProgram()
    await made
    await rename(draft, data)
    if (durable) await syncFolder(place.root)
  } catch (thrown) {
    // Another process was first.
    if (!existsSync(data)) throw thrown
  } finally {
    await removeDrafts(place.root)
  }
}

/** Removes our own draft, and those of killed processes: the number is in the name. */
async function removeDrafts(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const pid = Number(new RegExp(`^${draftPrefix}(\\d+)`).exec(name)?.[1])
    if (Number.isNaN(pid) || (pid !== process.pid && isRunning(pid))) continue
    // The initdb of a killed process may still fill it.
    await rm(join(root, name), { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}

/** Runs one program to its end. */
function runProgram(path: string, choices: readonly string[], place: Place): Promise<void> {
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
      if (code === 0) resolve()
      else reject(cannotRun(path, `ended by ${signal ?? `code ${code}`}: ${said.trim()}`))
    })
  })
}

/** A program ran and failed; `why` is its message. */
export function cannotRun(path: string, why: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(`${path} failed: ${why.slice(-1500)}`)
}

/** The system did not run the program at all. */
export function cannotStart(path: string, thrown: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `this system cannot run ${path} (${reasonOf(thrown)}); it is built for glibc, which Alpine lacks: set DATABASE_URL to a PostgreSQL of your own`,
  )
}
