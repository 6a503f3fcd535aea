/** Which test files a run takes, and which of them share a process. */
import { globSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { root } from '../rig/sources.ts'
import type { Seconds } from './times.ts'

/** Tests that have a process for each file: they kill servers, measure their own process, or read what others set. */
export const apart = /^test\/(?:plugins\/embedded-postgres\/|examples\/.*\.long|rules\/docs)/

/**
 * Files that also run over a host of two pods in a long run: those where a request has to find its pod by something
 * other than a token (shoppers' returns, checkouts and their pages, messages of acquirers), the event feed,
 * and the file with every operation of the surface, which `npm test` runs so, too.
 */
const overPods =
  /^test\/host\/http\/(?:acquirer-messages|checkout-page-authentication|checkouts|documented|events|shopper-return|tokens)\.test\.ts$/
const overPodsSample = /\/documented\.test\.ts$/

/** Files about operators and about pages of plugins: their paths name no pod, so they lead to pod 0. */
const ofFirstPod =
  /^test\/(?:host\/http\/(?:office.*|ended-rights|pages|surfaces)|flows\/(?:failed-logins|four-eyes|roles))\.test\.ts$/

export type Scope = 'short' | 'long' | 'pods'

/** Files that run one after the other in one process, or one process for each. */
export type Group = {
  readonly name: string
  readonly files: readonly string[]
  readonly isApart: boolean
  /** The place of the engine among two pods of its host. */
  readonly pod?: 'first' | 'last'
}

/** @param words only files whose path has one of them. */
export function filesOf(scope: Scope, words: readonly string[]): string[] {
  return globSync('test/**/*.test.ts', { cwd: root, exclude: ['**/node_modules'] })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .filter((file) => {
      const isLong = file.endsWith('.long.test.ts')
      if (scope === 'short') return !isLong
      const text = readFileSync(join(root, file), 'utf8')
      if (scope === 'long') return isLong || /\/scope\.ts'/.test(text) || overPods.test(file)
      return /^test\/(?:host|flows)\//.test(file) && text.includes('startHost')
    })
    .sort()
}

export function groupsOf(scope: Scope, files: readonly string[], times: Seconds): Group[] {
  if (scope === 'pods') {
    const first = files.filter((file) => ofFirstPod.test(file))
    const last = files.filter((file) => !ofFirstPod.test(file))
    return [inPods(first, 'first'), inPods(last, 'last')].filter(notEmpty)
  }
  const alone = files.filter((file) => apart.test(file))
  const over = files.filter(
    (file) => overPods.test(file) && (scope === 'long' || overPodsSample.test(file)),
  )
  const shared = files.filter(
    (file) => !apart.test(file) && !(scope === 'long' && isOnlyOverPods(file)),
  )
  return [
    { name: 'own processes', files: alone, isApart: true },
    ...balanced(shared, times),
    inPods(over, 'last'),
  ].filter(notEmpty)
}

const notEmpty = ({ files }: Group) => files.length > 0

const isOnlyOverPods = (file: string) =>
  overPods.test(file) && !/\/scope\.ts'/.test(readFileSync(join(root, file), 'utf8'))

const inPods = (files: readonly string[], pod: 'first' | 'last'): Group => ({
  name: `over pods, ${pod}`,
  files,
  isApart: false,
  pod,
})

/** For each process. Each group loads the engine once more. */
const groupsOfFirstRun = 3

/** Before a file's first run: longer files take longer, as a rule. */
const guessed = (file: string) => statSync(join(root, file)).size / 2_000

/**
 * One process more than processors, since tests wait for PostgreSQL. The longest file goes to the idlest process.
 * Guesses are wrong by half, so a first run has more groups, and a process that is early takes the next one.
 */
function balanced(files: readonly string[], times: Seconds): Group[] {
  const length = (availableParallelism() + 1) * (times.size === 0 ? groupsOfFirstRun : 1)
  const groups = Array.from({ length }, (_, index) => ({
    name: `shared process ${index + 1}`,
    files: [] as string[],
    seconds: 0,
    isApart: false,
  }))
  const secondsOf = (file: string) => times.get(file) ?? guessed(file)
  for (const file of [...files].sort((one, other) => secondsOf(other) - secondsOf(one))) {
    const idlest = groups.reduce((least, one) => (one.seconds < least.seconds ? one : least))
    idlest.files.push(file)
    idlest.seconds += secondsOf(file)
  }
  return groups
}
