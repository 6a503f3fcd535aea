import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * A process, told apart from a later one that got the same number. `startedAt` names the boot and
 * the tick; it is null where the system does not tell.
 */
export interface ProcessMark {
  readonly pid: number
  readonly startedAt: string | null
}

/** The mark of a running process, null when there is none. A zombie does not count as running. */
export function markOf(pid: number): ProcessMark | null {
  if (!answersSignals(pid)) return null
  if (process.platform !== 'linux') return { pid, startedAt: null }
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // The program's name stands in brackets and may hold blanks, so fields count from its end.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : { pid, startedAt: `${boot}/${fields[19]}` }
  } catch {
    return answersSignals(pid) ? { pid, startedAt: null } : null
  }
}

/** Whether the very process that left this mark still runs. */
export function stillRuns(mark: ProcessMark): boolean {
  const now = markOf(mark.pid)
  if (now === null) return false
  return mark.startedAt === null || now.startedAt === null || mark.startedAt === now.startedAt
}

/**
 * Whether a process is the PostgreSQL server of this data folder. Read from its command line,
 * because that is open to everybody, while its working directory is not (root in a container may
 * not look at another user's).
 */
export function isServerOf(pid: number, data: string): boolean {
  if (markOf(pid) === null) return false
  if (process.platform === 'win32') return true
  const command = commandOf(pid)
  if (command === null) return true
  return /^postgres(?:\.exe)?$/.test(basename(command[0] ?? '')) && command.includes(data)
}

/** The words of a command line; null when the system does not tell. */
function commandOf(pid: number): string[] | null {
  if (process.platform === 'linux') {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    } catch {
      return null
    }
  }
  const shown = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
  if (shown.status !== 0) return null
  const [program = '', rest = ''] = shown.stdout.trim().split(/ -D /, 2)
  return [program, rest.split(/ -c /, 1)[0] ?? '']
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EPERM'
  }
}
