import { createHash } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { access, chmod, lstat, mkdir, realpath, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { EmbeddedPostgresError, reasonOf, systemCode } from './error.ts'
import {
  canUse,
  chooseServerUser,
  runsAsRoot,
  type ServerUser,
  serverUserOf,
} from './server-user.ts'
import { readLine, writeLine } from './small-file.ts'

/** Where one embedded database lives. */
export interface Place {
  /** The `.tollgate` folder: password, port, log, lock and, where it is elsewhere, the location. */
  readonly directory: string
  /** The folder that holds `data` and, if one is needed, the copy of the programs. */
  readonly root: string
  /** Who runs the server; null is the user of this process. */
  readonly user: ServerUser | null
}

/** What a search for the place needs; `stateFolders` are tried in turn, the last one with a warning. */
export interface Search {
  readonly directory: string
  readonly projectDirectory: string
  readonly log: (line: string) => void
  readonly stateFolders?: readonly string[]
}

const others = { enter: 0o711, read: 0o755, none: 0o700 }

/** Makes the `.tollgate` folder if need be and answers its real path. */
export async function openDirectory(directory: string, projectDirectory: string): Promise<string> {
  const wanted = resolve(projectDirectory, directory)
  try {
    await mkdir(dirname(wanted), { recursive: true })
    const made = await mkdir(wanted, { mode: others.none }).then(
      () => true,
      (thrown) => {
        if (systemCode(thrown) === 'EEXIST') return false
        throw thrown
      },
    )
    // Root does not run the server: its user must be able to pass through, not to read.
    if (made && runsAsRoot()) await chmod(wanted, others.enter)
    await access(wanted, constants.W_OK | constants.X_OK)
    return await realpath(wanted)
  } catch (thrown) {
    throw new EmbeddedPostgresError(
      `the database folder ${wanted} cannot be used (${reasonOf(thrown)}); set TOLLGATE_DATA_DIR to a folder that this user can write, or DATABASE_URL`,
    )
  }
}

/**
 * Finds where the data is, or decides where it shall be. An ordinary user keeps everything in the
 * directory. Root does too where the server's user can get there; else the data goes to a system
 * folder, and `<directory>/location` says which. Runs under the start lock.
 */
export async function findPlace(search: Search): Promise<Place> {
  const known = await knownRoot(search)
  if (known !== null) return settledPlace(search.directory, known)
  if (existsSync(join(search.directory, 'data'))) {
    return settledPlace(search.directory, search.directory)
  }
  if (!runsAsRoot()) return { directory: search.directory, root: search.directory, user: null }
  const user = chooseServerUser()
  if (canUse(user, search.directory)) {
    return { directory: search.directory, root: search.directory, user }
  }
  return { directory: search.directory, root: await newRoot(search, user), user }
}

/** The place of data that exists. Whoever owns the data runs the server. */
async function settledPlace(directory: string, root: string): Promise<Place> {
  const data = join(root, 'data')
  const owner = existsSync(data) ? (await stat(data)).uid : null
  if (!runsAsRoot()) {
    if (owner !== null && owner !== process.getuid?.() && process.platform !== 'win32') {
      throw new EmbeddedPostgresError(
        `${data} belongs to user number ${owner}; start as that user or as root`,
      )
    }
    return { directory, root, user: null }
  }
  const user = owner === null ? chooseServerUser() : serverUserOf(owner, data)
  if (!canUse(user, root)) {
    throw new EmbeddedPostgresError(
      `user ${user.name}, who runs PostgreSQL, cannot enter ${root}; let others pass through it and the folders above (chmod o+x)`,
    )
  }
  return { directory, root, user }
}

/** The folder that `location` names, null when it names none of ours. */
async function knownRoot({ directory, log }: Search): Promise<string | null> {
  const note = join(directory, 'location')
  const root = await readLine(note)
  if (root === null) return null
  if (!existsSync(root)) {
    throw new EmbeddedPostgresError(
      `the database was kept in ${root}, which is gone; put it back, or remove ${note} to begin with an empty database`,
    )
  }
  if (!runsAsRoot() && (await stat(root)).uid !== process.getuid?.()) {
    throw new EmbeddedPostgresError(
      `the database is kept in ${root} since root started it; start as root, or remove ${note} to begin with an empty database`,
    )
  }
  const ownerNote = join(root, 'directory')
  const owner = await readLine(ownerNote)
  if (owner === directory) return root
  if (owner !== null && (await readLine(join(owner, 'location'))) === root) {
    log(`${note} came here as a copy: ${root} stays the database of ${owner}`)
    return null
  }
  await writeLine(ownerNote, directory)
  return root
}

/** Makes a folder outside the project that the server's user can enter, and notes it. */
async function newRoot(search: Search, user: ServerUser): Promise<string> {
  const bases = search.stateFolders ?? ['/var/lib/tollgate', join(tmpdir(), 'tollgate-state')]
  const refusals: string[] = []
  for (const [index, base] of bases.entries()) {
    try {
      const root = await makeRoot(base, search, user)
      search.log(
        `other users cannot enter ${search.directory}, and PostgreSQL does not run as root: user ${user.name} keeps the database in ${root}`,
      )
      if (index > 0 && index === bases.length - 1) {
        search.log(
          `warning: ${base} is a folder for temporary files; the system may empty it. Make /var/lib writable, move the project, or set TOLLGATE_DATA_DIR`,
        )
      }
      await writeLine(join(root, 'directory'), search.directory)
      await writeLine(join(search.directory, 'location'), root)
      return root
    } catch (thrown) {
      refusals.push(`${base}: ${reasonOf(thrown)}`)
    }
  }
  throw new EmbeddedPostgresError(
    `user ${user.name}, who runs PostgreSQL, cannot enter ${search.directory}, and no other place was found (${refusals.join('; ')}); set TOLLGATE_DATA_DIR to a folder that others can enter, or DATABASE_URL`,
  )
}

async function makeRoot(base: string, search: Search, user: ServerUser): Promise<string> {
  await ownFolder(base, others.read)
  const project = basename(search.projectDirectory).replaceAll(/[^A-Za-z0-9_-]/g, '') || 'project'
  const hash = createHash('sha256').update(search.directory).digest('hex').slice(0, 12)
  for (let attempt = 1; ; attempt += 1) {
    const root = join(base, `${project}-${hash}${attempt === 1 ? '' : `-${attempt}`}`)
    // Data without a note that leads to it is somebody's earlier database: never reused, never removed.
    if (existsSync(join(root, 'data'))) {
      search.log(`an earlier database of ${search.directory} is kept in ${root}`)
      continue
    }
    await ownFolder(root, others.enter)
    if (!canUse(user, root)) throw new EmbeddedPostgresError(`user ${user.name} cannot enter it`)
    return root
  }
}

/** A folder that is ours alone to change: in a shared place somebody may have made it before us. */
async function ownFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode })
    await chmod(path, mode)
  } catch (thrown) {
    if (systemCode(thrown) !== 'EEXIST') throw thrown
  }
  const found = await lstat(path)
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new EmbeddedPostgresError(`${path} is not a folder that root alone can change`)
  }
}
