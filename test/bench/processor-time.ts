/** Processor time of processes, as Linux counts it. Elsewhere it is not known. */
import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second, whatever its kernel was built with. */
const msPerTick = 10

type Stat = { readonly parent: number; readonly ownMs: number; readonly endedChildrenMs: number }

function statOf(pid: number | string): Stat | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  // The second field is a name in parentheses that may hold blanks: count from its end.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const at = (index: number) => Number(fields[index])
  return {
    parent: at(1),
    ownMs: (at(11) + at(12)) * msPerTick,
    endedChildrenMs: (at(13) + at(14)) * msPerTick,
  }
}

/** Milliseconds that one process has used, or NaN where that cannot be found out. */
export function processMs(pid: number): number {
  return statOf(pid)?.ownMs ?? Number.NaN
}

/** Milliseconds that a process and its children have used, those that ended among them. */
export function familyMs(pid: number): number {
  const first = statOf(pid)
  if (first === undefined) return Number.NaN
  let sum = first.ownMs + first.endedChildrenMs
  for (const name of readdirSync('/proc')) {
    if (!/^[0-9]+$/.test(name)) continue
    const stat = statOf(name)
    if (stat?.parent === pid) sum += stat.ownMs + stat.endedChildrenMs
  }
  return sum
}

/** Bytes of memory that a process occupies now, or NaN. */
export function residentBytes(pid: number): number {
  try {
    const found = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
    return found === null ? Number.NaN : Number(found[1]) * 1024
  } catch {
    return Number.NaN
  }
}
