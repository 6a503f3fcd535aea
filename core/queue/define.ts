import type { Engine } from '../engine.ts'

/** What the engine's own jobs get. Payloads hold ids, and the name of the connector that the work waits for. */
export type JobDefinition<Payload extends object> = {
  readonly name: string
  /** Tries after the first, and the pause before each, doubling. */
  readonly retry: { readonly limit: number; readonly delaySeconds: number }
  /** How many run at once in one process. */
  readonly concurrency: number
  /** At most one job of a key is queued or running. */
  readonly keyOf: (payload: Payload) => string
  /** Jobs of one group share a limit, so that nobody's mass keeps the others waiting. */
  readonly groupOf?: (payload: Payload) => string | undefined
  /** How many jobs of one group run at once in one process. */
  readonly concurrencyOfGroup?: number
  run(payload: Payload, engine: Engine): Promise<void>
}

/** One job = one file; its first comment says why running it twice is safe. */
export function defineJob<Payload extends object>(
  definition: JobDefinition<Payload>,
): JobDefinition<Payload> {
  return definition
}

/** The group of work that waits for one connector: an acquirer that hangs keeps some of the workers and never all. */
export function groupOfConnector(connector: string | null | undefined): string | undefined {
  return connector == null ? undefined : `connector ${connector}`
}

/** For work that talks to an acquirer: the timers come back to what the retries did not finish. */
export const outsideCall = { limit: 3, delaySeconds: 2 } as const
