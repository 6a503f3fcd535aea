import type { Engine } from '../engine.ts'
import type { QueuedJob } from '../queue/types.ts'

/** The arguments of the engine's own jobs. */
export type JobDefinition<Payload extends object> = QueuedJob<Payload> & {
  /** @param signal ends with the time of the job, after which its place belongs to another one. */
  run(payload: Payload, engine: Engine, signal?: AbortSignal): Promise<void>
  /** Why one merchant cannot take the whole room of a job without groups. */
  readonly sharedBecause?: string
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

/** Whose work a job does. Jobs of an earlier version do not say it. */
export type OfMerchant = { readonly merchantId?: string }

/** The group of jobs of one merchant: however many there are, the others have room. */
export const groupOfMerchant = ({ merchantId }: OfMerchant): string | undefined => merchantId

/** For work with an acquirer: timers repeat the work after the last retry. */
export const outsideCall = { limit: 3, delaySeconds: 2 } as const
