/** How long each test file took in the last run. The file stands outside the repository: each machine has its own. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from '../rig/sources.ts'

const path = join(root, 'node_modules/.cache/tollgate-test-times.json')

/** Test file below the root -> seconds. */
export type Seconds = ReadonlyMap<string, number>

export function lastTimes(): Seconds {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, number>))
  } catch {
    // The first run, or a file that another run is writing.
    return new Map()
  }
}

export function noteTimes(times: Seconds): void {
  mkdirSync(dirname(path), { recursive: true })
  const all = Object.fromEntries([...lastTimes(), ...times])
  writeFileSync(path, JSON.stringify(all))
}

/** Seconds for each folder, longest first, for the end of a run. */
export function byFolder(times: Seconds): string[] {
  const sums = new Map<string, number>()
  for (const [file, seconds] of times) {
    const folder = file.split('/').slice(1, -1).slice(0, 2).join('/')
    sums.set(folder, (sums.get(folder) ?? 0) + seconds)
  }
  return [...sums]
    .sort(([, one], [, other]) => other - one)
    .map(([folder, seconds]) => `${seconds.toFixed(1).padStart(7)} s  ${folder}`)
}
