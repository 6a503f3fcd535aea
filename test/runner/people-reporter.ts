import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import { root } from '../rig/sources.ts'
import { failures } from './failures.ts'

/** For people: a line for each file, and each failed test in full. */
export default async function* peopleReporter(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  let current = ''
  let tests = 0
  let ms = 0
  let hasFailed = false
  const failureOf = failures()
  const line = () =>
    current === ''
      ? ''
      : `${hasFailed ? '✖' : '✔'} ${current} (${tests} tests, ${(ms / 1000).toFixed(1)} s)\n`
  for await (const event of events) {
    const failure = failureOf(event)
    if (event.type === 'test:stdout' || event.type === 'test:stderr') yield event.data.message
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { file = '', nesting, details } = event.data
    const shown = relative(root, file)
    if (shown !== current) {
      yield line()
      current = shown
      tests = 0
      ms = 0
      hasFailed = false
    }
    if (details.type !== 'suite') tests += 1
    if (nesting === 0) ms += details.duration_ms
    if (event.type === 'test:fail') hasFailed = true
    if (failure === null) continue
    const error = inspect(failure.error, { depth: 6 }).replaceAll(/^/gm, '    ')
    yield `✖ ${failure.path}\n${error}\n`
  }
  yield line()
}
