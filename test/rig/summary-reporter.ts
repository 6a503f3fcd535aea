import type { TestEvent } from 'node:test/reporters'

/** The last line of this reporter for a complete run. */
export interface Summary {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Files with a failed test. */
  readonly failedFiles: readonly string[]
}

/**
 * A report for the program that started the tests: a dot for every sign of life, then the counts of
 * the whole run as JSON. Output of tests never gets into it.
 */
export default async function* summaryReporter(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  const failedFiles = new Set<string>()
  for await (const event of events) {
    yield '.'
    if (event.type === 'test:fail' && event.data.file !== undefined) {
      failedFiles.add(event.data.file)
    }
    // Summaries of single files name their file, and the run's does not.
    if (event.type !== 'test:summary' || event.data.file !== undefined) continue
    const { tests, passed, skipped, todo } = event.data.counts
    const left = skipped + todo
    const failed = tests - passed - left
    const summary: Summary = { passed, failed, skipped: left, failedFiles: [...failedFiles] }
    yield `\n${JSON.stringify(summary)}\n`
  }
}
