import { randomBytes } from 'node:crypto'
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { EmbeddedPostgresError, systemCode } from './error.ts'
import { markOf, type ProcessMark, stillRuns } from './processes.ts'

const pollMs = 25
const noticeAfterMs = 1_000
const giveUpAfterMs = 11 * 60_000

type Holder = ProcessMark | 'nobody'

/**
 * Runs `work` while no other process runs its own on this directory; a process that died holding
 * the lock does not block anybody.
 *
 * The lock is a row of numbered files in `<directory>/lock`, and the highest number holds it. To
 * take it is to link number n + 1 once the holder of n is dead or has let go: of two takers one
 * fails. Numbers only grow, so nobody ever removes a file that another process may have just
 * taken, which is how lock files are usually lost.
 */
export async function withStartLock<T>(
  directory: string,
  log: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  const folder = join(directory, 'lock')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const mine = await take(folder, log)
  try {
    return await work()
  } finally {
    await letGo(folder, mine)
  }
}

async function take(folder: string, log: (line: string) => void): Promise<number> {
  const since = performance.now()
  let noticed = false
  for (;;) {
    const highest = Math.max(0, ...(await numbers(folder)))
    const holder = await holderOf(folder, highest)
    if (holder === 'nobody') {
      if (await tryNumber(folder, highest + 1)) return highest + 1
      continue
    }
    const waitedMs = performance.now() - since
    if (waitedMs > giveUpAfterMs) {
      throw new EmbeddedPostgresError(
        `process ${holder.pid} has held ${folder} for ${Math.round(waitedMs / 60_000)} minutes; end that process and start again`,
      )
    }
    if (waitedMs > noticeAfterMs && !noticed) {
      noticed = true
      log(`waiting for process ${holder.pid}, which is starting or stopping the same database`)
    }
    await pause(pollMs)
  }
}

/** Links the number and looks again: it counts only if no higher number was taken meanwhile. */
async function tryNumber(folder: string, number: number): Promise<boolean> {
  const note = await writeNote(folder, JSON.stringify(markOf(process.pid)))
  try {
    await link(note, join(folder, String(number)))
  } catch (thrown) {
    if (systemCode(thrown) === 'EEXIST') return false
    throw thrown
  } finally {
    await rm(note, { force: true })
  }
  const all = await numbers(folder)
  if (all.some((other) => other > number)) {
    await rm(join(folder, String(number)), { force: true })
    return false
  }
  for (const older of all) {
    if (older < number) await rm(join(folder, String(older)), { force: true })
  }
  return true
}

async function letGo(folder: string, number: number): Promise<void> {
  try {
    await rename(await writeNote(folder, '"nobody"'), join(folder, String(number)))
  } catch (thrown) {
    // Somebody removed the whole folder under us, and the lock with it.
    if (systemCode(thrown) !== 'ENOENT') throw thrown
  }
}

async function writeNote(folder: string, content: string): Promise<string> {
  const note = join(folder, `note-${randomBytes(8).toString('hex')}`)
  await writeFile(note, content, { mode: 0o600 })
  return note
}

async function numbers(folder: string): Promise<number[]> {
  const names = await readdir(folder)
  return names.filter((name) => /^\d+$/.test(name)).map(Number)
}

async function holderOf(folder: string, number: number): Promise<Holder> {
  if (number === 0) return 'nobody'
  let content: string
  try {
    content = await readFile(join(folder, String(number)), 'utf8')
  } catch (thrown) {
    // Replaced or outnumbered since the folder was listed: the caller lists it again.
    if (systemCode(thrown) === 'ENOENT') return 'nobody'
    throw thrown
  }
  const mark = parseMark(content)
  return mark !== null && stillRuns(mark) ? mark : 'nobody'
}

function parseMark(content: string): ProcessMark | null {
  try {
    const value: unknown = JSON.parse(content)
    if (typeof value !== 'object' || value === null || !('pid' in value)) return null
    if (typeof value.pid !== 'number') return null
    const startedAt =
      'startedAt' in value && typeof value.startedAt === 'string' ? value.startedAt : null
    return { pid: value.pid, startedAt }
  } catch {
    // A power cut can leave an empty file; whoever wrote it is gone.
    return null
  }
}
