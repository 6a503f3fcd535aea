import { randomBytes } from 'node:crypto'
import { link, mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemCode } from '../thrown.ts'

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
