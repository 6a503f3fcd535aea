/** Answers about reports. */
import { resultDescription } from '@tollgate/schemas'
import type { Answered } from '../call.ts'
import { wireTimestamp } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { approvedCode } from '../payment/decide.ts'
import type { Envelope } from '../schedule/view.ts'
import type { AggregationPage, AggregationView } from './aggregations.ts'
import type { ReportFilePage } from './files.ts'
import type { RecordPage } from './records.ts'

export type AggregationsView = Answered & AggregationPage
export type OneAggregationView = Answered & AggregationView
export type RecordPageView = Answered & RecordPage
export type ReportFilesView = Answered & ReportFilePage

/** The same fields around every answer. */
export function answered<Body extends object>(
  { environment }: Pick<Engine, 'environment'>,
  id: string,
  body: Body,
  { ndc, buildNumber, now }: Envelope,
): Answered & Body {
  const code = approvedCode[environment === 'test' ? 'INTERNAL' : 'LIVE']
  return {
    result: { code, description: resultDescription(code) },
    ...body,
    id,
    buildNumber,
    timestamp: wireTimestamp(now),
    ndc,
  }
}

/** An answer with a list that is written while it is read. */
export async function* jsonStream(
  head: object,
  name: string,
  lists: AsyncIterable<readonly object[]>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(head).slice(0, -1)},${JSON.stringify(name)}:[`)
  let isFirst = true
  for await (const list of lists) {
    if (list.length === 0) continue
    yield Buffer.from(`${isFirst ? '' : ','}${JSON.stringify(list).slice(1, -1)}`)
    isFirst = false
  }
  yield Buffer.from(']}')
}
