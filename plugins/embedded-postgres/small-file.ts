import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemCode } from './error.ts'

/** The first line of a small file, null when there is no such file or it is empty. */
export async function readLine(path: string): Promise<string | null> {
  try {
    const line = (await readFile(path, 'utf8')).split('\n', 1)[0]?.trim() ?? ''
    return line === '' ? null : line
  } catch (thrown) {
    if (systemCode(thrown) === 'ENOENT') return null
    throw thrown
  }
}

/** Writes one line, readable by the owner alone: after a power cut the old or the new one is there. */
export async function writeLine(path: string, line: string): Promise<void> {
  await rename(await draftOf(path, line), path)
  await syncFolder(dirname(path))
}

/** Writes one line unless another process was first; answers the line that is there now. */
export async function createLine(path: string, line: string): Promise<string> {
  const draft = await draftOf(path, line)
  try {
    await link(draft, path)
    await syncFolder(dirname(path))
    return line
  } catch (thrown) {
    if (systemCode(thrown) !== 'EEXIST') throw thrown
    return (await readLine(path)) ?? line
  } finally {
    await unlink(draft)
  }
}

async function draftOf(path: string, line: string): Promise<string> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${line}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  return draft
}

/** Makes a rename inside this folder survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows has no such call for folders.
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
