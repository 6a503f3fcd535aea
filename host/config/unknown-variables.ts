/** Environment variables that look like settings and are none: most are misspelt, and would be ignored. */
import { settingTable, structuredSettings } from './setting-table.ts'

const prefix = 'TOLLGATE_'

/** Variables of other parts: the command line's token, and those of tests and fault runs. */
const ofOthers: ReadonlySet<string> = new Set(['TOLLGATE_TOKEN', 'TOLLGATE_FAULTS_MUTANT'])
const ofTests = 'TOLLGATE_TEST_'

const known = [...settingTable, ...structuredSettings].flatMap(({ env }) =>
  env === undefined ? [] : [env as string],
)

/** Errors in names of variables; values are not read, since they may be secrets. */
export function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && !known.includes(name))
    .filter((name) => !ofOthers.has(name) && !name.startsWith(ofTests))
    .sort()
    .map((name) => `${name} is not a setting: did you mean ${nearest(name)}?`)
}

export function nearest(name: string, names: readonly string[] = known): string {
  let best = { name: prefix, distance: Number.POSITIVE_INFINITY }
  for (const one of names) {
    // Settings such as PORT have no prefix.
    const given = one.startsWith(prefix) || names !== known ? name : name.slice(prefix.length)
    const distance = distanceOf(given, one)
    if (distance < best.distance) best = { name: one, distance }
  }
  return best.name
}

/** Characters that have to be added, removed or replaced to make one name the other. */
function distanceOf(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...one].entries()) {
    const line = [row + 1]
    for (let column = 0; column < other.length; column += 1) {
      const replaced = above[column]! + (letter === other[column] ? 0 : 1)
      line.push(Math.min(replaced, above[column + 1]! + 1, line[column]! + 1))
    }
    above = line
  }
  return above.at(-1)!
}
