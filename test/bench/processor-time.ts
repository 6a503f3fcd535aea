/** Processor time of processes from Linux's counters; unknown on other systems. */
import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second with every kernel configuration. */
const msPerTick = 10

type Stat = { readonly parent: number; readonly ownMs: number; readonly endedChildrenMs: number }

function statOf(pid: number | string): Stat | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  // The second field is a name in parentheses that may contain blanks, so fields are counted from
  // its end.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const at = (index: number) => Number(fields[index])
  return {
    parent: at(1),
    ownMs: (at(11) + at(12)) * msPerTick,
    endedChildrenMs: (at(13) + at(14)) * msPerTick,
  }
}

/** Milliseconds used by one process, or NaN where they are unknown. */
export function processMs(pid: number): number {
  return statOf(pid)?.ownMs ?? Number.NaN
}

/** Milliseconds used by a process and its children, including ended ones. */
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

/** Resident memory of a process in bytes, or NaN. */
export function residentBytes(pid: number): number {
  try {
    const found = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
    return found === null ? Number.NaN : Number(found[1]) * 1024
  } catch {
    return Number.NaN
  }
}
