import { randomBytes } from 'node:crypto'
import { link, mkdir, open, realpath, rename, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemCode } from '../thrown.ts'

const readableByGroup = 0o040
const otherwiseOpen = 0o037

/** Pipes of a shell, such as `<(…)`, which belong to this process alone whatever their mode says. */
const ofShell = /^\/(?:dev\/(?:fd\/|stdin$)|proc\/)/

/**
 * Whether a file, or a pipe with a name, keeps a secret: only its owner may use it, or a group may read it, when
 * nobody else enters the folder. Orchestrators mount secrets in this way. @throws the system's error
 */
export async function isPrivate(path: string): Promise<boolean> {
  const file = await stat(path)
  const isChecked = file.isFile() || (file.isFIFO() && !ofShell.test(path))
  if (process.platform === 'win32' || !isChecked) return true
  if ((file.mode & otherwiseOpen) !== 0) return false
  if ((file.mode & readableByGroup) === 0) return true
  const folder = await stat(dirname(await realpath(path)))
  return (folder.mode & 0o007) === 0
}

export const howPrivate =
  'run chmod 600 on it, or chmod 440 if its folder is closed to other users (chmod 750)'

/** Writes a file that only its owner may read: the old text or the new one is there, never a part. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await rename(await draftOf(path, text), path)
  await syncFolder(dirname(path))
}

/** Writes it only where there is none; false when another process was first. */
export async function createPrivateFile(path: string, text: string): Promise<boolean> {
  const draft = await draftOf(path, text)
  try {
    await link(draft, path)
    await syncFolder(dirname(path))
    return true
  } catch (thrown) {
    if (systemCode(thrown) === 'EEXIST') return false
    throw thrown
  } finally {
    await unlink(draft)
  }
}

async function draftOf(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  return draft
}

/** Makes a rename inside this folder survive a power cut. */
async function syncFolder(folder: string): Promise<void> {
  // Windows has no such call for folders.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
