/**
 * Takes an arrived file in: checks every line and the trailer, and stages the records. A file that is cut
 * off or cannot be read is refused as a whole. Each outcome is one commit under the leases of all scopes
 * that the file names. A run that dies leaves staged lines at most, and the next run begins anew.
 */
import { limits } from '@tollgate/schemas'
import { engineActor } from '../audit/actor.ts'
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { referenceDigest } from '../vault/reference-digest.ts'
import { readAgainIfKnown } from './known-bytes.ts'
import { type ScopeLeases, ScopeLost } from './leases.ts'
import { endListed, listChanged, listExceptions, listRefused, listRerunRefused } from './listed.ts'
import { dropStage, hashJoins } from './match/store-work.ts'
import { Pace } from './pace.ts'
import { type ReadFile, Refusal, readFile } from './read-file.ts'
import { merchantsOfFile, settlementOf } from './scope.ts'
import { ScopeBook } from './scope-book.ts'
import { readBytes } from './sealed-file.ts'
import { StageCopy } from './stage-copy.ts'
import { type Query, Steps } from './steps.ts'
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
  correctedLines,
  giveKeys,
  noteUnstaged,
  numberTwins,
  repeatedLines,
  twinsOf,
  wholeStage,
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
 * From `arrived` to `staged`, `refused` or `repeated`; to `decided` as before, if it cannot be read again.
 *
 * @throws ScopeLost, ScopesBusy: the file stays `arrived`.
 */
export async function takeIn(engine: Engine, file: FileRow, leases: ScopeLeases): Promise<void> {
  const { lanes } = engine
  const [earlier] = await lanes.upkeep(acceptedWith(file.scope_id, file.sha256))
  if (earlier !== undefined) {
    const { held } = leases
    await readAgainIfKnown(engine, earlier, file, engineActor)
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
  const whole = await engine.lanes.upkeep(wholeStage(file.id))
  if (whole.length === 0) await stage(engine, file, leases)
}

const stepsOf = (engine: Engine, file: FileRow, leases: ScopeLeases): Steps =>
  new Steps(engine, () => leases.held, new Pace(engine, file.clock_id !== null))

async function refuse(
  engine: Engine,
  file: FileRow,
  leases: ScopeLeases,
  { line, message }: Refusal,
): Promise<void> {
  await stepsOf(engine, file, leases).drop([(limit) => dropStage(file.id, limit)])
  const refused = await engine.lanes.together(
    refuseFile(leases.held, limits.settlementLeaseMs, file.id, line, message),
    [file.was_accepted ? listRerunRefused(file, line, message) : listRefused(file, line, message)],
  )
  if (refused.length === 0) throw new ScopeLost('another process took over')
  await faultPoint('settlement-refused', file.id)
}

async function stage(engine: Engine, file: FileRow, leases: ScopeLeases): Promise<void> {
  const merchants = await merchantsOfFile(engine, file)
  const scopes = new ScopeBook(engine, file, merchants)
  const steps = stepsOf(engine, file, leases)
  await steps.work((query) => query(noteUnstaged(file.id)))
  await steps.drop([(limit) => dropStage(file.id, limit)])
  const copy = new StageCopy(steps, engine.lanes.database.schema, file.id)
  let read: ReadFile
  try {
    read = await readFile({
      settlement: settlementOf(engine, file.connector),
      bytes: readBytes(engine, file.id, file),
      skipsBad: file.skips_bad,
      scopes,
      digest: referenceDigest(engine.vault),
      stage: (scopeId, record) => copy.add(scopeId, record),
    })
    await copy.end()
  } finally {
    await copy.stop()
  }
  await faultPoint('settlement-read', file.id)
  if (!(await leases.add(scopes.ids))) throw new ScopesBusy(scopes.ids)
  await number(steps, file)
  const corrected = await joined(steps, file, read.reference)
  await accept({ steps, file, staged: copy.staged, corrected, scopeIds: scopes.ids }, read)
}

/** Equal lines without an id are one record or line, also where the institute meant two. */
async function number(steps: Steps, { id }: FileRow): Promise<void> {
  await inParts(
    steps,
    (limit) => twinsOf(id, limit),
    (twins) => numberTwins(id, twins),
  )
}

/** Reads what is to be done and does it, until nothing is left. Only the writing takes a transaction number. */
async function inParts<Row>(
  steps: Steps,
  next: (limit: number) => Sql<Row>,
  done: (rows: readonly Row[]) => Sql,
): Promise<void> {
  const limit: number = limits.settlementWindowLines
  for (let rows = limit; rows >= limit; ) {
    const some = await steps.read(next(limit), [hashJoins])
    if (some.length > 0) await steps.work((query) => query(done(some)))
    rows = some.length
  }
}

/** The earlier file that a file corrects, and the lines that are new in it. */
type Corrected = {
  readonly earlierId: string
  readonly added: { readonly count: number; readonly first: readonly number[] }
}

/** Joins the lines of a corrected file with those of the earlier one. Undefined: the file corrects none. */
async function joined(
  steps: Steps,
  { id, scope_id: scopeId, institute }: FileRow,
  reference: string | null,
): Promise<Corrected | undefined> {
  if (reference === null) return undefined
  const [same] = await steps.read(acceptedAs(scopeId, institute, reference, id))
  if (same === undefined) return undefined
  await inParts(
    steps,
    (limit) => correctedLines(id, institute, reference, limit),
    (lines) => giveKeys(id, lines),
  )
  const [added] = await steps.read(addedLines(id, limits.settlementShownLines))
  return { earlierId: same.id, added: added! }
}

type Accepting = {
  readonly steps: Steps
  readonly file: FileRow
  /** Lines in the stage. */
  readonly staged: number
  readonly corrected: Corrected | undefined
  readonly scopeIds: readonly string[]
}

/** The commit of a readable file. */
async function accept(
  { steps, file, staged, corrected, scopeIds }: Accepting,
  read: ReadFile,
): Promise<void> {
  const placed = read.batchLines.map(({ scopeId, batchLine }) => ({
    ...batchLine,
    id: newId(),
    scopeId,
  }))
  const { exceptions, reference } = read
  const most = limits.settlementExceptions
  const [repeated] = await steps.read(repeatedLines(file.id, reference, most))
  exceptions.addAll('REPEATED', repeated!.count, repeated!.first, whyRepeated)
  await steps.write(async (query) => {
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
    for (const entry of listExceptions(file, exceptions)) await query(entry)
    await query(endListed(file, exceptions))
    if (corrected !== undefined) {
      await query(listChanged(file, corrected.earlierId, corrected.added))
    }
    const accepted = await query(
      acceptFile(steps.held, limits.settlementLeaseMs, {
        id: file.id,
        reference,
        earlierId: corrected?.earlierId ?? null,
        records: read.records,
        staged,
        batchLines: placed.length,
        exceptions: exceptions.total,
        scopeIds,
      }),
    )
    // The transaction rolls back: another process may be at the same file.
    if (accepted.length === 0) throw new ScopeLost('another process took over')
  })
}

const whyRepeated =
  'an earlier file with another reference has an equal line without an id; both count once'

/** The same of lines about payouts. */
async function addRepeated(
  query: Query,
  file: FileRow,
  { exceptions, reference }: ReadFile,
  placed: readonly PlacedBatchLine[],
): Promise<void> {
  for (let at = 0; at < placed.length; at += limits.settlementCopyLines) {
    const some = placed.slice(at, at + limits.settlementCopyLines)
    const lines = await query(repeatedBatchLines(file.id, reference, some))
    for (const { line } of lines) exceptions.add({ line, kind: 'REPEATED', why: whyRepeated })
  }
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
