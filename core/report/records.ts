/** The records of one payout: all of them as a stream, or page by page. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { lowestId } from '../ids.ts'
import { textOf } from '../request/values.ts'
import type { Reader } from './readers.ts'
import { RecordPlaces } from './record-places.ts'
import { valuesOf } from './record-values.ts'
import { type RecordView, recordView } from './record-view.ts'
import { refuseWhenManyWait, searchInTurn } from './search-turns.ts'
import { type BatchKey, recordsOf, runsOf, type Slice } from './store-page.ts'
import type { RecordRow } from './stored-record.ts'

export const recordsPerPage = 100

/** Ascending by default. */
export const isDescending = (fields: RequestFields): boolean =>
  textOf(fields, 'sortOrder')?.toUpperCase() === 'DESC'

export type RecordPage = { readonly pages: number; readonly records: readonly RecordView[] }

/**
 * One page by the day of settlement. A page after the last one is empty.
 *
 * @throws GatewayError 429 when too many reports of the merchant wait.
 */
export async function recordPage(
  engine: Engine,
  batch: BatchKey,
  { own, merchant }: Reader,
  pageNo: number,
  type: string | null,
): Promise<RecordPage> {
  refuseWhenManyWait(engine.lanes, merchant)
  const runs = await searchInTurn(engine.lanes, merchant, runsOf(batch, own, type))
  const all = runs.reduce((sum, { count }) => sum + count, 0)
  const slices: Slice[] = []
  let skip = (pageNo - 1) * recordsPerPage
  let take = recordsPerPage
  for (const { day, entity_id: entityId, count } of runs) {
    if (take === 0) break
    const here = Math.min(take, count - skip)
    if (here > 0) slices.push({ day, entityId, afterId: lowestId, skip, take: here })
    take -= Math.max(here, 0)
    skip = Math.max(0, skip - count)
  }
  const rows =
    slices.length === 0
      ? []
      : await searchInTurn(engine.lanes, merchant, recordsOf(batch, type, slices))
  const records = await viewsOf(new RecordPlaces(engine), rows)
  return { pages: Math.ceil(all / recordsPerPage), records }
}

/** All records by the day of settlement, some at a time. */
export async function* recordStream(
  engine: Engine,
  batch: BatchKey,
  { own, merchant }: Reader,
  isDescending: boolean,
): AsyncGenerator<RecordView[]> {
  const places = new RecordPlaces(engine)
  const ascending = await searchInTurn(engine.lanes, merchant, runsOf(batch, own, null))
  const days = [...new Set(ascending.map(({ day }) => day))]
  if (isDescending) days.reverse()
  const byDay = Map.groupBy(ascending, ({ day }) => day)
  let slices: Slice[] = []
  let room: number = limits.reportRows
  for (const { day, entity_id: entityId, count } of days.flatMap((day) => byDay.get(day)!)) {
    let afterId = lowestId
    for (let left = count; left > 0; ) {
      const take = Math.min(left, room)
      slices.push({ day, entityId, afterId, skip: 0, take })
      left -= take
      room -= take
      if (room > 0) continue
      const rows = await searchInTurn(engine.lanes, merchant, recordsOf(batch, null, slices))
      afterId = rows.at(-1)?.id ?? afterId
      yield await viewsOf(places, rows)
      slices = []
      room = limits.reportRows
    }
  }
  if (slices.length > 0)
    yield await viewsOf(
      places,
      await searchInTurn(engine.lanes, merchant, recordsOf(batch, null, slices)),
    )
}

async function viewsOf(places: RecordPlaces, rows: readonly RecordRow[]): Promise<RecordView[]> {
  await places.learn(rows)
  return rows.map((row) => recordView(row, valuesOf(row, places.of(row))))
}
