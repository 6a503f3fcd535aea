/** Duration and deadline of one connector call, on both clocks. */
import type { Connector } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import type { AttemptContext } from './attempt-context.ts'

export type CallTime = {
  /** On the monotonic clock. */
  readonly startedMs: number
  readonly timeoutMs: number
}

/** Starts the time of a call. */
export function callTime(engine: Engine, { supports }: Connector): CallTime {
  return {
    startedMs: engine.clock.elapsedMs(),
    timeoutMs: Math.min(
      engine.connectorTimeoutMs,
      supports.limits?.timeoutMs ?? Number.POSITIVE_INFINITY,
    ),
  }
}

export function endOf(
  { clock }: Engine,
  { startedMs, timeoutMs }: CallTime,
): Pick<AttemptContext, 'deadlineMs' | 'sendByWallMs'> {
  return {
    deadlineMs: startedMs + timeoutMs,
    sendByWallMs: clock.realMs() + timeoutMs - (clock.elapsedMs() - startedMs),
  }
}
