/**
 * Takes an arrived file in: checks every line and the trailer, and stages the records. A file that is cut
 * off or cannot be read is refused as a whole. Each outcome is one commit under the leases of all scopes
 * that the file names, so a run that dies leaves nothing, and the next run begins anew.
 */
import { limits } from '@tollgate/schemas'
import type { Client } from '../db/database.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { referenceDigest } from '../vault/reference-digest.ts'
import { type ScopeLeases, ScopeLost } from './leases.ts'
import { endListed, listChanged, listExceptions, listRefused } from './listed.ts'
import { allJoins, hashJoins } from './match/store-work.ts'
import { type ReadFile, Refusal, readFile } from './read-file.ts'
import { merchantsOfFile, settlementOf } from './scope.ts'
import { ScopeBook } from './scope-book.ts'
import { readBytes } from './sealed-file.ts'
import { StageCopy } from './stage-copy.ts'
import { acceptedAs, acceptedWith, type FileRow, noteRepeat, refuseFile } from './store-file.ts'
import {
  acceptFile,
  addBatchLines,
  addExceptions,
  changedBatchLines,
  dropExceptions,
  type PlacedBatchLine,
  repeatedBatchLines,
} from './store-intake.ts'
import {
  addedLines,
  emptyStage,
  joinCorrected,
  numberTwins,
  repeatedLines,
  stagedLines,
} from './store-stage.ts'

/** Other processes hold scopes that the file names. */
export class ScopesBusy extends Error {
  override readonly name = 'ScopesBusy'
  readonly scopeIds: readonly string[]
  constructor(scopeIds: readonly string[]) {
    super('other processes hold scopes of the file')
    this.scopeIds = scopeIds
  }
}

/**
 * From `arrived` to `staged`, `refused` or `repeated`.
 *
 * @throws ScopeLost, ScopesBusy: the file stays `arrived`.
 */
export async function takeIn(engine: Engine, file: FileRow, leases: ScopeLeases): Promise<void> {
  const { lanes } = engine
  const [earlier] = await lanes.upkeep(acceptedWith(file.scope_id, file.sha256))
  if (earlier !== undefined) {
    const { held } = leases
    const repeat = noteRepeat(held, limits.settlementLeaseMs, file.id, earlier.id)
    if ((await lanes.upkeep(repeat)).length === 0) throw new ScopeLost('another process took over')
    return
  }
  try {
    await stage(engine, file, leases)
    await faultPoint('settlement-staged', file.id)
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    await refuse(engine, file, leases, thrown)
  }
}

/** Stages a file again whose lines a crash of the database server has taken. */
export async function stageAgain(
  engine: Engine,
  file: FileRow,
  leases: ScopeLeases,
): Promise<void> {
  const [staged] = await engine.lanes.upkeep(stagedLines(file.id))
  if ((staged?.lines ?? 0) < file.records) await stage(engine, file, leases)
}

async function refuse(
  { lanes }: Engine,
  file: FileRow,
  { held }: ScopeLeases,
  { line, message }: Refusal,
): Promise<void> {
  const refused = await lanes.together(
    refuseFile(held, limits.settlementLeaseMs, file.id, line, message),
    [listRefused(file, line, message)],
  )
  if (refused.length === 0) throw new ScopeLost('another process took over')
  await faultPoint('settlement-refused', file.id)
}

async function stage(engine: Engine, file: FileRow, leases: ScopeLeases): Promise<void> {
  const { lanes } = engine
  const settlement = settlementOf(engine, file.connector)
  const merchants = await merchantsOfFile(engine, file)
  const scopes = new ScopeBook(engine, file, merchants)
  await lanes.bulk(async (client) => {
    await lanes.database.query(client, emptyStage(file.id))
    const copy = new StageCopy(client, lanes.database.schema, file.id)
    let read: ReadFile
    try {
      read = await readFile({
        settlement,
        bytes: readBytes(engine, file.id, file),
        skipsBad: file.skips_bad,
        scopes,
        digest: referenceDigest(engine.vault),
        stage: (scopeId, record) => copy.add(scopeId, record),
      })
      await copy.end()
    } catch (thrown) {
      copy.abort()
      throw thrown
    }
    await faultPoint('settlement-read', file.id)
    if (!(await leases.add(scopes.ids))) throw new ScopesBusy(scopes.ids)
    await accept({ engine, client, file, leases, scopeIds: scopes.ids }, read)
  })
}

