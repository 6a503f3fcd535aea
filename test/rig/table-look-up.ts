import assert from 'node:assert/strict'
import type { Field, Format, Group } from '../../schemas/table.ts'
import { groups, groupsByName } from '../../schemas/tables/index.ts'

export function groupOf(name: string): Group {
  const found = groupsByName.get(name)
  assert.ok(found, `there is a table ${name}`)
  return found
}

export function fieldOf(group: string, name: string): Field {
  const found = groupOf(group).fields.find((field) => field.name === name)
  assert.ok(found, `the table ${group} has a row ${name}`)
  return found
}

export const allFields = groups.flatMap((group) => group.fields.map((field) => ({ group, field })))
export const isSent = (field: Field) => field.direction !== 'response'
export const isReturned = (field: Field) =>
  field.direction === 'response' || field.direction === 'echoed'

export function formatsIn(format: Format): Format[] {
  if (format.kind === 'either') return [format, ...format.of.flatMap(formatsIn)]
  if (format.kind === 'list') return [format, ...formatsIn(format.of)]
  return [format]
}

export const matches = (pattern: string, value: string) =>
  new RegExp(`^(?:${pattern})$`, 'u').test(value)

export function patternOf(group: string, name: string): string {
  const { format } = fieldOf(group, name)
  assert.equal(format.kind, 'pattern')
  return format.kind === 'pattern' ? format.pattern : ''
}
