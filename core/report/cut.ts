/**
 * Writes the next report file of a series: the record versions since its last file that no running
 * transaction can still change. Parts are short commits of their own, because a long transaction would hold
 * back the event feed. Safe to run twice, at once, and to kill: one commit publishes the file and moves the
 * position, if no other file moved it; parts that were not published are deleted.
 */
import { createHash, type Hash } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { csvLine, headerLine } from './csv.ts'
import { RecordPlaces } from './record-places.ts'
import { valuesOf } from './record-values.ts'
import {
  addDraft,
  addPart,
  addSeries,
  beginCut,
  cutAgain,
  dropDraft,
  endCut,
  type Position,
  publish,
  type Series,
  seriesNow,
  sourcesWithNews,
  type Version,
  versionsOf,
} from './store-cut.ts'
import { type RecordRow, takenOut } from './stored-record.ts'

/** Entity and test clock, as the timer of the series names them. */
export const refOf = ({ entityId, clockId }: Series): string =>
  clockId === null ? entityId : `${entityId} ${clockId}`

export function seriesOf(ref: string): Series {
  const [entityId = '', clockId = null] = ref.split(' ')
  return { entityId, clockId }
}

export type Cut = {
  /** The new file. */
  readonly fileId: string | undefined
  /** False: the timer of the series is due again. */
  readonly isDone: boolean
}

/** Makes the next file of a series, and ends its timer, or puts it off while versions wait for an older transaction. */
export async function cut(engine: Engine, series: Series): Promise<Cut> {
  const { lanes } = engine
  const ref = refOf(series)
  await lanes.single(beginCut(ref))
  const fileId = await cutSeries(engine, series)
  await faultPoint('report-published', ref)
  const [now] = await lanes.single(seriesNow(series))
  const after = { txid: now!.txid, recordId: now!.record_id }
  const left = await lanes.upkeep(sourcesWithNews(series, after, null))
  if (left.length === 0) {
    const ended = await lanes.single(endCut(ref))
    return { fileId, isDone: ended.length > 0 }
  }
  await lanes.single(cutAgain(ref, limits.reportWaitMs))
  return { fileId, isDone: false }
}

/** @returns the id of the new file; undefined: there is nothing new, or another process made the file. */
async function cutSeries(engine: Engine, series: Series): Promise<string | undefined> {
  const { lanes } = engine
  await lanes.single(addSeries(series))
  const [now] = await lanes.single(seriesNow(series))
  const { txid, record_id: recordId, no, horizon, at } = now!
  const was = { txid, recordId, no }
  const sources = await lanes.upkeep(sourcesWithNews(series, was, horizon))
  if (sources.length === 0) return undefined
  const draft = new Draft(engine)
  await lanes.single(addDraft(draft.id))
  await faultPoint('report-drafted', draft.id)
  let last: Position = was
  const places = new RecordPlaces(engine)
  for (const source of sources) {
    const of = { scopeId: source.scope_id, entityId: source.entity_id }
    for (let after: Position | undefined = was; after !== undefined; ) {
      const limit = limits.reportRows
      const found: Version[] = await lanes.upkeep(versionsOf(of, was, after, horizon, limit))
      const rows = found.map((row) => (row.has_left ? takenOut(row, of.entityId) : row))
      await places.learn(rows)
      for (const row of rows) {
        await draft.add(row, places)
        last = later(last, positionOf(row))
      }
      after = rows.length < limit ? undefined : positionOf(rows.at(-1)!)
    }
  }
  const content = await draft.end()
  await faultPoint('report-written', draft.id)
  // Versions that changed meanwhile are in the next file.
  if (content.rows === 0) {
    await lanes.upkeep(dropDraft(draft.id))
    return undefined
  }
  const file = { ...content, id: draft.id, name: nameOf(series, no + 1, at), madeAt: at }
  const published = await lanes.single(publish(series, was, last, file))
  if (published.length > 0) return draft.id
  await lanes.upkeep(dropDraft(draft.id))
  return undefined
}

const positionOf = ({ txid, id }: Version): Position => ({ txid, recordId: id })

function later(one: Position, other: Position): Position {
  if (one.txid !== other.txid) return BigInt(one.txid) > BigInt(other.txid) ? one : other
  return one.recordId > other.recordId ? one : other
}

/** Unique in all folders: the entity, its test clock, the day and the number of the file. */
function nameOf({ entityId, clockId }: Series, no: number, at: Date): string {
  const day = at.toISOString().slice(0, 10).replaceAll('-', '')
  const owner = clockId === null ? entityId : `${entityId}-${clockId}`
  return `reconciliation-${owner}-${day}-${String(no).padStart(6, '0')}.csv`
}

/** The parts of a file, in both forms. */
class Draft {
  readonly id = newId()
  readonly #lanes: Engine['lanes']
  readonly #guarded = new Form()
  readonly #raw = new Form()
  #parts = 0
  #rows = 0

  constructor({ lanes }: Pick<Engine, 'lanes'>) {
    this.#lanes = lanes
    this.#guarded.add(headerLine)
    this.#raw.add(headerLine)
  }

  async add(row: RecordRow, places: RecordPlaces): Promise<void> {
    const values = valuesOf(row, places.of(row))
    this.#guarded.add(csvLine(values, 'guarded'))
    this.#raw.add(csvLine(values, 'raw'))
    this.#rows += 1
    if (this.#guarded.waiting >= limits.reportPartBytes) await this.#flush()
  }

  async end() {
    if (this.#guarded.waiting > 0) await this.#flush()
    return {
      rows: this.#rows,
      sha256: this.#guarded.digest(),
      rawSha256: this.#raw.digest(),
      bytes: this.#guarded.bytes,
      rawBytes: this.#raw.bytes,
    }
  }

  async #flush(): Promise<void> {
    const guarded = this.#guarded.take()
    const raw = this.#raw.take()
    const no = this.#parts
    this.#parts += 1
    await this.#lanes.upkeep(addPart(this.id, no, guarded, raw.equals(guarded) ? null : raw))
    await faultPoint('report-part', this.id)
  }
}

/** One form of a file. */
class Form {
  readonly #hash: Hash = createHash('sha256')
  #texts: string[] = []
  /** Characters, hardly fewer than bytes. */
  waiting = 0
  bytes = 0

  add(text: string): void {
    this.#texts.push(text)
    this.waiting += text.length
  }

  take(): Buffer {
    const bytes = Buffer.from(this.#texts.join(''))
    this.#hash.update(bytes)
    this.bytes += bytes.length
    this.#texts = []
    this.waiting = 0
    return bytes
  }

  digest(): Buffer {
    return this.#hash.digest()
  }
}
