/** Operations on reports: raw call in, status and body or stream out. */
import { type Call, type Handler, idIn, listResult, queryOf, read } from '../call.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { textOf } from '../request/values.ts'
import type { Envelope } from '../schedule/view.ts'
import { aggregationOf, findBatch, listAggregations } from './aggregations.ts'
import { findFile, listFiles } from './files.ts'
import { reportBytes } from './open.ts'
import { isDescending, recordPage, recordStream } from './records.ts'
import { answered, jsonStream } from './view.ts'

export const reportOperations: Readonly<Record<string, Handler>> = {
  async 'reports.aggregations'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'reports.aggregations', queryOf(call))
    const page = await listAggregations(engine, caller, fields)
    return ok(
      answered(engine, newId(), { ...page, result: listResult() }, envelope(engine, call, build)),
    )
  },
  async 'reports.aggregation'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'reports.aggregation', queryOf(call))
    const { batch, reader } = await findBatch(engine, caller, idIn(call), fields)
    const view = await aggregationOf(engine, batch, reader)
    const body = answered(engine, view.id, view, envelope(engine, call, build))
    const records = () => recordStream(engine, batch, reader, isDescending(fields))
    const open = () => jsonStream(body, 'records', records())
    return { ...ok(body), stream: { type: 'application/json;charset=UTF-8', open } }
  },
  async 'reports.records'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'reports.records', queryOf(call))
    const { batch, reader } = await findBatch(engine, caller, idIn(call), fields)
    const pageNo = Number(textOf(fields, 'pageNo') ?? 1)
    const type = textOf(fields, 'reconciliationType') ?? null
    const page = await recordPage(engine, batch, reader, pageNo, type)
    return ok(
      answered(engine, batch.id, { ...page, result: listResult() }, envelope(engine, call, build)),
    )
  },
  async 'reports.files'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'reports.files', queryOf(call))
    const page = await listFiles(engine, caller, fields)
    return ok(
      answered(engine, newId(), { ...page, result: listResult() }, envelope(engine, call, build)),
    )
  },
  async 'reports.file'(engine, caller, call) {
    const { fields } = await read(engine, caller, 'reports.file', queryOf(call))
    const file = await findFile(engine, caller, idIn(call), fields)
    const { name, bytes } = file
    const headers = { 'Content-Disposition': `attachment; filename="${name}"` }
    const open = () => reportBytes(engine, file)
    return {
      status: 200,
      headers,
      body: {},
      stream: { type: 'text/csv;charset=UTF-8', bytes, open },
    }
  },
}

function envelope(engine: Engine, call: Call, buildNumber: string): Envelope {
  return { ndc: call.requestId, buildNumber, now: new Date(engine.clock.realMs()) }
}

const ok = <Body extends Readonly<Record<string, unknown>>>(body: Body) => ({
  status: 200,
  headers: {},
  body,
})
