import { systemClock } from './clock.ts'
import type { GatewayOptions, StartStage } from './gateway-options.ts'

/** Runs one stage of a start, and tells the embedding program how long it took. */
export async function timed<Result>(
  { onStage }: Pick<GatewayOptions, 'onStage'>,
  stage: StartStage,
  work: () => Promise<Result>,
): Promise<Result> {
  const begunMs = systemClock.elapsedMs()
  const result = await work()
  onStage?.(stage, systemClock.elapsedMs() - begunMs)
  return result
}
