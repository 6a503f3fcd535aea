/**
 * After a failover, everything that could send again what a lost commit has sent waits: first, the processes restore
 * what they remember. The time is the same for all processes, also for those that remember nothing.
 */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { isRestoring } from '../process/store-restoration.ts'

const underWay = new WeakMap<Engine, number>()

/** Whether this process restores outcomes now. */
export const restores = (engine: Engine): boolean => (underWay.get(engine) ?? 0) > 0

/** Runs a restoration. From the call on, `restores` says so. */
export async function restoring<T>(engine: Engine, work: () => Promise<T>): Promise<T> {
  underWay.set(engine, (underWay.get(engine) ?? 0) + 1)
  try {
    return await work()
  } finally {
    underWay.set(engine, (underWay.get(engine) ?? 1) - 1)
  }
}

/** @returns true when it waited, so that what was read before is read again. */
export async function waitForRestoration(engine: Engine): Promise<boolean> {
  let waited = false
  for (;;) {
    const [row] = await engine.lanes.single(isRestoring)
    if (row?.is !== true && !restores(engine)) return waited
    if (engine.inFlight.closing) throw new Error('the process ends before a failover is over')
    waited = true
    await new Promise((resume) => setTimeout(resume, limits.referencePauseMs))
  }
}
