/**
 * From `staged` to `decided`: matches the lines of a file and stores its records. Safe to kill and to run
 * again: a record is decided once, by its key, and each commit checks the leases of all scopes. The next run
 * leaves out the lines that are records, and decides the others anew.
 */
import { currencies, limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { planReports } from '../report/stored-due.ts'
import { controlBatches, listExceptions } from './exception-entries.ts'
import { ScopeLost } from './leases.ts'
import { clearRun, match } from './match/match.ts'
import { dropStage, stagedScopes } from './match/store-work.ts'
import { Pace } from './pace.ts'
import { runOf } from './run.ts'
import { settlementOf } from './scope.ts'
import { Steps } from './steps.ts'
import { fileDecided, noteChanged } from './store-decided.ts'
import type { FileRow } from './store-file.ts'
import { addRecords, type Exponents, markDuplicates, retryGuesses } from './store-record.ts'
import { planRetries } from './store-run.ts'
import { wholeStage } from './store-stage.ts'
import type { Held } from './stored-fence.ts'

/** A crash of the database server empties tables that are not logged. The job begins again. */
export class WorkLost extends Error {
  constructor(runId: string) {
    super(`the database server lost the staged lines of run ${runId}: the run begins again`)
  }
}

export const exponents: Exponents = (() => {
  const known = currencies.flatMap(([code, , exponent]) =>
    exponent === null ? [] : [{ code, exponent }],
  )
  return {
    codes: known.map(({ code }) => code),
    exponents: known.map(({ exponent }) => exponent),
  }
})()

/**
 * Decides a staged file. The leases of all scopes that its lines name must be held.
 *
 * @returns whether the file has a new state; false: another process holds a scope, or this one closes.
 */
export async function decideFile(engine: Engine, file: FileRow, held: Held): Promise<boolean> {
  const steps = new Steps(engine, () => held, new Pace(engine, file.clock_id !== null))
  try {
    await decideLines(engine, steps, file)
    return true
  } catch (thrown) {
    if (thrown instanceof ScopeLost) return false
    throw thrown
  }
}

async function decideLines(engine: Engine, steps: Steps, file: FileRow): Promise<void> {
  const scopes = (await steps.read(stagedScopes(file.id))).map(({ scope_id: id }) => id)
  if (scopes.some((id) => !steps.held.ids.includes(id))) {
    throw new Error(`file ${file.id} has lines of a scope whose lease is not held`)
  }
  const settlement = settlementOf(engine, file.connector)
  const run = await runOf(engine, { id: file.id, scopes, over: 'new' }, file, settlement)
  const { length, surplus } = await match(steps, run)
  await faultPoint('settlement-matched', file.id)
  for (let after = 0; after < length; after += limits.settlementCommitRecords) {
    await addNext(steps, file.id, after, Math.min(limits.settlementCommitRecords, length - after))
    await faultPoint('settlement-recorded', file.id)
  }
  // Lines with the key of another line of this file: its record is there now.
  for (let at = 0; at < surplus.length; at += limits.settlementCommitRecords) {
    const lines = surplus.slice(at, at + limits.settlementCommitRecords)
    await steps.write(async (query) => {
      await query(noteChanged(file.id, lines))
      await query(planReports(steps.held.ids))
    })
  }
  await controlBatches(steps, file)
  await end(engine, steps, file)
  await faultPoint('settlement-decided', file.id)
  await clearFile(steps, file.id)
}

/** One commit of records. */
async function addNext(steps: Steps, runId: string, after: number, size: number): Promise<void> {
  const ids = Array.from({ length: size }, () => newId())
  await steps.write(async (query) => {
    const rows = await query(addRecords(runId, after, ids, exponents))
    if (rows.length < size) throw new WorkLost(runId)
    const added = rows.filter(({ is_new: isNew }) => isNew).map(({ id }) => id)
    if (added.length === 0) return
    await query(markDuplicates(added, []))
    await query(retryGuesses(added))
    await query(planReports(steps.held.ids))
  })
}

async function end(engine: Engine, steps: Steps, file: FileRow): Promise<void> {
  await steps.write(async (query, client) => {
    // Lines that were lost before their window are no records, and nothing else says so.
    if ((await query(wholeStage(file.id))).length === 0) throw new WorkLost(file.id)
    await listExceptions(engine, client, file)
    await query(planRetries(steps.held.ids, limits.settlementAgainMs))
    const moved = await query(fileDecided(file.id, steps.held))
    await query(planReports(steps.held.ids))
    if (moved.length === 0) throw new ScopeLost('another process took over')
  })
}

/** Removes the lines of a decided file, and what its run wrote. A process that died before left them. */
export async function clearFile(steps: Steps, fileId: string): Promise<void> {
  await clearRun(steps, fileId)
  await steps.drop([(limit) => dropStage(fileId, limit)])
}
