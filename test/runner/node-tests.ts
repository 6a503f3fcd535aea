/** Runs groups of test files under Node's runner. */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { clusterVariable, type TestCluster } from '../rig/cluster.ts'
import { bundledVariable } from '../rig/programs.ts'
import { scopeVariable } from '../rig/scope.ts'
import { root } from '../rig/sources.ts'
import type { Group, Scope } from './plan.ts'
import { end, run, stopped } from './processes.ts'
import type { Summary } from './summary-reporter.ts'

/** Many tests start programs, which share compiled code. */
const compileCache = join(root, 'node_modules/.cache/tollgate-tests')
/** Checks every answer of the REST surface against the OpenAPI document. */
const answersChecked = pathToFileURL(join(root, 'test/rig/check-answers.ts')).href

const filesAtOnce = 2
/** Only a hang reaches this: no test waits longer for anything than a minute. */
const testLimitMs = { short: 300_000, long: 30 * 60_000, pods: 300_000 }
/** A group silent for much longer than its slowest test hangs after its tests. A busy machine delays even timers. */
const silenceMarginMs = 60_000

const none: Summary = { passed: 0, failed: 0, skipped: 0, failedFiles: [], failures: [], times: {} }

/** Output is streamed, counts come from a second report. */
export async function runGroup(
  { name, files, isApart, pod }: Group,
  scope: Scope,
  cluster: TestCluster,
): Promise<Summary> {
  if (stopped() !== null) return none
  const since = performance.now()
  const report = join(cluster.folder, `report-${randomUUID()}`)
  const limitMs = testLimitMs[scope]
  const silenceMs = limitMs + silenceMarginMs
  let hung = false
  const { code } = await run(
    process.execPath,
    [
      '--conditions=@tollgate/source',
      `--import=${answersChecked}`,
      '--test',
      isApart ? `--test-concurrency=${filesAtOnce}` : '--test-isolation=none',
      `--test-timeout=${limitMs}`,
      `--test-reporter=${join(import.meta.dirname, 'people-reporter.ts')}`,
      '--test-reporter-destination=stdout',
      `--test-reporter=${join(import.meta.dirname, 'summary-reporter.ts')}`,
      `--test-reporter-destination=${report}`,
      ...files,
    ],
    {
      stream: true,
      env: {
        [clusterVariable]: cluster.url,
        [scopeVariable]: scope,
        [bundledVariable]: 'yes',
        NODE_COMPILE_CACHE: compileCache,
        ...(pod === undefined ? {} : { TOLLGATE_TEST_PODS: pod }),
      },
      watch: (child) => {
        const timer = endWhenSilent(report, silenceMs, () => {
          hung = true
          end(child)
        })
        child.once('close', () => clearInterval(timer))
      },
    },
  )
  const summary = readSummary(report)
  if (hung) {
    console.log(
      `✖ ${name}: nothing happened for ${silenceMs / 1000} s: something that the tests opened (a server, a pool, a timer) keeps their process alive`,
    )
  }
  if (summary === null) {
    if (!hung && stopped() === null) {
      console.log(`✖ ${name}: the process of the tests ended before they did`)
    }
    return { ...none, failed: 1 }
  }
  const seconds = ((performance.now() - since) / 1000).toFixed(0)
  console.log(`— ${name}: ${files.length} files in ${seconds} s`)
  // A run that fails only by its exit code must not pass for success.
  return code !== 0 && summary.failed === 0 ? { ...summary, failed: 1 } : summary
}

function endWhenSilent(report: string, silenceMs: number, hang: () => void): NodeJS.Timeout {
  let size = 0
  let since = performance.now()
  return setInterval(() => {
    const now = statSync(report, { throwIfNoEntry: false })?.size ?? 0
    if (now !== size) {
      size = now
      since = performance.now()
    } else if (performance.now() - since > silenceMs) hang()
  }, 500)
}

/** The counts in the last line of a report; null for an incomplete run. */
function readSummary(report: string): Summary | null {
  if (!existsSync(report)) return null
  const line = readFileSync(report, 'utf8').trimEnd().split('\n').at(-1) ?? ''
  return line.startsWith('{') ? JSON.parse(line) : null
}