type Accepting = {
  readonly engine: Engine
  readonly client: Client
  readonly file: FileRow
  readonly leases: ScopeLeases
  readonly scopeIds: readonly string[]
}

/** The commit of a readable file. */
async function accept(
  { engine, client, file, leases, scopeIds }: Accepting,
  read: ReadFile,
): Promise<void> {
  const query = <Row>(statement: Sql<Row>) => engine.lanes.database.query(client, statement)
  await query(numberTwins(file.id))
  const placed = read.batchLines.map(({ scopeId, batchLine }) => ({
    ...batchLine,
    id: newId(),
    scopeId,
  }))
  const { exceptions, reference } = read
  await query(dropExceptions(file.id))
  for (const line of await addChecked(query, file.id, placed)) {
    const why = 'an earlier file has the same line with other values; those stay'
    exceptions.add({ line, kind: 'CHANGED', why })
  }
  await addRepeated(query, file, read, placed)
  await query(
    addExceptions(
      file.id,
      exceptions.kept.map((exception) => ({ ...exception, id: newId() })),
    ),
  )
  const [same] =
    reference === null
      ? []
      : await query(acceptedAs(file.scope_id, file.institute, reference, file.id))
  for (const entry of listExceptions(file, exceptions)) await query(entry)
  await query(endListed(file, exceptions))
  if (same !== undefined) await join(query, file, same.id, reference!)
  const accepted = await query(
    acceptFile(leases.held, limits.settlementLeaseMs, {
      id: file.id,
      reference,
      earlierId: same?.id ?? null,
      records: read.records,
      batchLines: placed.length,
      exceptions: exceptions.total,
      scopeIds,
    }),
  )
  // The transaction rolls back: another process may be at the same file.
  if (accepted.length === 0) throw new ScopeLost('another process took over')
}

type Query = <Row>(statement: Sql<Row>) => Promise<Row[]>

/** Equal lines without an id are one record or line, also where the institute meant two. */
async function addRepeated(
  query: Query,
  file: FileRow,
  { exceptions, reference }: ReadFile,
  placed: readonly PlacedBatchLine[],
): Promise<void> {
  const why =
    'an earlier file with another reference has an equal line without an id; both count once'
  const most = limits.settlementExceptions
  const [repeated] = await query(repeatedLines(file.id, reference, most))
  exceptions.addAll('REPEATED', repeated!.count, repeated!.first, why)
  for (let at = 0; at < placed.length; at += limits.settlementCopyLines) {
    const some = placed.slice(at, at + limits.settlementCopyLines)
    const lines = await query(repeatedBatchLines(file.id, reference, some))
    for (const { line } of lines) exceptions.add({ line, kind: 'REPEATED', why })
  }
}

/** Joins the lines of a corrected file with those of the earlier one, and lists the rest. */
async function join(
  query: Query,
  file: FileRow,
  earlierId: string,
  reference: string,
): Promise<void> {
  await query(hashJoins)
  await query(joinCorrected(file.id, file.institute, reference))
  await query(allJoins)
  const [added] = await query(addedLines(file.id, limits.settlementShownLines))
  await query(listChanged(file, earlierId, added!))
}

/** @returns the lines that are known with another content. */
async function addChecked(
  query: Query,
  fileId: string,
  lines: readonly PlacedBatchLine[],
): Promise<number[]> {
  const changed: number[] = []
  for (let at = 0; at < lines.length; at += limits.settlementCopyLines) {
    const some = lines.slice(at, at + limits.settlementCopyLines)
    await query(addBatchLines(fileId, some))
    for (const { line } of await query(changedBatchLines(some))) changed.push(line)
  }
  return changed
}
