/**
 * Runs every check: those of the sources, then the tests.
 *
 *   npm test                     all, with a fixed sample of each search
 *   npm test -- money flows      only test files whose path has one of these words; no source checks
 *   npm run test:long            the searches in full; words choose among them
 *   npm test -- --pods           every test file over HTTP, with a host of two pods; more words choose among them
 */
import { availableParallelism } from 'node:os'
import { startTestCluster } from './rig/cluster.ts'
import { bundleAll } from './rig/programs.ts'
import { runGroup } from './runner/node-tests.ts'
import { filesOf, groupsOf, type Scope } from './runner/plan.ts'
import { stopEverything, stopped } from './runner/processes.ts'
import { checkSources } from './runner/source-checks.ts'
import type { Summary } from './runner/summary-reporter.ts'
import { byFolder, lastTimes, noteTimes, type Seconds } from './runner/times.ts'

/** Far longer than a run takes on two cores that other programs share. */
const wholeRunLimitMs = 75 * 60_000

async function main(words: readonly string[]): Promise<number> {
  const scope: Scope = words.includes('--long')
    ? 'long'
    : words.includes('--pods')
      ? 'pods'
      : 'short'
  const filters = words.filter((word) => !word.startsWith('--'))
  const files = filesOf(scope, filters)
  if (files.length === 0) {
    console.log(`no test file has ${filters.join(' or ')} in its path`)
    console.log('0 passed, 0 failed')
    return 1
  }
  const limit = setTimeout(
    () => stopEverything(`the whole run took longer than ${wholeRunLimitMs / 60_000} minutes`),
    wholeRunLimitMs,
  )
  const isWhole = scope === 'short' && filters.length === 0
  if (!isWhole) console.log(`${files.length} test files; source checks are left out`)
  const [cluster] = await Promise.all([startTestCluster(), bundleAll()])
  try {
    const groups = groupsOf(scope, files, lastTimes())
    const [counts, checksFailed] = await Promise.all([
      together(groups.map((group) => () => runGroup(group, scope, cluster))),
      isWhole ? checkSources() : 0,
    ])
    return report(counts, checksFailed, scope)
  } finally {
    clearTimeout(limit)
    await cluster.stop()
  }
}

/** One process more than processors works at a time, since tests wait for PostgreSQL. */
async function together<Result>(work: readonly (() => Promise<Result>)[]): Promise<Result[]> {
  const waiting = [...work]
  const results: Result[] = []
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      results.push(await next())
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() + 2 }, worker))
  return results
}

const commandOf: Readonly<Record<Scope, string>> = {
  short: 'npm test --',
  long: 'npm run test:long --',
  pods: 'npm test -- --pods',
}

/** Prints the last line; the exit code is 0 only when tests ran and nothing failed. */
function report(counts: readonly Summary[], checksFailed: number, scope: Scope): number {
  const sum = (read: (count: Summary) => number) => counts.reduce((all, one) => all + read(one), 0)
  const passed = sum((count) => count.passed)
  const failed = sum((count) => count.failed) + checksFailed
  const skipped = sum((count) => count.skipped)
  const times: Seconds = new Map(counts.flatMap((one) => Object.entries(one.times)))
  noteTimes(times)
  for (const line of byFolder(times)) console.log(line)
  for (const line of counts.flatMap((one) => one.failures)) console.log(`✖ ${line}`)
  const failedFiles = counts.flatMap((one) => one.failedFiles)
  // Cases of the plugin kit name its file, and not that of their test.
  const again = failedFiles.filter((file) => file.startsWith('test/')).join(' ')
  if (again !== '') console.log(`again: ${commandOf[scope]} ${again}`)
  if (stopped() !== null) console.log(`✖ stopped: ${stopped()}`)
  if (checksFailed > 0) console.log(`✖ ${checksFailed} source checks failed, see above`)
  if (skipped > 0) console.log(`${skipped} skipped`)
  console.log(`${passed} passed, ${failed} failed`)
  return failed > 0 || passed === 0 || stopped() !== null ? 1 : 0
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stopEverything(signal))
}

process.exitCode = await main(process.argv.slice(2))
