/**
 * Runs every check: those of the sources, then the tests.
 *
 *   npm test                 all
 *   npm test -- money flows  only test files whose path has one of these words; no source checks
 *   npm test -- --failed     only the few files that failed in the run before, one after the other
 *   npm test -- --pods       every test file over HTTP, with a host of two pods; more words choose among them
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { clusterVariable, startTestCluster, type TestCluster } from './rig/cluster.ts'
import type { Summary } from './rig/summary-reporter.ts'
import { apart, groupsOf, ofFirstPod, overPods } from './rig/test-groups.ts'

const project = join(import.meta.dirname, '..')
/** Many tests start programs, which share compiled code. */
const compileCache = join(project, 'node_modules/.cache/tollgate-tests')
/** The files that failed in the last run; absent when more than tests failed. */
const failedFilesPath = join(project, 'node_modules/.cache/tollgate-failed-files.json')
/** More failed files than these have a cause of their own, not a busy machine. */
const mostFailedFiles = 10
const programs = join(project, 'node_modules/.bin')
const condition = '--conditions=@tollgate/source'
/** Checks every answer of the REST surface against the OpenAPI document. */
const answersChecked = `--import=${pathToFileURL(join(import.meta.dirname, 'rig/check-answers.ts'))}`

const filesAtOnce = 3
const unitLimitMs = 120_000
const apartLimitMs = 300_000
/** A group silent for much longer than its slowest test hangs after its tests. A busy machine delays even timers. */
const silenceMarginMs = 60_000
/** Far longer than a run takes on two cores that other programs share. */
const wholeRunLimitMs = 60 * 60_000

const running = new Set<ChildProcess>()
let stopped: string | null = null

/** Ends the process group of a child, with all that it started. */
function end(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The process is gone.
  }
}

function stopEverything(why: string): void {
  if (stopped !== null) return
  stopped = why
  for (const child of running) end(child)
}

/** Runs a program to its end; returns its exit code, and its output unless it was streamed. */
function run(
  program: string,
  choices: readonly string[],
  options: {
    env?: Record<string, string>
    stream?: boolean
    watch?: (child: ChildProcess) => void
  },
): Promise<{ code: number; said: string }> {
  const stream = options.stream === true
  return new Promise((resolve) => {
    const child = spawn(program, choices, {
      cwd: project,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', stream ? 'inherit' : 'pipe', stream ? 'inherit' : 'pipe'],
      detached: true,
    })
    running.add(child)
    if (stopped !== null) end(child)
    options.watch?.(child)
    const parts: string[] = []
    child.stdout?.on('data', (chunk: Buffer) => parts.push(chunk.toString()))
    child.stderr?.on('data', (chunk: Buffer) => parts.push(chunk.toString()))
    const finish = (code: number) => {
      running.delete(child)
      end(child)
      resolve({ code, said: parts.join('') })
    }
    child.once('error', (thrown) => {
      parts.push(`${program}: ${thrown.message}\n`)
      finish(1)
    })
    child.once('close', (code) => finish(code ?? 1))
  })
}

/** Checks of the sources. They run in parallel and print only failures. */
async function checkSources(): Promise<number> {
  const checks = [
    {
      name: 'generated files are current',
      steps: [
        { program: process.execPath, choices: [condition, 'test/generate/main.ts', '--check'] },
      ],
    },
    {
      name: 'documentation is current',
      steps: [{ program: process.execPath, choices: [condition, 'test/docs/main.ts', '--check'] }],
    },
    {
      name: 'types',
      steps: [
        { program: join(programs, 'tsc'), choices: ['-b'] },
        { program: join(programs, 'tsc'), choices: ['-p', 'test/tsconfig.json'] },
      ],
    },
    { name: 'style', steps: [{ program: join(programs, 'biome'), choices: ['check', '.'] }] },
  ]
  const results = await Promise.all(
    checks.map(async ({ name, steps }) => {
      const since = performance.now()
      for (const { program, choices } of steps) {
        const { code, said } = await run(program, choices, {})
        if (code !== 0) {
          console.log(`✖ ${name}\n${said.trimEnd()}\n`)
          return 1
        }
      }
      console.log(`✔ ${name} (${Math.round(performance.now() - since)} ms)`)
      return 0
    }),
  )
  return results.reduce<number>((sum, failed) => sum + failed, 0)
}

/**
 * Runs test files under Node's runner; its output is streamed, its counts come from a second
 * report.
 */
