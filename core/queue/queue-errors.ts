/** What pg-boss says of its own work: the database was away, or something is wrong. */
import type { Log } from '@tollgate/plugin-kit'
import { programReason } from '../redaction/program-error.ts'

/** On errors of a database that is away. pg-boss copies the members of an error, but not its class. */
export const unavailableSign: unique symbol = Symbol('unavailable')

type Told = {
  readonly name?: unknown
  readonly code?: unknown
  readonly queue?: unknown
  readonly [unavailableSign]?: true
}

/** Outages have lines of their own. Messages of Postgres may hold values of a job: its code says what happened. */
export function tellQueueError(log: Log, error: unknown): void {
  const told: Told = typeof error === 'object' && error !== null ? error : {}
  if (told[unavailableSign] === true) return
  const { name, code, queue } = told
  log.warn(
    {
      error: typeof name === 'string' ? name.slice(0, 100) : 'error',
      ...(typeof code === 'string' && { code: code.slice(0, 100) }),
      ...(typeof queue === 'string' && { job: queue }),
      ...programReason(error),
    },
    'the job queue had an error',
  )
}
