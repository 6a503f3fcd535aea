import type { TestEvent } from 'node:test/reporters'

/** What this reporter writes as its last line when a run came to its end. */
export interface Summary {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/**
 * A report for the program that started the tests: a dot for every sign of life, then the counts of
 * the whole run as JSON. What tests print never gets into it.
 */
export default async function* summaryReporter(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  for await (const event of events) {
    yield '.'
    // Summaries of single files name their file; the one of the run does not.
    if (event.type !== 'test:summary' || event.data.file !== undefined) continue
    const { tests, passed, skipped, todo } = event.data.counts
    const left = skipped + todo
    const summary: Summary = { passed, failed: tests - passed - left, skipped: left }
    yield `\n${JSON.stringify(summary)}\n`
  }
}
