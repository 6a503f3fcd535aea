import { constants, existsSync } from 'node:fs'
import { access, chmod, mkdir, mkdtemp, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { EmbeddedPostgresError, reasonOf, systemCode } from './error.ts'
import { canUse, chooseServerUser, ownerOf, runsAsRoot, type ServerUser } from './server-user.ts'
import { createLine, readLine, writeLine } from './small-file.ts'

/** The location of one embedded database. */
export interface Place {
  /** The `.tollgate` folder: password, port, log and, where the data is elsewhere, its location. */
  readonly directory: string
  /** The folder that holds `data` and, if one is needed, the copy of the programs. */
  readonly root: string
  /** The user of the server; null is the user of this process. */
  readonly user: ServerUser | null
}

export interface Search {
  readonly directory: string
  readonly projectDirectory: string
  readonly log: (line: string) => void
  /** The folder for data that cannot stay in the directory. */
  readonly stateFolder?: string
}

const others = { enter: 0o711, read: 0o755, none: 0o700 }

/** Makes the `.tollgate` folder if need be and answers its real path. */
export async function openDirectory(directory: string, projectDirectory: string): Promise<string> {
  const wanted = resolve(projectDirectory, directory)
  try {
    await mkdir(dirname(wanted), { recursive: true })
    // Root does not run the server: the server's user must be able to enter the folder, not to read
    // it.
    await makeFolder(wanted, runsAsRoot() ? others.enter : others.none)
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
 * folder, and `<directory>/location` says which.
 */
export async function findPlace(search: Search): Promise<Place> {
  const { directory } = search
  const root = (await notedRoot(directory)) ?? directory
  const data = join(root, 'data')
  const owner = existsSync(data) ? (await stat(data)).uid : null
  if (!runsAsRoot()) {
    const isOurs = owner === null || owner === process.getuid?.() || process.platform === 'win32'
    if (isOurs) return { directory, root, user: null }
    throw new EmbeddedPostgresError(
      `${data} belongs to user number ${owner}; start as that user or as root`,
    )
  }
  // The owner of the data runs the server.
  const user = owner === null ? chooseServerUser() : ownerOf(data, owner)
  if (canUse(user, root)) return { directory, root, user }
  if (owner === null && root === directory) {
    return { directory, root: await newRoot(search, user), user }
  }
  throw new EmbeddedPostgresError(
    `user ${user.name}, who runs PostgreSQL, cannot enter ${root}; let others pass through it and the folders above (chmod o+x)`,
  )
}

/** The folder that `location` names. A note inside it leads back, so that a copied project is noticed. */
async function notedRoot(directory: string): Promise<string | null> {
  const note = join(directory, 'location')
  const root = await readLine(note)
  if (root === null) return null
  const anew = `remove ${note} to begin with an empty database`
  if (!existsSync(root)) {
    throw new EmbeddedPostgresError(
      `the database was kept in ${root}, which is gone; put it back, or ${anew}`,
    )
  }
  if (!runsAsRoot() && (await stat(root)).uid !== process.getuid?.()) {
    throw new EmbeddedPostgresError(
      `the database is kept in ${root} since root started it; start as root, or ${anew}`,
    )
  }
  const owner = await readLine(join(root, 'directory'))
  if (owner === directory) return root
  if (owner !== null && (await readLine(join(owner, 'location'))) === root) {
    throw new EmbeddedPostgresError(
      `${directory} is a copy, and ${root} stays the database of ${owner}; ${anew}`,
    )
  }
  await writeLine(join(root, 'directory'), directory)
  return root
}

/** Makes a folder outside the project that the server's user can enter, and notes it. */
async function newRoot(search: Search, user: ServerUser): Promise<string> {
  const { directory, projectDirectory, stateFolder = '/var/lib/tollgate' } = search
  const project = basename(projectDirectory).replaceAll(/[^A-Za-z0-9_-]/g, '') || 'project'
  try {
    await makeFolder(stateFolder, others.read)
    const root = await mkdtemp(join(stateFolder, `${project}-`))
    await chmod(root, others.enter)
    if (!canUse(user, root)) throw new Error(`user ${user.name} cannot enter ${root}`)
    await writeLine(join(root, 'directory'), directory)
    const noted = await createLine(join(directory, 'location'), root)
    search.log(
      `warning: other users cannot enter ${directory}, and PostgreSQL does not run as root: user ${user.name} keeps the database in ${noted}`,
    )
    return noted
  } catch (thrown) {
    throw new EmbeddedPostgresError(
      `user ${user.name}, who runs PostgreSQL, cannot enter ${directory}, and no other place was found (${reasonOf(thrown)}); set TOLLGATE_DATA_DIR to a folder that others can enter, or DATABASE_URL`,
    )
  }
}

/** Creates a folder with this mode, regardless of the umask; leaves an existing one unchanged. */
async function makeFolder(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode: others.none })
    await chmod(path, mode)
  } catch (thrown) {
    if (systemCode(thrown) !== 'EEXIST') throw thrown
  }
}
