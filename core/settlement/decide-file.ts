/**
 * From `staged` to `decided`: matches the lines of a file and stores its records. Safe to kill and to run
 * again: a record is decided once, by its key, and each commit checks the leases of all scopes.
 */
import { currencies, limits } from '@tollgate/schemas'
import type { Client } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { lowestId, newId } from '../ids.ts'
import { planReports } from '../report/stored-due.ts'
import { controlBatches, listExceptions } from './exception-entries.ts'
import { clearRun, match } from './match/match.ts'
import { allJoins, hashJoins, stagedScopes } from './match/store-work.ts'
import { runOf } from './run.ts'
import { settlementOf } from './scope.ts'
import { fileDecided, noteChanged } from './store-decided.ts'
import type { FileRow } from './store-file.ts'
import {
  addRecords,
  type Exponents,
  holdScopes,
  markDuplicates,
  type Position,
} from './store-record.ts'
import { planRetries } from './store-run.ts'
import { emptyStage } from './store-stage.ts'
import type { Held } from './stored-fence.ts'

/** Another process has taken a scope: the transaction must not commit. */
class LeaseLost extends Error {}

/** Before every record. */
export const beginning: Position = { scopeId: lowestId, key: Buffer.alloc(0) }

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
  const isMatched = await underLeases(engine, held, async (client) => {
    await match(engine, client, run)
    return true
  })
  if (isMatched !== true) return false
  await faultPoint('settlement-matched', file.id)
  for (let after: Position | null = beginning; after !== null; ) {
    const next = await addNext(engine, file, after, held)
    if (next === undefined) return false
    await faultPoint('settlement-recorded', file.id)
    after = next
  }
  return finish(engine, file, held)
}

/** One commit of records. Null: none are left. Undefined: another process holds a scope. */
async function addNext(
  engine: Engine,
  { id: runId, records }: Pick<FileRow, 'id' | 'records'>,
  after: Position,
  held: Held,
): Promise<Position | null | undefined> {
  // One more than there are, so that a short file ends with its first commit.
  const length = Math.min(limits.settlementCommitRecords, records + 1)
  const ids = Array.from({ length }, () => newId())
  return underLeases(engine, held, async (_, query) => {
    await query(hashJoins)
    const rows = await query(addRecords(runId, after, ids, exponents))
    await query(allJoins)
    const added = rows.filter(({ is_new: isNew }) => isNew).map(({ id }) => id)
    if (added.length > 0) {
      await query(markDuplicates(added, []))
      await query(planReports(held.ids))
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < length) return null
    return { scopeId: last.scope_id, key: last.key }
  })
}

async function finish(engine: Engine, file: FileRow, held: Held): Promise<boolean> {
  const isDone = await underLeases(engine, held, async (client, query) => {
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
