import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { root } from '../rig/sources.ts'
import { failures } from './failures.ts'

/** The last line of this reporter for a complete run. */
export interface Summary {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Files with a failed test. */
  readonly failedFiles: readonly string[]
  /** A line for each failed test. */
  readonly failures: readonly string[]
  /** Seconds of each test file. */
  readonly times: Readonly<Record<string, number>>
}

/**
 * A report for the program that started the tests: a dot for every sign of life, then the counts of
 * the whole run as JSON. Output of tests never gets into it.
 */
export default async function* summaryReporter(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  const failedFiles = new Set<string>()
  const lines: string[] = []
  const failureOf = failures()
  const times: Record<string, number> = {}
  for await (const event of events) {
    yield '.'
    const failure = failureOf(event)
    if (failure !== null) lines.push(`${failure.path}: ${firstLine(failure.error)}`)
    if (event.type === 'test:pass' || event.type === 'test:fail') {
      const { file = '', nesting, details } = event.data
      const name = relative(root, file)
      if (event.type === 'test:fail') failedFiles.add(name)
      if (nesting === 0) times[name] = (times[name] ?? 0) + details.duration_ms / 1000
    }
    // Summaries of single files name their file, and the run's does not.
    if (event.type !== 'test:summary' || event.data.file !== undefined) continue
    const { tests, passed, skipped, todo } = event.data.counts
    const left = skipped + todo
    const failed = tests - passed - left
    const counts = { passed, failed, skipped: left }
    const summary: Summary = { ...counts, failedFiles: [...failedFiles], failures: lines, times }
    yield `\n${JSON.stringify(summary)}\n`
  }
}

const firstLine = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0]
