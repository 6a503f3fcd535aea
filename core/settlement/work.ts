/** Works on the files of one scope, one at a time, in the order of their arrival. */
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { planReports } from '../report/stored-due.ts'
import { clearFile, decideFile } from './decide-file.ts'
import { applyEffects } from './effects.ts'
import { ScopesBusy, stageAgain, takeIn } from './intake.ts'
import { ScopeLeases, ScopeLost } from './leases.ts'
import { listStuck } from './listed.ts'
import { Pace } from './pace.ts'
import { Steps } from './steps.ts'
import { planEffects } from './store-effect.ts'
import { type FileRow, fileDone, nameScopes, nextFile, noteTry, postpone } from './store-file.ts'

/** Ends when no file is due, another process holds a scope, or the time of the slice is over. */
export async function workOnScope(engine: Engine, scopeId: string): Promise<void> {
  const endMs = engine.clock.elapsedMs() + limits.settlementSliceMs
  do {
    const [file] = await engine.lanes.upkeep(nextFile(scopeId))
    if (file?.is_due !== true || !(await stepUnderLeases(engine, file))) return
  } while (engine.clock.elapsedMs() < endMs)
}

/** Pause before the next look at a scope that another process works on. */
const heldMs = 50

/**
 * The same until no file of the scope is due, also where another process has the scope: a test clock must not move on
 * before. Leaves the scope to others after the lease of a dead process, and when this process ends.
 */
export async function finishScope(engine: Engine, scopeId: string): Promise<void> {
  const endMs = engine.clock.elapsedMs() + limits.settlementLeaseMs
  for (;;) {
    await workOnScope(engine, scopeId)
    const [file] = await engine.lanes.upkeep(nextFile(scopeId))
    if (file?.is_due !== true || engine.inFlight.over) return
    if (engine.clock.elapsedMs() >= endMs) return
    await pause(heldMs)
  }
}

/** @returns whether the file made a step. */
async function stepUnderLeases(engine: Engine, file: FileRow): Promise<boolean> {
  const ids = [...new Set([file.scope_id, ...file.scope_ids])].sort()
  const leases = await ScopeLeases.take(engine, ids)
  if (leases === undefined) {
    if (ids.length > 1) await engine.lanes.single(postpone(file.id, limits.settlementWaitMs))
    return false
  }
  try {
    await faultPoint('settlement-leased', file.id)
    await nextStep(engine, file, leases)
    return true
  } catch (thrown) {
    await noteFailure(engine, file, thrown)
    return false
  } finally {
    await leases.end()
  }
}

/** The step of each state. A state without a step here is not open in `store-file.ts`. */
async function nextStep(engine: Engine, file: FileRow, leases: ScopeLeases): Promise<void> {
  switch (file.state) {
    case 'arrived':
      return takeIn(engine, file, leases)
    case 'staged':
      await stageAgain(engine, file, leases)
      if (!(await decideFile(engine, file, leases.held))) {
        throw new ScopeLost('another process took over')
      }
      return
    case 'decided':
      return takeEffect(engine, file, leases)
  }
}

/** Records that have to wait do not hold the file up: the timer of their scope continues. */
async function takeEffect(engine: Engine, file: FileRow, { held }: ScopeLeases): Promise<void> {
  const { lanes } = engine
  await clearFile(new Steps(engine, () => held, new Pace(engine, file.clock_id !== null)), file.id)
  await applyEffects(engine, held.ids)
  const ended = await lanes.together(fileDone(held, limits.settlementLeaseMs, file.id), [
    planEffects(held.ids, limits.settlementEffectMs),
    planReports(held.ids),
  ])
  if (ended.length === 0) throw new ScopeLost('another process took over')
  await faultPoint('settlement-done', file.id)
}

async function noteFailure(engine: Engine, file: FileRow, thrown: unknown): Promise<void> {
  const { lanes, log } = engine
  if (thrown instanceof ScopeLost) return
  if (thrown instanceof ScopesBusy) {
    await lanes.single(nameScopes(file.id, thrown.scopeIds, limits.settlementWaitMs))
    return
  }
  const name = thrown instanceof Error ? thrown.name : 'unknown'
  log.warn(
    { file: file.id, state: file.state, error: name },
    'a settlement file will be tried again',
  )
  const { first, longest } = limits.settlementRetryMs
  const [noted] = await lanes.upkeep(noteTry(file.id, first, longest))
  if ((noted?.tries ?? 0) < limits.settlementTries) return
  await lanes.single(listStuck(file, noted!.tries, name))
}
