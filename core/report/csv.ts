/** The reconciliation file: 36 columns, separated by semicolons, UTF-8, quoted by RFC 4180. */
import { type Field, reconciliationColumns, reportedAmount } from '@tollgate/schemas'
import type { ReportForm } from './open.ts'
import { type RecordValues, recordFields } from './record-values.ts'

const separator = ';'
const lineEnd = '\r\n'

/** Fields of each column: the first one with a value fills it. */
const columns: readonly (readonly Field[])[] = reconciliationColumns.map((column) =>
  recordFields.filter(({ options }) => options.column === column),
)

/**
 * Characters by which a spreadsheet takes a text for a formula: also wide ones, and those behind characters that
 * have no width, which some spreadsheets drop.
 */
const formulaStart = /^[\u200B-\u200F\u2060\uFEFF]*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/
const needsQuotes = /[;"\r\n]/

export const headerLine: string = reconciliationColumns.join(separator) + lineEnd

/** One record. Amounts have no guard; several values of a column are separated by commas. */
export function csvLine(values: RecordValues, form: ReportForm): string {
  return columns.map((fields) => cellOf(fields, values, form)).join(separator) + lineEnd
}

function cellOf(fields: readonly Field[], values: RecordValues, form: ReportForm): string {
  const field = fields.find(({ name }) => values[name] !== undefined)
  if (field === undefined) return ''
  const value = values[field.name]!
  const text = typeof value === 'string' ? value : value.join(',')
  const isGuarded = form === 'guarded' && field.format !== reportedAmount
  return quoted(isGuarded && formulaStart.test(text) ? `'${text}` : text)
}

/** A line of texts with the guard of report files, for lists of people's own. */
export const csvRow = (cells: readonly string[]): string =>
  cells.map((cell) => quoted(formulaStart.test(cell) ? `'${cell}` : cell)).join(separator) + lineEnd

const quoted = (text: string): string =>
  needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
