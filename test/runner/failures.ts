import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { root } from '../rig/sources.ts'

/** A failed test: where it stands, and its error. */
export interface Failure {
  /** File, suites and test, with arrows between. */
  readonly path: string
  readonly error: unknown
}

/** Reads failed tests out of a run's events; a suite that fails with its tests is none. */
export function failures(): (event: TestEvent) => Failure | null {
  /** Names of the suites around the present test. */
  const around: string[] = []
  return (event) => {
    if (event.type === 'test:start') around[event.data.nesting] = event.data.name
    if (event.type !== 'test:fail') return null
    const { file = '', nesting, name, details } = event.data
    const { error } = details
    if ('failureType' in error && error.failureType === 'subtestsFailed') return null
    const path = [relative(root, file), ...around.slice(0, nesting), name].join(' › ')
    return { path, error: error.cause ?? error }
  }
}
