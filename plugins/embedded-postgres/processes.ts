import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { systemCode } from './error.ts'

/** Whether a process has this number, also one of another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (thrown) {
    return systemCode(thrown) === 'EPERM'
  }
}

/**
 * Whether a process is the PostgreSQL server of this data folder. Read from its command line,
 * because that is open to everybody, while its working directory is not (root in a container may
 * not look at another user's).
 */
export function isServerOf(pid: number, data: string): boolean {
  if (!isRunning(pid)) return false
  if (process.platform === 'win32') return true
  const command = commandOf(pid)
  if (command === null) return true
  return basename(command[0] ?? '') === 'postgres' && command.includes(data)
}

/** The words of a command line, none of a zombie; null when the system does not tell. */
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
