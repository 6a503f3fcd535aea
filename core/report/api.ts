/** Reports for the embedding program. */
import type { Requests } from '@tollgate/schemas'
import { listResult, read } from '../call.ts'
import { buildNumber, embedder, type RequestOptions } from '../caller/embedder.ts'
import { refuseUnlessHolds } from '../caller/rights.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import { textOf } from '../request/values.ts'
import type { Envelope } from '../schedule/view.ts'
import { type AggregationView, aggregationOf, findBatch, listAggregations } from './aggregations.ts'
import { cut } from './cut.ts'
import { fileView, findFile, listFiles, type ReportFileView } from './files.ts'
import { reportBytes, reportFile } from './open.ts'
import type { RecordView } from './record-view.ts'
import { isDescending, recordPage, recordStream } from './records.ts'
import { refuseWhenManyWait } from './search-turns.ts'
import { seriesBelow } from './store-cut.ts'
import {
  type AggregationsView,
  answered,
  type RecordPageView,
  type ReportFilesView,
} from './view.ts'

type Asked = Pick<RequestOptions, 'caller'>

/** Settlements by payout, their records, and the CSV files of them. */
export class Reports {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Payouts of some days in one currency, oldest first. @throws GatewayError 400 naming the field; 429. */
  readonly aggregations = async (
    request: Requests['reports.aggregations'],
    { caller = embedder }: Asked = {},
  ): Promise<AggregationsView> => {
    const { fields } = await read(this.#engine, caller, 'reports.aggregations', { values: request })
    const page = await listAggregations(this.#engine, caller, fields)
    return answered(this.#engine, newId(), { ...page, result: listResult() }, this.#envelope())
  }

  /** One payout in one currency. @throws GatewayError 404, 429 */
  readonly aggregation = async (
    id: string,
    { caller = embedder }: Asked = {},
  ): Promise<AggregationView> => {
    await read(this.#engine, caller, 'reports.aggregation', { values: {} })
    const { batch, reader } = await findBatch(this.#engine, caller, id, {})
    return aggregationOf(this.#engine, batch, reader)
  }

  /** All records of a payout by their day, read on demand. @throws GatewayError 404, 429 */
  async *records(
    id: string,
    request: Requests['reports.aggregation'] = {},
    { caller = embedder }: Asked = {},
  ): AsyncGenerator<RecordView> {
    const { fields } = await read(this.#engine, caller, 'reports.aggregation', { values: request })
    const { batch, reader } = await findBatch(this.#engine, caller, id, fields)
    refuseWhenManyWait(this.#engine.lanes, reader.merchant)
    for await (const some of recordStream(this.#engine, batch, reader, isDescending(fields))) {
      yield* some
    }
  }

  /** A page of a hundred records. @throws GatewayError 400, 404, 429 */
  readonly recordPage = async (
    id: string,
    request: Requests['reports.records'] = {},
    { caller = embedder }: Asked = {},
  ): Promise<RecordPageView> => {
    const { fields } = await read(this.#engine, caller, 'reports.records', { values: request })
    const { batch, reader } = await findBatch(this.#engine, caller, id, fields)
    const pageNo = Number(textOf(fields, 'pageNo') ?? 1)
    const type = textOf(fields, 'reconciliationType') ?? null
    const page = await recordPage(this.#engine, batch, reader, pageNo, type)
    return answered(this.#engine, batch.id, { ...page, result: listResult() }, this.#envelope())
  }

  /** Report files, newest first. */
  readonly files = async (
    request: Requests['reports.files'] = {},
    { caller = embedder }: Asked = {},
  ): Promise<ReportFilesView> => {
    const { fields } = await read(this.#engine, caller, 'reports.files', { values: request })
    const page = await listFiles(this.#engine, caller, fields)
    return answered(this.#engine, newId(), { ...page, result: listResult() }, this.#envelope())
  }

  /** A report file with its bytes, which can be read several times. @throws GatewayError 404 */
  readonly file = async (
    id: string,
    { caller = embedder }: Asked = {},
  ): Promise<ReportFileView & { readonly open: () => AsyncIterable<Uint8Array> }> => {
    await read(this.#engine, caller, 'reports.file', { values: {} })
    const file = await findFile(this.#engine, caller, id, {})
    return { ...fileView(file), open: () => reportBytes(this.#engine, file) }
  }

  /**
   * Makes report files now, instead of within a minute: one for each merchant and test clock with new
   * records, at or below the entity.
   *
   * @throws GatewayError 400 for what is no id; 403 without the right `reconcile`, or for a foreign entity.
   */
  readonly cut = async ({
    entityId,
    caller = embedder,
  }: Asked & { readonly entityId?: string } = {}): Promise<ReportFileView[]> => {
    const engine = this.#engine
    refuseUnlessHolds(engine, caller, 'reconcile', 'reports.cut')
    if (entityId !== undefined && !isId(entityId)) {
      const message = 'must be the id of an entity, 32 hex characters'
      throw new GatewayError('200.300.404', { parameterErrors: [{ name: 'entityId', message }] })
    }
    await engine.directory.mayName(caller, entityId)
    const rows = await engine.lanes.read(seriesBelow(entityId ?? caller.entityId))
    const made: ReportFileView[] = []
    for (const { entity_id, clock_id: clockId } of rows) {
      const series = { entityId: entity_id, clockId }
      const { fileId } = await engine.inFlight.track(cut(engine, series))
      const file = fileId === undefined ? undefined : await reportFile(engine, fileId)
      if (file !== undefined) made.push(fileView(file))
    }
    return made
  }

  #envelope(): Envelope {
    return { ndc: newId(), buildNumber, now: new Date(this.#engine.clock.realMs()) }
  }
}
