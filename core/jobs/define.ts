import type { Engine } from '../engine.ts'
import type { QueuedJob } from '../queue/types.ts'

/** The arguments of the engine's own jobs. */
export type JobDefinition<Payload extends object> = QueuedJob<Payload> & {
  run(payload: Payload, engine: Engine): Promise<void>
}

/** One job = one file; its first comment says why running it twice is safe. */
export function defineJob<Payload extends object>(
  definition: JobDefinition<Payload>,
): JobDefinition<Payload> {
  return definition
}

/** The group of jobs at one connector: an acquirer that hangs never occupies all workers. */
export function groupOfConnector(connector: string | null | undefined): string | undefined {
  return connector == null ? undefined : `connector ${connector}`
}

/** For work with an acquirer: timers repeat the work after the last retry. */
export const outsideCall = { limit: 3, delaySeconds: 2 } as const
