/**
 * Decides undecided records again: those without a match, with several readings, and composite ones. A
 * payment may have been approved meanwhile, or another record may claim it. Safe to kill and to run again.
 */
import { limits } from '@tollgate/schemas'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { planReports } from '../report/stored-due.ts'
import { fireAgain, takeTimer } from '../timer/store.ts'
import { clearFile, exponents, WorkLost } from './decide-file.ts'
import { applyEffects } from './effects.ts'
import { listExceptions } from './exception-entries.ts'
import { ScopeLeases, ScopeLost } from './leases.ts'
import { match } from './match/match.ts'
import { dropStage } from './match/store-work.ts'
import { Pace } from './pace.ts'
import { runOf } from './run.ts'
import { settlementOf } from './scope.ts'
import { Steps } from './steps.ts'
import { planEffects } from './store-effect.ts'
import { markDuplicates, redecideRecords, retryGuesses, unmarkUnmatched } from './store-record.ts'
import { endRetries, filesOfRun, planRetries, scopesById, stageUndecided } from './store-run.ts'
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
  const steps = new Steps(engine, () => held, new Pace(engine, scope.clock_id !== null))
  try {
    await stageAll(steps, runId, scopeId)
    const { length } = await match(steps, run)
    await faultPoint('settlement-matched', runId)
    for (let after = 0; after < length; after += limits.settlementCommitRecords) {
      await redecideNext(
        steps,
        runId,
        after,
        Math.min(limits.settlementCommitRecords, length - after),
      )
      await faultPoint('settlement-recorded', runId)
    }
    const files = await steps.read(filesOfRun(runId))
    for (const file of files) {
      await steps.write((_, client) => listExceptions(engine, client, file))
    }
    return true
  } catch (thrown) {
    if (thrown instanceof ScopeLost) return false
    throw thrown
  } finally {
    // Otherwise the next run clears what is left.
    await clearFile(steps, runId).catch((thrown: unknown) => {
      if (!(thrown instanceof ScopeLost)) throw thrown
    })
  }
}

/** Stages the undecided records of a scope. */
async function stageAll(steps: Steps, runId: string, scopeId: string): Promise<void> {
  const limit: number = limits.settlementCommitRecords
  for (let ended = limit; ended >= limit; ) {
    ended = (await steps.write((query) => query(endRetries(scopeId, limit)))).length
  }
  await steps.drop([(most) => dropStage(runId, most)])
  let after: Buffer | null = null
  for (let staged = 0, lines = limit; lines >= limit; staged += lines) {
    const page: Sql<{ lines: number; last: Buffer | null }> = stageUndecided(
      runId,
      scopeId,
      after,
      staged,
      limit,
    )
    const [next] = await steps.work((query) => query(page))
    lines = next!.lines
    after = next!.last
  }
}

async function redecideNext(
  steps: Steps,
  runId: string,
  after: number,
  size: number,
): Promise<void> {
  await steps.write(async (query) => {
    const rows = await query(redecideRecords(runId, after, size, exponents))
    if (rows.length < size) throw new WorkLost(runId)
    const ids = rows.map(({ id }) => id)
    await query(markDuplicates(ids, rows[0]!.was))
    await query(unmarkUnmatched(ids))
    await query(retryGuesses(ids))
    await query(planReports(steps.held.ids))
  })
}
