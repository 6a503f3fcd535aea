/**
 * From `staged` to `decided`: matches the lines of a file and stores its records. Safe to kill and to run
 * again: a record is decided once, by its key, and each commit checks the leases of all scopes.
 */
import { currencies, limits } from '@tollgate/schemas'
import type { Client } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { planReports } from '../report/stored-due.ts'
import { controlBatches, listExceptions } from './exception-entries.ts'
import { clearRun, match } from './match/match.ts'
import { stagedScopes } from './match/store-work.ts'
import { runOf } from './run.ts'
import { settlementOf } from './scope.ts'
import { fileDecided, noteChanged } from './store-decided.ts'
import type { FileRow } from './store-file.ts'
import {
  addRecords,
  type Exponents,
  holdScopes,
  markDuplicates,
  retryGuesses,
} from './store-record.ts'
import { planRetries } from './store-run.ts'
import { emptyStage, stagedLines } from './store-stage.ts'
import type { Held } from './stored-fence.ts'

/** Another process has taken a scope: the transaction must not commit. */
class LeaseLost extends Error {}

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
 * Runs `work` in one transaction under the leases.
 *
 * @returns undefined without the leases: nothing was written.
 */
export async function underLeases<T>(
  { lanes }: Pick<Engine, 'lanes'>,
  held: Held,
  work: (client: Client, query: <Row>(statement: Sql<Row>) => Promise<Row[]>) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await lanes.bulk(async (client) => {
      const query = <Row>(statement: Sql<Row>) => lanes.database.query(client, statement)
      const [holds] = await query(holdScopes(held, limits.settlementLeaseMs))
      if (holds === undefined) throw new LeaseLost('another process holds a scope')
      return work(client, query)
    })
  } catch (thrown) {
    if (thrown instanceof LeaseLost) return undefined
    throw thrown
  }
}

/**
 * Decides a staged file. The leases of all scopes that its lines name must be held.
 *
 * @returns whether the file has a new state; false: another process holds a scope.
 */
export async function decideFile(engine: Engine, file: FileRow, held: Held): Promise<boolean> {
  const scopes = (await engine.lanes.upkeep(stagedScopes(file.id))).map(({ scope_id: id }) => id)
  if (scopes.some((id) => !held.ids.includes(id))) {
    throw new Error(`file ${file.id} has lines of a scope whose lease is not held`)
  }
  const settlement = settlementOf(engine, file.connector)
  const run = await runOf(engine, { id: file.id, scopes, over: 'new' }, file, settlement)
  const length = await underLeases(engine, held, (client) => match(engine, client, run))
  if (length === undefined) return false
  await faultPoint('settlement-matched', file.id)
  for (let after = 0; after < length; after += limits.settlementCommitRecords) {
    const size = Math.min(limits.settlementCommitRecords, length - after)
    if (!(await addNext(engine, file.id, { after, size }, held))) return false
    await faultPoint('settlement-recorded', file.id)
  }
  return finish(engine, file, held)
}

/** One commit of records. @returns false: another process holds a scope. */
async function addNext(
  engine: Engine,
  runId: string,
  { after, size }: { readonly after: number; readonly size: number },
  held: Held,
): Promise<boolean> {
  const ids = Array.from({ length: size }, () => newId())
  const isDone = await underLeases(engine, held, async (_, query) => {
    const rows = await query(addRecords(runId, after, ids, exponents))
    if (rows.length < size) throw new WorkLost(runId)
    const added = rows.filter(({ is_new: isNew }) => isNew).map(({ id }) => id)
    if (added.length > 0) {
      await query(markDuplicates(added, []))
      await query(retryGuesses(added))
      await query(planReports(held.ids))
    }
    return true
  })
  return isDone === true
}

async function finish(engine: Engine, file: FileRow, held: Held): Promise<boolean> {
  const isDone = await underLeases(engine, held, async (client, query) => {
    const [staged] = await query(stagedLines(file.id))
    if ((staged?.lines ?? 0) < file.records) throw new WorkLost(file.id)
    await query(noteChanged(file.id))
    await controlBatches(engine, client, file)
    await listExceptions(engine, client, file)
    await query(planRetries(held.ids, limits.settlementAgainMs))
    const moved = await query(fileDecided(file.id, held))
    await clearRun(engine.lanes, client, file.id)
    await query(emptyStage(file.id))
    await query(planReports(held.ids))
    return moved.length > 0
  })
  await faultPoint('settlement-decided', file.id)
  return isDone === true
}
