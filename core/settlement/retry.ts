/**
 * Decides undecided records again: those without a match, with several readings, and composite ones. A
 * payment may have been approved meanwhile, or another record may claim it. Safe to kill and to run again.
 */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { planReports } from '../report/stored-due.ts'
import { fireAgain, takeTimer } from '../timer/store.ts'
import { exponents, underLeases, WorkLost } from './decide-file.ts'
import { applyEffects } from './effects.ts'
import { listExceptions } from './exception-entries.ts'
import { ScopeLeases } from './leases.ts'
import { clearRun, match } from './match/match.ts'
import { runOf } from './run.ts'
import { settlementOf } from './scope.ts'
import { planEffects } from './store-effect.ts'
import { markDuplicates, redecideRecords, retryGuesses, unmarkUnmatched } from './store-record.ts'
import { endRetries, filesOfRun, planRetries, scopesById, stageUndecided } from './store-run.ts'
import { emptyStage } from './store-stage.ts'
import type { Held } from './stored-fence.ts'

/** How far a retry looks: `all` also finds payments far outside of the time of a record. */
export type Reach = 'near' | 'all'

/** Names the timer of a scope's retry: its id, and `all` of a rerun. */
const refOf = (scopeId: string, reach: Reach): string =>
  reach === 'all' ? `${scopeId} all` : scopeId

/** The retry that a timer is for. */
export function retryOf(ref: string): { readonly scopeId: string; readonly reach: Reach } {
  const [scopeId = '', reach] = ref.split(' ')
  return { scopeId, reach: reach === 'all' ? 'all' : 'near' }
}

/** Carries out a timer. While another process holds the scope, the timer fires again at once. */
export async function retryScope(engine: Engine, scopeId: string, reach: Reach): Promise<void> {
  const leases = await ScopeLeases.take(engine, [scopeId])
  if (leases === undefined) {
    await engine.lanes.single(fireAgain('settlement-retry', refOf(scopeId, reach)))
    return
  }
  try {
    if (!(await decideAgain(engine, scopeId, leases.held, reach === 'all'))) return
    await engine.lanes.together(takeTimer('settlement-retry', refOf(scopeId, reach)), [
      planRetries([scopeId], limits.settlementAgainMs),
      planEffects([scopeId], 0),
    ])
  } finally {
    await leases.end()
  }
}

/** Carries out what waits in a scope. While another process holds it, the timer fires again at once. */
export async function applyLater(engine: Engine, scopeId: string): Promise<void> {
  const leases = await ScopeLeases.take(engine, [scopeId])
  if (leases === undefined) {
    await engine.lanes.single(fireAgain('settlement-effect', scopeId))
    return
  }
  const endMs = engine.clock.elapsedMs() + limits.settlementSliceMs
  try {
    await applyEffects(engine, [scopeId], () => engine.clock.elapsedMs() > endMs)
    await engine.lanes.together(takeTimer('settlement-effect', scopeId), [
      planEffects([scopeId], limits.settlementEffectMs),
      planReports([scopeId]),
    ])
  } finally {
    await leases.end()
  }
}

/**
 * @param isAnyTime Also looks for payments far outside of the time of a record: for reruns by an operator.
 * @returns false: another process holds the scope.
 */
export async function decideAgain(
  engine: Engine,
  scopeId: string,
  held: Held,
  isAnyTime = false,
): Promise<boolean> {
  const [scope] = await engine.lanes.upkeep(scopesById([scopeId]))
  if (scope === undefined) throw new Error(`there is no settlement scope ${scopeId}`)
  const settlement = settlementOf(engine, scope.connector)
  // The lease of the scope excludes a second run, and a run that died is cleared by the next one.
  const runId = scopeId
  const over = isAnyTime ? 'again-all' : 'again'
  const run = await runOf(engine, { id: runId, scopes: [scopeId], over }, scope, settlement)
  try {
    const length = await underLeases(engine, held, async (client, query) => {
      await query(endRetries(scopeId))
      await query(emptyStage(runId))
      await query(stageUndecided(runId, scopeId))
      return match(engine, client, run)
    })
    if (length === undefined) return false
    await faultPoint('settlement-matched', runId)
    for (let after = 0; after < length; after += limits.settlementCommitRecords) {
      if (!(await redecideNext(engine, runId, after, held))) return false
      await faultPoint('settlement-recorded', runId)
    }
    const isListed = await underLeases(engine, held, async (client, query) => {
      for (const file of await query(filesOfRun(runId))) await listExceptions(engine, client, file)
      return true
    })
    return isListed === true
  } finally {
    await engine.lanes.bulk(async (client) => {
      await clearRun(engine.lanes, client, runId)
      await engine.lanes.database.query(client, emptyStage(runId))
    })
  }
}

/** @returns false: another process holds the scope. */
async function redecideNext(
  engine: Engine,
  runId: string,
  after: number,
  held: Held,
): Promise<boolean> {
  const limit = limits.settlementCommitRecords
  const isDone = await underLeases(engine, held, async (_, query) => {
    const rows = await query(redecideRecords(runId, after, limit, exponents))
    if (rows.length === 0) throw new WorkLost(runId)
    const ids = rows.map(({ id }) => id)
    await query(markDuplicates(ids, rows[0]!.was))
    await query(unmarkUnmatched(ids))
    await query(retryGuesses(ids))
    await query(planReports(held.ids))
    return true
  })
  return isDone === true
}
