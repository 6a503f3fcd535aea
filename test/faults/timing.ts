/** When the faults of a run happen: each at its time, missed ones again, the last once the merchants are done. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Done, inject, type Scene } from './injections.ts'
import type { Shops } from './merchants.ts'
import type { Planned } from './plan.ts'
import { kindOf } from './report.ts'

/** Carries out each injection at its time, and repeats missed ones at the end. */
export async function follow(
  scene: Scene,
  plan: readonly Planned[],
  startedMs: number,
  forMs: number,
  isComplete: boolean,
  told: (done: readonly Done[]) => void,
): Promise<Done[]> {
  const injected: Done[] = []
  const running: Promise<void>[] = []
  for (const planned of plan) {
    await pause(Math.max(0, startedMs + planned.atMs - performance.now()))
    running.push(
      inject(scene, planned).then((done) => {
        injected.push(done)
        told(injected)
      }),
    )
  }
  await Promise.all(running)
  while (performance.now() < startedMs + forMs) {
    const next = isComplete ? missing(injected)[0] : undefined
    if (next === undefined) break
    injected.push(await inject(scene, next))
  }
  await pause(Math.max(0, startedMs + forMs - performance.now()))
  return injected.toSorted((one, other) => one.planned.no - other.planned.no)
}

/** Files wait while payments come in, and are worked on afterwards, one after the other. */
export const filesWithinMs = 900_000
const makeUpTries = 5
/** Merchants of the payments that a made-up fault needs, and how long they pay. */
export const few = 4
const fewPayMs = 2_000

/**
 * Work on settlement files and events rests beside payments, so hosts die there once the merchants are done and the
 * run's files are settled. A few payments then make the next file a small one.
 */
export async function makeUp(
  scene: Scene,
  injected: Done[],
  open: (no: number) => Shops,
): Promise<void> {
  if (missing(injected).length > 0) {
    // Files that still wait are waited for once more when the run has become quiet.
    await scene.settlements.done(filesWithinMs).catch(() => undefined)
  }
  let no = 0
  for (let tries = 0; tries < makeUpTries; tries += 1) {
    for (const planned of missing(injected)) {
      const shops = open(no)
      no += 1
      await pause(fewPayMs)
      await shops.stop()
      injected.push(await inject(scene, planned))
    }
  }
  await scene.crew.allPresent()
}

/** The least attempted injection of each kind that never occurred. */
function missing(injected: readonly Done[]): Planned[] {
  const done = new Set(
    injected
      .filter(({ result }) => result === 'done')
      .map(({ planned }) => kindOf(planned.injection)),
  )
  const missed = injected.filter(({ planned }) => !done.has(kindOf(planned.injection)))
  const tries = Map.groupBy(missed, ({ planned }) => kindOf(planned.injection))
  return [...tries.values()]
    .toSorted((one, other) => one.length - other.length)
    .map(([first]) => first!.planned)
}