async function runTests(
  files: readonly string[],
  cluster: TestCluster,
  choices: readonly string[],
  silenceMs: number,
  more: Record<string, string> = {},
): Promise<Summary> {
  if (files.length === 0 || stopped !== null) {
    return { passed: 0, failed: 0, skipped: 0, failedFiles: [] }
  }
  const report = join(cluster.folder, `report-${randomUUID()}`)
  let hung = false
  const all = [
    condition,
    answersChecked,
    '--test',
    ...choices,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${join(import.meta.dirname, 'rig/summary-reporter.ts')}`,
    `--test-reporter-destination=${report}`,
    ...files,
  ]
  const { code } = await run(process.execPath, all, {
    stream: true,
    env: { [clusterVariable]: cluster.url, NODE_COMPILE_CACHE: compileCache, ...more },
    watch: (child) => {
      const timer = endWhenSilent(report, silenceMs, () => {
        hung = true
        end(child)
      })
      child.once('close', () => clearInterval(timer))
    },
  })
  const summary = readSummary(report)
  if (hung) {
    console.log(
      `✖ nothing happened for ${silenceMs / 1000} s: something that the tests opened (a server, a pool, a timer) keeps their process alive`,
    )
  }
  if (summary === null) {
    if (!hung && stopped === null) console.log('✖ the process of the tests ended before they did')
    return { passed: 0, failed: 1, skipped: 0, failedFiles: [] }
  }
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

async function main(filters: readonly string[]): Promise<number> {
  if (filters.includes('--failed')) return runFailed()
  if (filters.includes('--pods')) return runOverPods(filters.filter((word) => word !== '--pods'))
  const files = globSync('test/**/*.test.ts', { cwd: project, exclude: ['**/node_modules'] })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
  const chosen = files.filter(
    (file) => filters.length === 0 || filters.some((word) => file.includes(word)),
  )
  if (chosen.length === 0) {
    console.log(`no test file has ${filters.join(' or ')} in its path`)
    console.log('0 passed, 0 failed')
    return 1
  }
  const limit = setTimeout(
    () => stopEverything(`the whole run took longer than ${wholeRunLimitMs / 60_000} minutes`),
    wholeRunLimitMs,
  )
  const cluster = await startTestCluster()
  let checksFailed = 0
  const counts: Summary[] = []
  try {
    if (filters.length === 0) checksFailed = await checkSources()
    else console.log('source checks are left out: only some test files were selected')
    const inOneProcess = (files: readonly string[]) =>
      runTests(
        files,
        cluster,
        ['--test-isolation=none', `--test-timeout=${unitLimitMs}`],
        unitLimitMs + silenceMarginMs,
      )
    const alone = chosen.filter((file) => apart.test(file))
    // In parallel: those in one process compute, the separate ones mostly wait.
    const all = await Promise.all([
      ...groupsOf(chosen).map(inOneProcess),
      runTests(
        alone,
        cluster,
        [`--test-concurrency=${filesAtOnce}`, `--test-timeout=${apartLimitMs}`],
        apartLimitMs + silenceMarginMs,
      ),
      inPods(
        chosen.filter((file) => overPods.test(file)),
        cluster,
        'last',
      ),
    ])
    counts.push(...all)
  } finally {
    clearTimeout(limit)
    await cluster.stop()
  }
  return report(counts, checksFailed)
}

/** The engine of each file is the first or the last of two pods behind one host. */
const inPods = (files: readonly string[], cluster: TestCluster, place: 'first' | 'last') =>
  runTests(
    files,
    cluster,
    ['--test-concurrency=1', `--test-timeout=${apartLimitMs}`],
    apartLimitMs + silenceMarginMs,
    { TOLLGATE_TEST_PODS: place },
  )

/** Runs the files that serve an engine over HTTP, with a second pod behind each of their hosts. */
async function runOverPods(filters: readonly string[]): Promise<number> {
  const files = globSync('test/{host,flows}/**/*.test.ts', { cwd: project })
    .filter((file) => filters.length === 0 || filters.some((word) => file.includes(word)))
    .filter((file) => readFileSync(join(project, file), 'utf8').includes('startHost'))
    .sort()
  const cluster = await startTestCluster()
  try {
    const isOfFirst = (file: string) => ofFirstPod.test(file)
    const first = await inPods(files.filter(isOfFirst), cluster, 'first')
    const others = files.filter((file) => !isOfFirst(file))
    return report([first, await inPods(others, cluster, 'last')], 0)
  } finally {
    await cluster.stop()
  }
}

/** Runs the few files that failed in the last run again, alone: it may have failed because the machine was busy. */
async function runFailed(): Promise<number> {
  const files: readonly string[] = existsSync(failedFilesPath)
    ? JSON.parse(readFileSync(failedFilesPath, 'utf8'))
    : []
  if (files.length === 0 || files.length > mostFailedFiles) {
    console.log(`the last run left no list of one to ${mostFailedFiles} failed files; run npm test`)
    return 1
  }
  console.log(`failed in the last run, and run again alone: ${files.join(', ')}`)
  const cluster = await startTestCluster()
  try {
    const choices = ['--test-concurrency=1', `--test-timeout=${apartLimitMs}`]
    const again = await runTests(files, cluster, choices, apartLimitMs + silenceMarginMs)
    const overTwo = await inPods(
      files.filter((file) => overPods.test(file)),
      cluster,
      'last',
    )
    return report([again, overTwo], 0)
  } finally {
    await cluster.stop()
  }
}

/** Keeps the names of the failed files for `--failed`. Of a run that failed otherwise nothing is kept. */
function noteFailed(counts: readonly Summary[], checksFailed: number): void {
  rmSync(failedFilesPath, { force: true })
  const isKnown = counts.every((one) => one.failed === 0 || one.failedFiles.length > 0)
  if (stopped !== null || checksFailed > 0 || !isKnown) return
  const files = new Set(counts.flatMap(({ failedFiles }) => failedFiles))
  mkdirSync(dirname(failedFilesPath), { recursive: true })
  writeFileSync(failedFilesPath, JSON.stringify([...files].map((file) => relative(project, file))))
}

/** Prints the last line; the exit code is 0 only when tests ran and nothing failed. */
function report(counts: readonly Summary[], checksFailed: number): number {
  const sum = (read: (count: Summary) => number) => counts.reduce((all, one) => all + read(one), 0)
  const passed = sum((count) => count.passed)
  const failed = sum((count) => count.failed) + checksFailed
  const skipped = sum((count) => count.skipped)
  noteFailed(counts, checksFailed)
  if (stopped !== null) console.log(`✖ stopped: ${stopped}`)
  if (checksFailed > 0) console.log(`✖ ${checksFailed} source checks failed, see above`)
  if (skipped > 0) console.log(`${skipped} skipped`)
  console.log(`${passed} passed, ${failed} failed`)
  return failed > 0 || passed === 0 || stopped !== null ? 1 : 0
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stopEverything(signal))
}

process.exitCode = await main(process.argv.slice(2))
