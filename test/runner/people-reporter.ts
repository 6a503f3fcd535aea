import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'
import { root } from '../rig/sources.ts'

/** For people: a line for each file, and each failed test in full. */
export default async function* peopleReporter(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  let current = ''
  let tests = 0
  let ms = 0
  let failures = 0
  /** Names of the suites around the present test. */
  const around: string[] = []
  const line = () =>
    current === ''
      ? ''
      : `${failures === 0 ? '✔' : '✖'} ${current} (${tests} tests, ${(ms / 1000).toFixed(1)} s)\n`
  for await (const event of events) {
    if (event.type === 'test:start') around[event.data.nesting] = event.data.name
    if (event.type === 'test:stdout' || event.type === 'test:stderr') yield event.data.message
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue
    const { file = '', nesting, name, details } = event.data
    const shown = relative(root, file)
    if (shown !== current) {
      yield line()
      current = shown
      tests = 0
      ms = 0
      failures = 0
    }
    if (details.type !== 'suite') tests += 1
    if (nesting === 0) ms += details.duration_ms
    if (event.type !== 'test:fail') continue
    failures += 1
    const { error } = event.data.details
    // A suite fails with its tests, which were told.
    if ('failureType' in error && error.failureType === 'subtestsFailed') continue
    const path = [shown, ...around.slice(0, nesting), name].join(' › ')
    yield `✖ ${path}\n${inspect(error.cause ?? error, { depth: 6 }).replaceAll(/^/gm, '    ')}\n`
  }
  yield line()
}
