import { readFileSync } from 'node:fs'
import { isRunning } from '../../plugins/embedded-postgres/processes.ts'

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
  if (!isRunning(pid)) return null
  if (process.platform !== 'linux') return { pid, startedAt: null }
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    // The program's name stands in brackets and may hold blanks, so fields count from its end.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : { pid, startedAt: `${boot}/${fields[19]}` }
  } catch {
    return isRunning(pid) ? { pid, startedAt: null } : null
  }
}

/** Whether the very process that left this mark still runs. */
export function stillRuns(mark: ProcessMark): boolean {
  const now = markOf(mark.pid)
  if (now === null) return false
  return mark.startedAt === null || now.startedAt === null || mark.startedAt === now.startedAt
}
