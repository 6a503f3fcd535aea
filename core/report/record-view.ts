/** A record as JSON, with the names of the API as nested objects. */
import { type Step, stepsOf } from '@tollgate/schemas'
import { type RecordValues, recordFields } from './record-values.ts'
import type { RecordRow } from './stored-record.ts'

export type RecordView = {
  /** The same in all versions of the record. */
  readonly id: string
  /** Rises with each correction. */
  readonly version: number
  readonly [group: string]: unknown
}

type Nested = { [key: string]: unknown }

const places = recordFields.map((field) => ({ name: field.name, steps: stepsOf(field) }))

export function recordView(row: RecordRow, values: RecordValues): RecordView {
  const view: Nested = { id: row.id, version: row.version }
  for (const { name, steps } of places) {
    const value = values[name]
    if (value === undefined || value.length === 0) continue
    if (typeof value === 'string') put(view, steps, value)
    else putList(view, steps, value)
  }
  if (row.candidate_count > row.candidates.length) {
    put(view, [key('matchedTransactions'), key('count')], row.candidate_count)
  }
  if (row.discrepancies.length > 0) view.discrepancies = row.discrepancies
  return view as RecordView
}

const key = (name: string): Step => ({ kind: 'key', key: name, bracketed: false })

const groupIn = (view: Nested, name: string): Nested => {
  view[name] ??= {}
  return view[name] as Nested
}

function put(view: Nested, steps: readonly Step[], value: unknown): void {
  const names = steps.flatMap((step) => (step.kind === 'key' ? [step.key] : []))
  const last = names.pop()!
  names.reduce(groupIn, view)[last] = value
}

/** `group.list[n].name`: one object for each value. */
function putList(view: Nested, steps: readonly Step[], values: readonly string[]): void {
  const at = steps.findIndex(({ kind }) => kind === 'index')
  const items = values.map((value) => {
    const item: Nested = {}
    put(item, steps.slice(at + 1), value)
    return item
  })
  put(view, steps.slice(0, at), items)
}
