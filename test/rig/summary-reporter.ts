import type { TestEvent } from 'node:test/reporters'

/** The last line of this reporter for a complete run. */
export interface Summary {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/**
 * A report for the program that started the tests: a dot for every sign of life, then the counts of
 * the whole run as JSON. Output of tests never gets into it.
 */
export default async function* summaryReporter(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  for await (const event of events) {
    yield '.'
    // Summaries of single files name their file, and the run's does not.
    if (event.type !== 'test:summary' || event.data.file !== undefined) continue
    const { tests, passed, skipped, todo } = event.data.counts
    const left = skipped + todo
    const summary: Summary = { passed, failed: tests - passed - left, skipped: left }
    yield `\n${JSON.stringify(summary)}\n`
  }
}
